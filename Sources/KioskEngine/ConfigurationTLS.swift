// SPDX-License-Identifier: Apache-2.0
import Bytes

/// `[tls]`
public struct TLSSettings: Equatable, Sendable {
    public enum Verify: Sendable {
        /// A chain to somebody we trust, dates and name (RFC 5922).
        case strict
        /// One of `pins`, and nothing else.
        case pin
        /// Whatever was seen first under a name.
        case firstSeen
        /// Nothing.
        case off
    }

    public var verify = Verify.strict
    /// SHA-256 fingerprints, 32 bytes each.
    public var pins: [ByteString] = []
    /// The left-most label of a name in a certificate may be `*`.
    public var allowsWildcard = false
    /// A PEM file of those whom we trust beside the system's list; nil for none.
    public var authorities: ByteString?
    /// PEM files of our own certificate with its chain, and of its key; nil for none.
    public var certificate: ByteString?
    public var key: ByteString?
    /// Where connections are taken, once there is a certificate of our own.
    public var listen = SocketAddress(.v6(high: 0, low: 0), port: 5061)
    /// A program that is asked about a certificate that would be refused; nil for none.
    public var ask: ByteString?

    public init() {}
}

extension ConfigurationValue {
    static let pinsMax = 8
    static let pathBytesMax = 255

    /// Fingerprints with commas or blanks between them, with or without colons; `none` for an empty list.
    static func pins(_ value: ByteString) throws(BadValue) -> [ByteString] {
        if value.equalsIgnoringCase("none") { return [] }
        var pins: [ByteString] = []
        for word in value.bytes.split(whereSeparator: { $0 == ASCII.comma || ASCII.isBlank($0) }) {
            guard let pin = CertificateFingerprint.parse(ByteString(word)) else {
                let shown = self.quoted(ByteString(word))
                throw BadValue(shown + " is not a SHA-256 fingerprint, as openssl x509 -fingerprint -sha256 prints it")
            }
            pins.append(pin)
        }
        guard !pins.isEmpty, pins.count <= self.pinsMax else {
            throw BadValue("names no fingerprint, or more than " + ByteString(decimal: self.pinsMax))
        }
        return pins
    }

    /// A whole path, so that it means the same wherever the program was started; `none` for nil.
    static func path(_ value: ByteString) throws(BadValue) -> ByteString? {
        if value.equalsIgnoringCase("none") { return nil }
        guard value.bytes.first == ASCII.slash, value.count <= self.pathBytesMax else {
            throw BadValue(self.quoted(value) + " is not the whole path of a file, as in /boot/callbox/ca.pem")
        }
        return value
    }
}
