// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The hash functions that a certificate is recognised by, the one first that we go by where a peer gives several (RFC
/// 8122 section 5). MD5 and SHA-1 are not among them.
public enum FingerprintHash: Hashable, Sendable, CaseIterable {
    case sha256, sha512, sha384

    public var name: ByteString {
        switch self {
        case .sha256: return "sha-256"
        case .sha512: return "sha-512"
        case .sha384: return "sha-384"
        }
    }

    public var bytes: Int {
        switch self {
        case .sha256: return 32
        case .sha512: return 64
        case .sha384: return 48
        }
    }
}

/// An `a=fingerprint` line (RFC 8122 section 5).
public struct Fingerprint: Hashable, Sendable {
    public var hash: FingerprintHash
    public var bytes: [UInt8]

    public init(_ hash: FingerprintHash, _ bytes: [UInt8]) {
        precondition(bytes.count == hash.bytes, "a hash function gives what it is defined to give")
        self.hash = hash
        self.bytes = bytes
    }

    /// Reads `hash hex:hex:…`; nil for an unknown hash, or one of the wrong length.
    public init?(_ value: ByteString) {
        let fields = Fields.split(value)
        guard fields.count == 2,
            let hash = FingerprintHash.allCases.first(where: { fields[0].equalsIgnoringCase($0.name) })
        else { return nil }
        let parts = fields[1].split(on: ASCII.colon)
        guard parts.count == hash.bytes else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard part.count == 2, let high = Self.digit(part.bytes[0]), let low = Self.digit(part.bytes[1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        self.hash = hash
        self.bytes = bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): return byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): return byte - UInt8(ascii: "A") + 10
        default: return nil
        }
    }

    public var printed: ByteString {
        let digits = Array("0123456789ABCDEF".utf8)
        var text = self.hash.name
        for (index, byte) in self.bytes.enumerated() {
            text.append(byte: index == 0 ? ASCII.space : ASCII.colon)
            text.append(byte: digits[Int(byte >> 4)])
            text.append(byte: digits[Int(byte & 15)])
        }
        return text
    }
}

/// Who begins the handshake: an `a=setup` line (RFC 4145 section 4, RFC 5763 section 5).
enum SetupRole: Hashable {
    case active, passive, actpass, holdconn

    init?(_ word: ByteString) {
        if word.equalsIgnoringCase("active") {
            self = .active
        } else if word.equalsIgnoringCase("passive") {
            self = .passive
        } else if word.equalsIgnoringCase("actpass") {
            self = .actpass
        } else if word.equalsIgnoringCase("holdconn") {
            self = .holdconn
        } else {
            return nil
        }
    }

    var word: ByteString {
        switch self {
        case .active: return "active"
        case .passive: return "passive"
        case .actpass: return "actpass"
        case .holdconn: return "holdconn"
        }
    }
}

extension SessionDescription {
    /// The fingerprints of a medium, its own or the session's: all of the hash that we go by. The peer's certificate
    /// has to fit one of them; it may have several certificates, so that two which disagree are no fault.
    func fingerprints(of media: MediaDescription) -> [Fingerprint] {
        let own = media.values("fingerprint")
        let lines = own.isEmpty ? self.attributes.filter { $0.name == "fingerprint" }.compactMap { $0.value } : own
        let known = lines.prefix(SDPLimits.fingerprints).compactMap { Fingerprint($0) }
        let best = FingerprintHash.allCases.first { hash in known.contains { $0.hash == hash } }
        return known.filter { $0.hash == best }
    }

    /// The `a=setup` of a medium, its own or the session's; nil where there is none, or none that is known.
    func setup(of media: MediaDescription) -> SetupRole? {
        self.value("setup", of: media).flatMap { SetupRole($0.trimmed()) }
    }

    func tlsID(of media: MediaDescription) -> ByteString? {
        self.value("tls-id", of: media)
    }

    private func value(_ name: ByteString, of media: MediaDescription) -> ByteString? {
        media.first(name) ?? self.attributes.first { $0.name == name }?.value
    }
}
