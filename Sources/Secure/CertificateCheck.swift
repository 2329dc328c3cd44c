// SPDX-License-Identifier: Apache-2.0

import Bytes
import CTLS
import KioskEngine

/// Everything that speaks against a server's certificate: chain and dates by OpenSSL, the name by RFC 5922.
///
/// OpenSSL stops at the first fault where it may. Here it may not: each fault is noted and passed over, so that the
/// person who has to mend it learns of all at once.
struct CertificateCheck {
    var fingerprint: ByteString
    var record: CertificateRecord
    /// Seconds since 1970; nil where the certificate has no proper date.
    var notAfter: Int64?

    /// Nil where the other side sent no certificate. `time` is in seconds since 1970.
    init?(_ chain: OpaquePointer, name: ByteString, time: Int64, allowsWildcard: Bool) {
        guard let certificate = X509_STORE_CTX_get0_cert(chain) else { return nil }
        self.fingerprint = CertificateFacts.fingerprint(certificate)
        self.record = CertificateFacts.record(certificate, for: name)
        self.notAfter = CertificateFacts.seconds(X509_get0_notAfter(certificate))
        self.record.chain = Self.subjects(X509_STORE_CTX_get0_untrusted(chain))
        for code in Self.faults(of: chain, time: time) { self.add(CertificateReason(code)) }
        switch CertificateFacts.names(certificate).matches(name) {
        case .yes: break
        case .byWildcard: if !allowsWildcard { self.add(.wildcard) }
        case .no: self.add(.otherName)
        }
    }

    mutating func add(_ reason: CertificateReason) {
        if !self.record.reasons.contains(reason) { self.record.reasons.append(reason) }
    }

    private static func subjects(_ stack: OpaquePointer?) -> [ByteString] {
        guard let stack else { return [] }
        return (0..<min(OPENSSL_sk_num(stack), Int32(CertificateRecord.chainMax))).compactMap {
            OPENSSL_sk_value(stack, $0).map { CertificateFacts.subject(OpaquePointer($0)) }
        }
    }

    // MARK: - The chain

    /// How many faults of one chain are noted.
    private static let faultsMax = 16

    /// Filled by OpenSSL's calls back.
    private final class Faults {
        var codes: [Int32] = []
    }

    private static func faults(of chain: OpaquePointer, time: Int64) -> [Int32] {
        let faults = Faults()
        // `1` in the numbering of what hangs at a chain is ours: `0` is OpenSSL's own way to its connection.
        guard let slot = self.slot, let parameters = X509_STORE_CTX_get0_param(chain),
            X509_STORE_CTX_set_ex_data(chain, slot, Unmanaged.passUnretained(faults).toOpaque()) == 1
        else { return [X509_V_ERR_UNSPECIFIED] }
        X509_VERIFY_PARAM_set_time(parameters, time_t(time))
        X509_STORE_CTX_set_verify_cb(chain) { isGood, chain in
            if isGood == 0, let slot = CertificateCheck.slot, let raw = X509_STORE_CTX_get_ex_data(chain, slot) {
                let faults = Unmanaged<Faults>.fromOpaque(raw).takeUnretainedValue()
                if faults.codes.count < CertificateCheck.faultsMax {
                    faults.codes.append(X509_STORE_CTX_get_error(chain))
                }
            }
            return 1
        }
        let isGood = X509_verify_cert(chain) == 1
        if !isGood && faults.codes.isEmpty { faults.codes = [X509_V_ERR_UNSPECIFIED] }
        X509_STORE_CTX_set_ex_data(chain, slot, nil)
        return faults.codes
    }

    /// Where a chain carries our list; nil where OpenSSL had no memory for it.
    private static let slot: Int32? = {
        let index = callbox_x509_new_chain_slot()
        return index >= 0 ? index : nil
    }()
}

extension CertificateReason {
    /// From OpenSSL's X509_V_ERR_….
    init(_ code: Int32) {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_REJECTED,
            X509_V_ERR_CERT_CHAIN_TOO_LONG:
            self = .unknownAuthority
        case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE: self = .badSignature
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK: self = .weak
        case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_INVALID_CA, X509_V_ERR_PATH_LENGTH_EXCEEDED,
            X509_V_ERR_KEYUSAGE_NO_CERTSIGN:
            self = .wrongPurpose
        default: self = .other(code)
        }
    }
}
