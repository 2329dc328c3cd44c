// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Where the keys of secure RTP come from.
public enum Keying: Hashable, Sendable, CaseIterable {
    /// From the descriptions (RFC 4568).
    case sdes
    /// From a handshake on the way of the media, by certificates whose fingerprints the descriptions hold (RFC 5763).
    case dtls
}

/// A master key of ours with its salt, and what it is for.
public struct CryptoSecret: Hashable, Sendable {
    public var suite: CryptoSuite
    public var secret: [UInt8]

    public init(_ suite: CryptoSuite, _ secret: [UInt8]) {
        precondition(secret.count == suite.secretBytes, "whoever makes a key asks the suite how long it is")
        self.suite = suite
        self.secret = secret
    }
}

/// What we do and have to protect one medium.
public struct LocalSecurity: Hashable, Sendable {
    public enum Policy: Hashable, Sendable {
        /// Plain RTP, whatever the peer can do.
        case off
        /// Secure where the peer can, plain where not (RFC 8643).
        case optional
        /// Secure or not at all.
        case required
    }

    public var policy: Policy
    /// What our offers name, best first. Answers take what was offered.
    public var offers: [Keying]
    /// Which of the two is taken of an offer that has both.
    public var preferred: Keying
    /// For each suite that we can use one; none, where there are to be no keys in descriptions.
    public var secrets: [CryptoSecret]
    /// Of our certificate; nil where there is none, and so no handshake.
    public var fingerprint: Fingerprint?
    /// Names this handshake (RFC 8842 section 5).
    public var tlsID: ByteString
    /// A required handshake is offered in the profile without feedback, for peers that refuse the one with it.
    public var isWithoutFeedback = false

    public static let off = LocalSecurity(policy: .off)

    public init(
        policy: Policy, offers: [Keying] = [], preferred: Keying = .sdes, secrets: [CryptoSecret] = [],
        fingerprint: Fingerprint? = nil, tlsID: ByteString = ""
    ) {
        self.policy = policy
        self.offers = offers
        self.preferred = preferred
        self.secrets = secrets
        self.fingerprint = fingerprint
        self.tlsID = tlsID
    }

    private func secret(_ suite: CryptoSuite) -> [UInt8]? {
        self.secrets.first { $0.suite == suite }?.secret
    }
}

// MARK: - Offers

extension LocalSecurity {
    /// How a new medium of ours is to travel. In a plain profile the lines alone offer security, which every peer can
    /// leave alone.
    private var profile: TransportProfile {
        switch (self.policy, self.offers.first) {
        case (.required, .dtls): return self.isWithoutFeedback ? .dtlsSavp : .dtlsSavpf
        case (.required, .sdes), (.required, nil): return .savp
        case (.off, _), (.optional, _): return .avp
        }
    }

    /// The profile that we offer and what stands beside it. In a session that stands the profile stays, and what was
    /// agreed there is offered again.
    func offered(_ size: OfferAnswer.Size, in place: Place?) -> (TransportProfile, [Attribute]) {
        guard self.policy != .off else { return (place?.ours.profile ?? .avp, []) }
        let profile = place?.ours.profile ?? self.profile
        let running = place.map { Keying.allCases.filter($0.ours.names) } ?? []
        let wanted = self.offers + running.filter { !self.offers.contains($0) }
        let ways = profile.isSecure && place == nil ? Array(wanted.prefix(1)) : wanted
        var lines: [Attribute] = []
        for keying in ways where profile.allows(keying) { lines += self.lines(keying, size) }
        return (profile, lines)
    }

    private func lines(_ keying: Keying, _ size: OfferAnswer.Size) -> [Attribute] {
        switch keying {
        case .sdes:
            var lines: [Attribute] = []
            for suite in CryptoSuite.offered where size == .full || suite == .common {
                guard let secret = self.secret(suite) else { continue }
                let line = CryptoAttribute(tag: UInt32(lines.count + 1), suite: suite, secret: secret)
                lines.append(Attribute("crypto", line.printed))
            }
            return lines
        case .dtls:
            guard let fingerprint = self.fingerprint else { return [] }
            return [
                Attribute("fingerprint", fingerprint.printed), Attribute("setup", SetupRole.actpass.word),
                Attribute("rtcp-mux"),
            ]
        }
    }
}

// MARK: - Answers

extension LocalSecurity {
    /// What we answer to an offered medium, and the lines that say so; nil where it has to be refused.
    func answer(
        _ media: MediaDescription, of offer: SessionDescription, in place: Place?
    ) -> (NegotiatedProtection, [Attribute])? {
        guard self.policy != .off else { return media.profile.isSecure ? nil : (.none, []) }
        let others = Keying.allCases.filter { $0 != self.preferred }
        for keying in [self.preferred] + others where media.profile.allows(keying) {
            switch keying {
            case .sdes: if let answer = self.answerKeys(media) { return answer }
            case .dtls: if let answer = self.answerHandshake(media, of: offer, in: place) { return answer }
            }
        }
        return media.profile.isSecure || self.policy == .required ? nil : (.none, [])
    }

    /// The first suite of the offer that we have (RFC 4568 section 7.1.2).
    private func answerKeys(_ media: MediaDescription) -> (NegotiatedProtection, [Attribute])? {
        for theirs in media.cryptos {
            guard let secret = self.secret(theirs.suite) else { continue }
            let ours = CryptoAttribute(
                tag: theirs.tag, suite: theirs.suite, suiteName: theirs.suiteName, secret: secret)
            let keys = NegotiatedKeys(suite: theirs.suite, send: secret, receive: theirs.keys)
            return (.sdes(keys), [Attribute("crypto", ours.printed)])
        }
        return nil
    }

    private func answerHandshake(
        _ media: MediaDescription, of offer: SessionDescription, in place: Place?
    ) -> (NegotiatedProtection, [Attribute])? {
        let theirs = offer.fingerprints(of: media)
        guard let fingerprint = self.fingerprint, !theirs.isEmpty else { return nil }
        let isClient: Bool
        // Without a word the offerer begins (RFC 4145 section 4).
        switch offer.setup(of: media) ?? .active {
        case .active: isClient = false
        case .passive: isClient = true
        // A handshake that is done stays as it is; a new one we begin, which is the quicker way (RFC 5763 section 5).
        case .actpass: isClient = place?.isClient ?? true
        case .holdconn: return nil
        }
        var lines = [
            Attribute("fingerprint", fingerprint.printed),
            Attribute("setup", (isClient ? SetupRole.active : .passive).word),
        ]
        // Only whoever hears of it may speak of it (RFC 8842 section 5.3).
        let theirID = offer.tlsID(of: media)
        if theirID != nil { lines.append(Attribute("tls-id", self.tlsID)) }
        let handshake = NegotiatedHandshake(isClient: isClient, fingerprints: theirs, tlsID: theirID)
        return (.dtls(handshake), lines)
    }
}

extension MediaDescription {
    /// Whether there are lines that name this way to get keys.
    fileprivate func names(_ keying: Keying) -> Bool {
        switch keying {
        case .sdes: return self.has("crypto")
        case .dtls: return self.has("fingerprint")
        }
    }
}

extension Place {
    /// Whether the handshake here was ours to begin; nil where there was none.
    fileprivate var isClient: Bool? {
        guard let theirs = self.theirs, self.ours.has("fingerprint") else { return nil }
        return NegotiatedHandshake.isClient(
            self.agreed.local.setup(of: self.ours), self.agreed.remote.setup(of: theirs))
    }
}
