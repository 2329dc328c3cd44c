// SPDX-License-Identifier: Apache-2.0
import Bytes

/// One thing that speaks against a certificate.
public enum CertificateReason: Hashable, Sendable {
    case expired
    case notYetValid
    /// It is for somebody else (RFC 5922 section 7.2).
    case otherName
    /// It would be for this name if wildcards were allowed.
    case wildcard
    /// The chain ends at nobody whom we trust, itself included.
    case unknownAuthority
    case badSignature
    /// Its key or its signature is too easy to forge.
    case weak
    /// Not made for servers, or made by one who may not make any.
    case wrongPurpose
    /// The file lists fingerprints, and this one is not among them.
    case notPinned
    /// Another one was seen first under this name.
    case changed
    /// Whatever else OpenSSL finds, by the number of its error.
    case other(Int32)

    /// The stable word for programs.
    public var text: ByteString {
        switch self {
        case .expired: return "expired"
        case .notYetValid: return "not-yet-valid"
        case .otherName: return "other-name"
        case .wildcard: return "wildcard"
        case .unknownAuthority: return "unknown-authority"
        case .badSignature: return "bad-signature"
        case .weak: return "weak"
        case .wrongPurpose: return "wrong-purpose"
        case .notPinned: return "not-pinned"
        case .changed: return "changed"
        case .other(let code): return "openssl-" + ByteString(decimal: code)
        }
    }
}

/// What became of a certificate.
public enum CertificateVerdict: Hashable, Sendable {
    /// Nothing speaks against it, but it ends soon.
    case endsSoon
    /// Taken and noted: the first that was seen under its name.
    case firstSeen
    /// Taken, whatever speaks against it: it is the listed one, or nothing is checked.
    case tolerated
    /// Taken this once, as the program of `[tls] ask` said.
    case acceptedOnce
    /// Taken from now on under this name, as the program said.
    case pinned
    case refused
    /// Nothing but its dates speaks against it, and nobody has told us the time yet.
    case waitsForTime

    public var text: ByteString {
        switch self {
        case .endsSoon: return "ends-soon"
        case .firstSeen: return "first-seen"
        case .tolerated: return "tolerated"
        case .acceptedOnce: return "accepted-once"
        case .pinned: return "pinned"
        case .refused: return "refused"
        case .waitsForTime: return "waits-for-time"
        }
    }
}

/// A certificate and what speaks against it: for the log, for events, and for the program of `[tls] ask`.
public struct CertificateRecord: Equatable, Sendable {
    /// How many names of a chain are told, and how long each may be.
    public static let chainMax = 8
    public static let nameBytesMax = 256

    /// Whom it had to name; empty for our own.
    public var name: ByteString
    /// SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` prints it.
    public var fingerprint: ByteString
    public var subject: ByteString
    public var issuer: ByteString
    /// Like `2026-01-31T12:00:00Z`; empty where it makes no sense.
    public var notBefore: ByteString
    public var notAfter: ByteString
    /// Each once, the first found first; empty where nothing speaks against it.
    public var reasons: [CertificateReason]
    /// The subjects that the other side sent, its own first.
    public var chain: [ByteString]

    public init(
        name: ByteString, fingerprint: ByteString, subject: ByteString, issuer: ByteString, notBefore: ByteString,
        notAfter: ByteString, reasons: [CertificateReason] = [], chain: [ByteString] = []
    ) {
        self.name = name
        self.fingerprint = fingerprint
        self.subject = subject
        self.issuer = issuer
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.reasons = reasons
        self.chain = chain
    }

    /// One JSON object, as the program of `[tls] ask` reads it.
    public var line: ByteString { JSON.object { self.write(to: &$0) } }

    func write(to json: inout JSON) {
        json.put("name", self.name)
        json.put("fingerprint", self.fingerprint)
        json.put("subject", self.subject)
        json.put("issuer", self.issuer)
        json.put("not_before", self.notBefore)
        json.put("not_after", self.notAfter)
        json.put("reasons", self.reasons.map { $0.text })
        json.put("chain", self.chain)
    }
}

/// Why a TLS connection could not be had.
public enum TLSFault: Equatable, Sendable {
    case refused(CertificateRecord)
    case waitsForTime(CertificateRecord)
    /// OpenSSL's words, or ours.
    case handshake(ByteString)
}

/// SHA-256 fingerprints as text.
public enum CertificateFingerprint {
    /// 64 hexadecimal digits of either case, with or without colons, to 32 bytes.
    public static func parse(_ text: ByteString) -> ByteString? {
        let digits = text.bytes.filter { $0 != ASCII.colon }
        guard digits.count == 64 else { return nil }
        var fingerprint = ByteString(reserving: 32)
        for index in stride(from: 0, to: 64, by: 2) {
            guard let high = ASCII.hexValue(digits[index]), let low = ASCII.hexValue(digits[index + 1]) else {
                return nil
            }
            fingerprint.append(byte: high << 4 | low)
        }
        return fingerprint
    }

    /// As `openssl x509 -fingerprint` prints one: `AB:CD:…`.
    public static func printed(_ fingerprint: ByteString) -> ByteString {
        var text = ByteString(reserving: fingerprint.count * 3)
        for (index, byte) in fingerprint.bytes.enumerated() {
            if index > 0 { text.append(byte: ASCII.colon) }
            for nibble in [byte >> 4, byte & 0xF] {
                let digit = ASCII.hexDigit(nibble)
                text.append(byte: ASCII.isLetter(digit) ? digit - 0x20 : digit)
            }
        }
        return text
    }
}
