// SPDX-License-Identifier: Apache-2.0
import Bytes

extension CertificateReason {
    /// One of each.
    static let all: [CertificateReason] = [
        .expired, .notYetValid, .otherName, .wildcard, .unknownAuthority, .badSignature, .weak, .wrongPurpose,
        .notPinned, .changed, .other(0),
    ]

    var fault: Fault {
        switch self {
        case .expired: return .expired
        case .notYetValid: return .notYetValid
        case .otherName: return .otherName
        case .wildcard: return .wildcard
        case .unknownAuthority: return .unknownAuthority
        case .badSignature: return .badSignature
        case .weak: return .weak
        case .wrongPurpose: return .wrongPurpose
        case .notPinned: return .notPinned
        case .changed: return .changed
        case .other: return .otherReason
        }
    }
}

extension CertificateRecord {
    /// Of a certificate that is not taken.
    func fault(_ verdict: CertificateVerdict) -> Fault? {
        switch verdict {
        case .refused: return self.reasons.first?.fault ?? .otherReason
        case .waitsForTime: return .unknownTime
        case .endsSoon: return .endsSoon
        case .firstSeen, .tolerated, .acceptedOnce, .pinned: return nil
        }
    }
}

// MARK: - What speaks against a certificate, and what else keeps TLS from working

extension Fault {
    fileprivate static let expired = Fault(
        "CB-TLS-EXPIRED", .blinks, .failed, "The server's certificate has expired.",
        "Renew the server's certificate. Where it is valid, the help point's clock is wrong."
    )
    fileprivate static let notYetValid = Fault(
        "CB-TLS-EARLY", .blinks, .failed, "The server's certificate is not valid yet.",
        "Look at the clocks of the server and of the help point."
    )
    fileprivate static let otherName = Fault(
        "CB-TLS-NAME", .blinks, .failed, "The server's certificate is for another name than that in the address.",
        "Write the name of the certificate into the address, or have the server's certificate made for that name."
    )
    fileprivate static let wildcard = Fault(
        "CB-TLS-WILDCARD", .blinks, .failed, "The server's certificate is for all names of a domain.",
        "Write `wildcard = yes` into `[tls]`, or give the server a certificate of its own."
    )
    fileprivate static let unknownAuthority = Fault(
        "CB-TLS-CA", .blinks, .failed, "Nobody whom this help point trusts vouches for the server's certificate.",
        "Put the authority's certificate on the boot partition and name it as `[tls] ca`."
    )
    fileprivate static let badSignature = Fault(
        "CB-TLS-SIGNATURE", .blinks, .failed, "A signature of the server's certificate is wrong.",
        "Look for a device on the way that opens TLS; renew the server's certificate."
    )
    fileprivate static let weak = Fault(
        "CB-TLS-WEAK", .blinks, .failed, "The key or the signature of the server's certificate is too easy to forge.",
        "Have the server's certificate made anew, with a key of today's length."
    )
    fileprivate static let wrongPurpose = Fault(
        "CB-TLS-PURPOSE", .blinks, .failed, "The server's certificate was not made for servers.",
        "Have the server's certificate made anew, for server authentication."
    )
    fileprivate static let notPinned = Fault(
        "CB-TLS-PIN", .blinks, .failed, "The fingerprint of the server's certificate is not in `[tls] pins`.",
        "Where the server was renewed, add the fingerprint that the event `certificate` has."
    )
    fileprivate static let changed = Fault(
        "CB-TLS-CHANGED", .blinks, .failed, "The server shows another certificate than the first time.",
        "Where the server was renewed, remove the file `certificates` of the data folder. Else somebody is between."
    )
    fileprivate static let otherReason = Fault(
        "CB-TLS-OTHER", .blinks, .failed, "The server's certificate was refused for a rare reason.",
        "The event `certificate` names OpenSSL's number for it."
    )
    static let handshake = Fault(
        "CB-TLS-HANDSHAKE", .blinks, .failed, "TLS with the server could not be had.",
        "See that the port is one for TLS and that the server knows TLS 1.2 or 1.3. The event `tls` has the words."
    )
    static let unknownTime = Fault(
        "CB-TLS-TIME", .blinks, .failed,
        "The server's certificate cannot be judged before the help point knows the time.",
        "See that the help point reaches a time server."
    )
    static let endsSoon = Fault(
        "CB-TLS-SOON", .quiet, nil, "A certificate, the server's or the help point's own, ends soon.", "Renew it."
    )
}
