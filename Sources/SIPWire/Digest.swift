// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The hash functions of digest authentication, RFC 7616 section 3.3 as RFC 8760 brings them to SIP.
public enum DigestAlgorithm: Hashable, Sendable {
    case md5
    case sha256
    /// SHA-512/256: SHA-512 with a start of its own, cut to 256 bits.
    case sha512t256

    public static let all: [DigestAlgorithm] = [.md5, .sha256, .sha512t256]

    var token: ByteString {
        switch self {
        case .md5: return "MD5"
        case .sha256: return "SHA-256"
        case .sha512t256: return "SHA-512-256"
        }
    }
}

/// Hashes bytes; empty where the algorithm is not to be had. Handed in, for the pure half has no C.
public typealias DigestHash = @Sendable (DigestAlgorithm, [UInt8]) -> [UInt8]

/// Who we are to a server that asks for a password.
public struct Credential: Hashable, Sendable {
    public var username: ByteString
    public var password: ByteString
    /// Whose password it is; empty means whoever asks.
    public var realm: ByteString

    public init(username: ByteString, password: ByteString, realm: ByteString = ByteString()) {
        self.username = username
        self.password = password
        self.realm = realm
    }
}

/// A challenge that we can answer: Digest, with an algorithm and a quality of protection that we know, and with
/// nothing in it that cannot be sent back in quotes.
public struct DigestChallenge: Hashable, Sendable {
    /// How much of a request the answer covers, RFC 7616 section 3.3.
    public enum Protection: Hashable, Sendable {
        /// Nothing was asked for, as before RFC 2617.
        case none
        case auth
        /// The body, too.
        case authInt
    }

    /// The bytes between the quotes: they are hashed and sent back as they came.
    public let realm: ByteString
    public private(set) var nonce: ByteString
    public let opaque: ByteString?
    public let algorithm: DigestAlgorithm
    /// `-sess`: the first client nonce goes into the key.
    public let isSession: Bool
    public let protection: Protection
    public let isStale: Bool
    /// As it was written, for the answer; nil where it was not.
    private let algorithmName: ByteString?

    public init?(_ challenge: Challenge) {
        let realm = challenge.parameters.rawText(of: "realm")
        guard challenge.isDigest, let realm, let nonce = challenge.nonce, !nonce.isEmpty, Self.isQuotable(realm),
            Self.isQuotable(nonce), challenge.opaque.map(Self.isQuotable) ?? true,
            let protection = Self.protection(of: challenge)
        else { return nil }
        let name = challenge.algorithm ?? DigestAlgorithm.md5.token
        let found = DigestAlgorithm.all.first {
            name.equalsIgnoringCase($0.token) || name.equalsIgnoringCase($0.token + "-sess")
        }
        guard let algorithm = found else { return nil }
        self.realm = realm
        self.nonce = nonce
        self.opaque = challenge.opaque
        self.algorithm = algorithm
        self.isSession = name.count > algorithm.token.count
        self.protection = protection
        self.isStale = challenge.isStale
        self.algorithmName = challenge.algorithm
    }

    /// `auth` where there is a choice: a body may be changed on its way by who means well. Nil where only what we do
    /// not know is offered.
    private static func protection(of challenge: Challenge) -> Protection? {
        let options = challenge.qopOptions
        if options.isEmpty { return Protection.none }
        if options.contains(where: { $0.equalsIgnoringCase("auth") }) { return .auth }
        return options.contains { $0.equalsIgnoringCase("auth-int") } ? .authInt : nil
    }

    /// Whether text that came in quotes, or without, can go back in quotes byte for byte.
    private static func isQuotable(_ text: ByteString) -> Bool {
        guard text.count <= SIPLimits.digestTextBytes, !text.bytes.contains(where: { $0 < ASCII.space || $0 == 0x7F })
        else { return false }
        let quoted: ByteString = "\"" + text + "\""
        return QuotedString.end(in: quoted.bytes, from: 0) == quoted.count
    }

    /// The realm as people write it.
    public var plainRealm: ByteString { QuotedString.unquoted("\"" + self.realm + "\"") }

    /// The same challenge with the `nextnonce` of Authentication-Info (RFC 7616 section 3.5); nil where that cannot be
    /// used.
    public func renewed(nonce: ByteString) -> DigestChallenge? {
        guard !nonce.isEmpty, nonce != self.nonce, Self.isQuotable(nonce) else { return nil }
        var next = self
        next.nonce = nonce
        return next
    }
}

extension SIPMessage {
    /// `nextnonce` of Authentication-Info, byte for byte.
    public var nextNonce: ByteString? {
        // The field is a challenge without its scheme.
        self.first(.authenticationInfo).flatMap { Challenge.list("Digest " + $0).first }
            .flatMap { $0.parameters.rawText(of: "nextnonce") }
    }
}

// MARK: - The answer

extension DigestChallenge {
    /// What makes one answer differ from the next.
    public struct Turn: Hashable, Sendable {
        /// Ours, one for all answers to one nonce of the server's: with `-sess` it is part of the key.
        public var clientNonce: ByteString
        /// How often the nonce has been used, this answer included.
        public var count: UInt32

        public init(clientNonce: ByteString, count: UInt32) {
            self.clientNonce = clientNonce
            self.count = count
        }
    }

    /// The value of Authorization or Proxy-Authorization, RFC 7616 section 3.4; nil where the hash is not to be had.
    /// - Parameter request: complete but for Via: its method, its Request-URI and its body are covered.
    public func answer(
        _ credential: Credential, to request: SIPMessage, _ turn: Turn, _ hash: DigestHash
    ) -> ByteString? {
        guard let method = request.method, let uri = request.requestURI?.printed else { return nil }
        func digest(_ text: ByteString) -> ByteString { Self.hex(hash(self.algorithm, text.bytes)) }
        var key = digest(credential.username + ":" + self.realm + ":" + credential.password)
        guard !key.isEmpty else { return nil }
        if self.isSession { key = digest(key + ":" + self.nonce + ":" + turn.clientNonce) }
        var covered = method.token + ":" + uri
        if self.protection == .authInt { covered += ":" + Self.hex(hash(self.algorithm, request.body)) }
        let parts = self.parts(turn)
        let middle = parts.map { $0.count + ":" + turn.clientNonce + ":" + $0.qop + ":" } ?? ByteString()
        let response = digest(key + ":" + self.nonce + ":" + middle + digest(covered))

        var text: ByteString = "Digest username=" + QuotedString.quoted(credential.username)
        text += ", realm=\"" + self.realm + "\", nonce=\"" + self.nonce + "\", uri=\"" + uri + "\""
        text += ", response=\"" + response + "\""
        if let name = self.algorithmName { text += ", algorithm=" + name }
        if parts != nil || self.isSession { text += ", cnonce=\"" + turn.clientNonce + "\"" }
        if let opaque = self.opaque { text += ", opaque=\"" + opaque + "\"" }
        if let parts { text += ", qop=" + parts.qop + ", nc=" + parts.count }
        return text
    }

    /// Nil where the answer is that of RFC 2069, without them.
    private func parts(_ turn: Turn) -> (qop: ByteString, count: ByteString)? {
        var count = ByteString()
        count.append(hex: UInt64(turn.count), width: 8)
        switch self.protection {
        case .none: return nil
        case .auth: return ("auth", count)
        case .authInt: return ("auth-int", count)
        }
    }

    private static func hex(_ digest: [UInt8]) -> ByteString {
        var text = ByteString(reserving: digest.count * 2)
        for byte in digest {
            text.append(byte: ASCII.hexDigit(byte >> 4))
            text.append(byte: ASCII.hexDigit(byte))
        }
        return text
    }
}
