// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A master key with its salt (RFC 4568 section 6.1).
public struct CryptoKey: Hashable, Sendable {
    /// Key and salt, one after the other.
    public var secret: [UInt8]
    /// Packets after which the key is worn out.
    public var lifetimePackets: UInt64
    /// What each packet carries to name this key; empty where there is only one.
    public var mki: [UInt8]

    /// As long as SRTP itself allows (RFC 3711 section 9.2).
    public static let lifetimePacketsMax: UInt64 = 1 << 48

    public init(secret: [UInt8], lifetimePackets: UInt64 = Self.lifetimePacketsMax, mki: [UInt8] = []) {
        self.secret = secret
        self.lifetimePackets = lifetimePackets
        self.mki = mki
    }
}

/// An `a=crypto` line that we can use (RFC 4568 section 9.1). One that asks for what nobody here can do is none: the
/// next is tried.
public struct CryptoAttribute: Hashable, Sendable {
    public var tag: UInt32
    public var suite: CryptoSuite
    /// The suite as it was written.
    public var suiteName: ByteString
    /// At least one; several have each an MKI of the same length.
    public var keys: [CryptoKey]

    /// A line of ours.
    public init(tag: UInt32, suite: CryptoSuite, suiteName: ByteString? = nil, secret: [UInt8]) {
        self.tag = tag
        self.suite = suite
        self.suiteName = suiteName ?? suite.name
        self.keys = [CryptoKey(secret: secret)]
    }

    /// Reads `tag suite key-params [session-params]`; nil for what cannot be used.
    public init?(_ value: ByteString) {
        let fields = Fields.split(value)
        guard fields.count >= 3, (1...9).contains(fields[0].count),
            let tag = fields[0].decimal(max: UInt64(UInt32.max)),
            let suite = CryptoSuite(fields[1]), suite.isUsable,
            fields[3...].allSatisfy({ Self.canIgnore($0) })
        else { return nil }
        let parts = fields[2].split(on: ASCII.semicolon)
        let keys = parts.prefix(SDPLimits.cryptoKeys).compactMap { Self.key($0, suite) }
        guard keys.count == parts.count, let first = keys.first else { return nil }
        if keys.count > 1 {
            let areTold = keys.allSatisfy { !$0.mki.isEmpty && $0.mki.count == first.mki.count }
            let areOnce = keys.allSatisfy { key in keys.filter { $0.mki == key.mki }.count == 1 }
            guard areTold, areOnce else { return nil }
        }
        self.tag = UInt32(tag)
        self.suite = suite
        self.suiteName = fields[1]
        self.keys = keys
    }

    /// Session parameters (RFC 4568 section 6.3) that change nothing for us: a hint for the replay window, the key
    /// derivation that holds anyway, and what its writer says may be passed over.
    private static func canIgnore(_ parameter: ByteString) -> Bool {
        parameter.hasPrefix("-") || parameter.hasPrefix("WSH=") || parameter == "KDR=0"
    }

    /// Reads `inline:key||salt[|lifetime][|MKI:length]`.
    private static func key(_ text: ByteString, _ suite: CryptoSuite) -> CryptoKey? {
        let method: ByteString = "inline:"
        guard text.hasPrefixIgnoringCase(method) else { return nil }
        var parts = text.slice(method.count..<text.count).split(on: UInt8(ascii: "|"))
        guard let secret = Base64.decoded(parts.removeFirst()), secret.count == suite.secretBytes else { return nil }
        var key = CryptoKey(secret: secret)
        if let last = parts.last, last.contains(ASCII.colon) {
            guard let mki = Self.mki(last) else { return nil }
            key.mki = mki
            parts.removeLast()
        }
        if let lifetime = parts.first {
            guard let packets = Self.lifetime(lifetime) else { return nil }
            key.lifetimePackets = packets
            parts.removeFirst()
        }
        return parts.isEmpty ? key : nil
    }

    /// Reads `2^n` or a decimal; more than SRTP allows is what SRTP allows.
    private static func lifetime(_ text: ByteString) -> UInt64? {
        let power: ByteString = "2^"
        if text.hasPrefix(power) {
            guard let exponent = text.slice(power.count..<text.count).decimal(max: 63) else { return nil }
            return min(1 << exponent, CryptoKey.lifetimePacketsMax)
        }
        guard let packets = text.decimal(), packets > 0 else { return nil }
        return min(packets, CryptoKey.lifetimePacketsMax)
    }

    /// Reads `value:length`: the value in as many bytes, the highest first.
    private static func mki(_ text: ByteString) -> [UInt8]? {
        let parts = text.split(on: ASCII.colon)
        guard parts.count == 2, let value = parts[0].decimal(),
            let length = parts[1].decimal(max: UInt64(SDPLimits.mkiBytes)), length > 0,
            length >= 8 || value >> (8 * length) == 0
        else { return nil }
        return (0..<Int(length)).reversed().map { $0 >= 8 ? 0 : UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }

    /// The value of a line of ours: one key, no lifetime, no MKI.
    public var printed: ByteString {
        var text = ByteString(decimal: self.tag) + " " + self.suiteName
        for (index, key) in self.keys.enumerated() {
            text += (index == 0 ? " inline:" : ";inline:") + Base64.encoded(key.secret)
        }
        return text
    }
}

extension MediaDescription {
    /// The `a=crypto` lines that can be used, best first.
    var cryptos: [CryptoAttribute] {
        self.values("crypto").prefix(SDPLimits.cryptoLines).compactMap { CryptoAttribute($0) }
    }
}
