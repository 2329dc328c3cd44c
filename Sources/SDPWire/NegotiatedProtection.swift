// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Keys that came with the descriptions.
public struct NegotiatedKeys: Hashable, Sendable {
    public var suite: CryptoSuite
    /// Our master key and salt.
    public var send: [UInt8]
    /// The peer's; at least one.
    public var receive: [CryptoKey]

    public init(suite: CryptoSuite, send: [UInt8], receive: [CryptoKey]) {
        self.suite = suite
        self.send = send
        self.receive = receive
    }
}

/// A handshake that is to give the keys. While this stays the same, so does the handshake (RFC 8842 section 4).
public struct NegotiatedHandshake: Hashable, Sendable {
    /// We begin it.
    public var isClient: Bool
    /// The peer's certificate fits one of them. All of one hash; at least one.
    public var fingerprints: [Fingerprint]
    /// The peer's name for it.
    public var tlsID: ByteString?

    public init(isClient: Bool, fingerprints: [Fingerprint], tlsID: ByteString? = nil) {
        self.isClient = isClient
        self.fingerprints = fingerprints
        self.tlsID = tlsID
    }

    /// Who begins, by what both sides said; nil where neither would.
    static func isClient(_ ours: SetupRole?, _ theirs: SetupRole?) -> Bool? {
        switch (ours, theirs) {
        // An answer without a word means that its writer waits (RFC 4145 section 4).
        case (.active, _), (.actpass, .passive), (.actpass, .actpass), (.actpass, nil): return true
        case (.passive, _), (.actpass, .active): return false
        case (.actpass, .holdconn), (.holdconn, _), (nil, _): return nil
        }
    }
}

/// How the packets of a medium are protected.
public enum NegotiatedProtection: Hashable, Sendable {
    case none
    case sdes(NegotiatedKeys)
    case dtls(NegotiatedHandshake)

    /// Plain RTP.
    public var isNone: Bool {
        switch self {
        case .none: return true
        case .sdes, .dtls: return false
        }
    }
}

extension NegotiatedProtection {
    /// What the peer's answer to our offered medium comes to; nil where it has no keys and needs some.
    static func agreed(
        _ offered: MediaDescription, of offer: SessionDescription, _ answered: MediaDescription,
        of answer: SessionDescription, isRequired: Bool
    ) -> NegotiatedProtection? {
        if answered.profile.allows(.sdes), let keys = Self.keys(offered, answered) { return .sdes(keys) }
        if let handshake = Self.handshake(offered, of: offer, answered, of: answer) { return .dtls(handshake) }
        let mustHave = isRequired || offered.profile.isSecure || answered.profile.isSecure
        return mustHave ? nil : NegotiatedProtection.none
    }

    /// The answer's key fits the line of ours that has its tag (RFC 4568 section 5.1.3).
    private static func keys(_ offered: MediaDescription, _ answered: MediaDescription) -> NegotiatedKeys? {
        let ours = offered.cryptos
        for theirs in answered.cryptos {
            guard let own = ours.first(where: { $0.tag == theirs.tag && $0.suite == theirs.suite }) else { continue }
            return NegotiatedKeys(suite: own.suite, send: own.keys[0].secret, receive: theirs.keys)
        }
        return nil
    }

    private static func handshake(
        _ offered: MediaDescription, of offer: SessionDescription, _ answered: MediaDescription,
        of answer: SessionDescription
    ) -> NegotiatedHandshake? {
        let theirs = answer.fingerprints(of: answered)
        guard offered.has("fingerprint"), !theirs.isEmpty,
            let isClient = NegotiatedHandshake.isClient(offer.setup(of: offered), answer.setup(of: answered))
        else { return nil }
        return NegotiatedHandshake(isClient: isClient, fingerprints: theirs, tlsID: answer.tlsID(of: answered))
    }
}
