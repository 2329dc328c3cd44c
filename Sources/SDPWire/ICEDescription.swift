// SPDX-License-Identifier: Apache-2.0

import Bytes

/// What the checks of one side are signed with (RFC 8839 section 5.4).
public struct ICECredentials: Hashable, Sendable {
    public var fragment: ByteString
    public var password: ByteString

    public init(fragment: ByteString, password: ByteString) {
        self.fragment = fragment
        self.password = password
    }

    /// Nil where either is not of the length or letters that the RFC gives them.
    init?(checked fragment: ByteString, _ password: ByteString) {
        guard ICE.isWord(fragment, 4...256), ICE.isWord(password, 22...256) else { return nil }
        self.init(fragment: fragment, password: password)
    }

    /// The lines of a medium that say so.
    var lines: [Attribute] { [Attribute("ice-ufrag", self.fragment), Attribute("ice-pwd", self.password)] }
}

/// Our side of one medium: what its ways are called by, and which there are.
public struct LocalICE: Hashable, Sendable {
    public var credentials: ICECredentials
    /// Best first; at least one of component 1.
    public var candidates: [ICECandidate]

    public init(credentials: ICECredentials, candidates: [ICECandidate]) {
        self.credentials = credentials
        self.candidates = candidates
    }
}

/// The other side of one medium.
public struct RemoteICE: Hashable, Sendable {
    public var credentials: ICECredentials
    /// Those that can be used, as they were written; they may come to light only by the checks that they send.
    public var candidates: [ICECandidate]
    /// It only answers checks (RFC 8445 section 2.5).
    public var isLite: Bool

    public init(credentials: ICECredentials, candidates: [ICECandidate], isLite: Bool = false) {
        self.credentials = credentials
        self.candidates = candidates
        self.isLite = isLite
    }
}

/// A medium whose way is found by ICE. As long as the credentials stay, so does the way (RFC 8839 section 4.4).
public struct NegotiatedICE: Hashable, Sendable {
    public var local: ICECredentials
    public var remote: RemoteICE
    /// We decide by which way media go.
    public var isControlling: Bool

    public init(local: ICECredentials, remote: RemoteICE, isControlling: Bool) {
        self.local = local
        self.remote = remote
        self.isControlling = isControlling
    }
}

// MARK: - Reading

/// What a description says of ICE for one medium.
enum OfferedICE {
    case none
    /// Somebody on the way wrote another address into it and knew nothing of ICE (RFC 8839 section 4.2.5).
    case mismatch
    case usable(RemoteICE)
}

extension SessionDescription {
    /// Whether any medium could go by ICE: worth finding out our own ways.
    public var offersICE: Bool {
        self.media.contains { media in
            if case .usable = self.ice(of: media) { return media.port != 0 }
            return false
        }
    }

    /// Candidates that were passed over, of all media: for the log.
    public var candidatesIgnored: Int {
        self.media.reduce(0) { $0 + $1.values("candidate").count - $1.candidates.count + $1.candidatesCut }
    }

    func ice(of media: MediaDescription) -> OfferedICE {
        guard let fragment = self.iceWord("ice-ufrag", of: media), let password = self.iceWord("ice-pwd", of: media),
            let credentials = ICECredentials(checked: fragment, password)
        else { return .none }
        let isAlien = media.has("ice-mismatch") || !self.hasDefaultCandidate(media)
        if isAlien { return .mismatch }
        return .usable(
            RemoteICE(
                credentials: credentials, candidates: media.candidates,
                isLite: self.attributes.contains { $0.name == "ice-lite" }))
    }

    private func iceWord(_ name: ByteString, of media: MediaDescription) -> ByteString? {
        (media.first(name) ?? self.attributes.first { $0.name == name }?.value)?.trimmed()
    }

    /// The address that peers without ICE send to is one of the candidates. Who finds its ways only later has none yet
    /// (RFC 8840 section 4.1.1), and a name cannot be compared.
    private func hasDefaultCandidate(_ media: MediaDescription) -> Bool {
        guard let address = self.connection(of: media)?.address, !address.isUnspecified else { return true }
        let written = SocketAddress(address, port: media.port)
        return media.candidates.contains { $0.component == 1 && $0.address == written }
    }
}

extension MediaDescription {
    /// Those that can be used, each address once.
    var candidates: [ICECandidate] {
        var known: [ICECandidate] = []
        for value in self.values("candidate") {
            guard let candidate = ICECandidate(value),
                !known.contains(where: { $0.address == candidate.address && $0.component == candidate.component })
            else { continue }
            known.append(candidate)
        }
        return known
    }

    /// Which of our candidates the other side has come to use: `a=remote-candidates` (RFC 8839 section 5.2).
    func namedCandidate(component: UInt8) -> SocketAddress? {
        let fields = Fields.split(self.first("remote-candidates") ?? "")
        for start in stride(from: 0, to: fields.count - 2, by: 3)
        where fields[start].decimal(max: 255) == UInt64(component) {
            return ICE.address(fields[start + 1], port: fields[start + 2])
        }
        return nil
    }
}

// MARK: - Writing

extension LocalICE {
    /// Where peers without ICE are to send: what servers saw of us rather than our own address, which may mean nothing
    /// elsewhere; a relay last, for it ends with ICE. One that the other side named already comes before all.
    func standard(_ component: UInt8, like address: IPAddress, in media: MediaDescription?) -> ICECandidate? {
        let all = self.candidates.filter { $0.component == component && $0.address.address.isV6 == address.isV6 }
        let named = media?.namedCandidate(component: component)
        return all.first { $0.address == named } ?? all.first { $0.kind == .serverReflexive } ?? all.first {
            $0.address.address == address
        }
            ?? all.first { $0.kind == .host } ?? all.first
    }

    func lines(isMuxed: Bool, _ size: OfferAnswer.Size) -> [Attribute] {
        var kept: [ICECandidate] = []
        for candidate in self.candidates where !isMuxed || candidate.component == 1 {
            // A datagram has room for the best way of each kind.
            let isDoubled = kept.contains { $0.kind == candidate.kind && $0.component == candidate.component }
            if size == .full || !isDoubled { kept.append(candidate) }
        }
        return self.credentials.lines + kept.map { Attribute("candidate", $0.printed) }
    }
}

extension MediaDescription {
    /// What peers without ICE read: port, address, and where RTCP goes.
    mutating func point(to ice: LocalICE, address: IPAddress, asked: MediaDescription?) {
        guard let rtp = ice.standard(1, like: address, in: asked) else { return }
        self.port = rtp.address.port
        if rtp.address.address != address { self.connection = .address(rtp.address.address) }
        self.attributes.removeAll { $0.name == "rtcp" }
        guard let rtcp = ice.standard(2, like: address, in: asked), !self.has("rtcp-mux") || asked == nil else {
            return
        }
        var line = ByteString(decimal: rtcp.address.port)
        if rtcp.address.address != rtp.address.address {
            line.append(" " + Connection.printed(rtcp.address.address))
        }
        self.attributes.append(Attribute("rtcp", line))
    }
}

extension SessionDescription {
    /// Says that checks go as RFC 8445 has them, where there are any (RFC 8839 section 5.6).
    mutating func nameICE() {
        guard self.media.contains(where: { $0.has("ice-ufrag") }) else { return }
        self.attributes.append(Attribute("ice-options", "ice2"))
    }
}

extension NegotiatedICE {
    /// What the peer's answer to our offered medium comes to; nil where either of the two has no ICE.
    init?(
        _ offered: MediaDescription, of offer: SessionDescription, _ answered: MediaDescription,
        of answer: SessionDescription
    ) {
        guard let fragment = offered.first("ice-ufrag"), let password = offered.first("ice-pwd"),
            case .usable(let remote) = answer.ice(of: answered)
        else { return nil }
        self.init(
            local: ICECredentials(fragment: fragment, password: password), remote: remote, isControlling: true)
    }
}
