// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPEngine
import SIPWire

/// How the media of a call are protected, and by which way they go; the media thread does it.
public struct MediaProtection: Equatable, Sendable {
    public var audio: NegotiatedProtection
    public var video: NegotiatedProtection
    /// Nil where media go to the addresses of the plan.
    public var audioWay: NegotiatedICE?
    public var videoWay: NegotiatedICE?
    /// Of ways that were offered in vain: media come to their ports, without ICE. Nil where they come to those of the
    /// world.
    public var ports: MediaPorts?

    public init(audio: NegotiatedProtection = .none, video: NegotiatedProtection = .none) {
        self.audio = audio
        self.video = video
    }

    public init(_ session: NegotiatedSession) {
        self.audio = session.audio?.protection ?? .none
        self.video = session.video?.protection ?? .none
        self.audioWay = session.audio?.ice
        self.videoWay = session.video?.ice
    }

    public var isByICE: Bool { self.audioWay != nil || self.videoWay != nil }
}

/// What one call has to protect its media with. Nothing of it goes anywhere but into descriptions and to the media
/// thread.
struct SessionSecurity {
    private let settings: MediaSettings
    /// Nobody on the way can read the descriptions.
    let isSignallingPrivate: Bool
    /// Gives as many bytes as are asked for, which nobody can guess.
    private let makeSecret: (Int) -> [UInt8]
    private var audio: [CryptoSecret] = []
    private var video: [CryptoSecret] = []
    private let tlsID: ByteString
    /// Handshakes are offered in the profile without feedback.
    private let isWithoutFeedback: Bool

    init(
        _ settings: MediaSettings, _ flow: Flow, tlsID: ByteString, isWithoutFeedback: Bool,
        makeSecret: @escaping (Int) -> [UInt8]
    ) {
        self.settings = settings
        self.isSignallingPrivate = flow.transport == .tls
        self.makeSecret = makeSecret
        self.tlsID = tlsID
        self.isWithoutFeedback = isWithoutFeedback
        self.renew()
    }

    var isRequired: Bool { self.settings.encryption == .required }

    /// New keys, as for another call.
    mutating func renew() {
        guard self.settings.encryption != .off else { return }
        self.audio = self.secrets()
        self.video = self.secrets()
    }

    private func secrets() -> [CryptoSecret] {
        CryptoSuite.usable.map { CryptoSecret($0, self.makeSecret($0.secretBytes)) }
    }

    func newICECredentials() -> ICECredentials { ICECredentials(random: self.makeSecret) }

    func local(_ kind: MediaKind, _ fingerprint: Fingerprint?) -> LocalSecurity {
        var local = LocalSecurity(
            policy: self.settings.encryption, offers: self.offers(hasCertificate: fingerprint != nil),
            preferred: self.isSignallingPrivate ? .sdes : .dtls, secrets: kind == .video ? self.video : self.audio,
            fingerprint: fingerprint, tlsID: self.tlsID)
        local.isWithoutFeedback = self.isWithoutFeedback
        return local
    }

    /// Keys that all on the way can read protect nobody: they are offered by TLS, or where the file insists.
    private func offers(hasCertificate: Bool) -> [Keying] {
        var offers: [Keying]
        switch self.settings.keying {
        case .sdes: offers = [.sdes]
        case .dtls: offers = [.dtls]
        case .both: offers = self.isSignallingPrivate ? [.sdes, .dtls] : [.dtls]
        case .automatic:
            offers = self.isSignallingPrivate ? [.sdes] : self.isRequired ? [.dtls] : []
        }
        if !hasCertificate { offers.removeAll { $0 == .dtls } }
        return offers
    }

    /// Whether the far end uses another key than before, in the same way: it may be somebody else now, who does not
    /// know how far ours was used (RFC 3711 section 3.3.1).
    static func hasNewKeys(_ new: NegotiatedSession, after old: NegotiatedSession?) -> Bool {
        func differ(_ new: NegotiatedStream?, _ old: NegotiatedStream?) -> Bool {
            guard case .sdes(let newKeys)? = new?.protection, case .sdes(let oldKeys)? = old?.protection else {
                return false
            }
            return newKeys.receive != oldKeys.receive
        }
        return differ(new.audio, old?.audio) || differ(new.video, old?.video)
    }

    /// The word for programs, and whether the keys could be read on the way.
    func word(_ session: NegotiatedSession) -> (secure: ByteString, isExposed: Bool) {
        var hasKeys = false
        for stream in [session.audio, session.video] {
            switch stream?.protection {
            case nil: break
            case .some(.none): return ("no", false)
            case .sdes: hasKeys = true
            case .dtls: break
            }
        }
        return hasKeys ? ("sdes", !self.isSignallingPrivate) : ("dtls", false)
    }
}

extension MediaSession {
    /// `secure` of the events and the status; nothing before an answer.
    func writeSecurity(to json: inout JSON) {
        guard let negotiated = self.negotiated, !negotiated.isEmpty else { return }
        let (word, isExposed) = self.security.word(negotiated)
        json.put("secure", word)
        if isExposed { json.put("keys_exposed", true) }
    }

    /// What the call ends by where a description cannot be used.
    var outcomeOfFault: CallOutcome {
        switch self.fault {
        case .notSecure: return .notPrivate
        case .nothingInCommon, .foreignProfile, nil: return .unusableMedia
        }
    }
}
