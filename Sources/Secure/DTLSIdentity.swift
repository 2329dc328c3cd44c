// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDTLS
import SDPWire

/// Our certificate for handshakes on the way of the media, made anew at each start: nobody has to trust it, for its
/// fingerprint comes with the description (RFC 5763 section 3).
public final class DTLSIdentity {
    let context: OpaquePointer
    public let fingerprint: Fingerprint

    /// Best first (RFC 5764 section 4.1.2, RFC 7714 section 14.2).
    private static let profiles =
        "SRTP_AEAD_AES_128_GCM:SRTP_AEAD_AES_256_GCM:SRTP_AES128_CM_SHA1_80:SRTP_AES128_CM_SHA1_32"

    /// Nil where OpenSSL cannot make a certificate; then there are no handshakes.
    public init?() {
        guard let key = callbox_dtls_new_key() else { return nil }
        defer { EVP_PKEY_free(key) }
        guard let certificate = Self.certificate(of: key) else { return nil }
        defer { X509_free(certificate) }
        guard let fingerprint = Fingerprint(.sha256, of: certificate), let context = SSL_CTX_new(DTLS_method()) else {
            return nil
        }
        guard callbox_dtls_prepare(context, Self.profiles) == 1, SSL_CTX_use_certificate(context, certificate) == 1,
            SSL_CTX_use_PrivateKey(context, key) == 1
        else {
            SSL_CTX_free(context)
            return nil
        }
        self.context = context
        self.fingerprint = fingerprint
    }

    deinit { SSL_CTX_free(self.context) }

    /// Signed by itself. Its dates are wide, for the clock of a board may be wrong and nobody reads them.
    private static func certificate(of key: OpaquePointer) -> OpaquePointer? {
        guard let certificate = X509_new() else { return nil }
        // As many bits as a C long has here.
        let serial = Int(truncatingIfNeeded: entropySeed()) & Int.max
        let name = X509_get_subject_name(certificate)
        let isMade =
            X509_set_version(certificate, 2) == 1
            && ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial) == 1
            && ASN1_TIME_set_string(X509_getm_notBefore(certificate), "19700101000000Z") == 1
            && ASN1_TIME_set_string(X509_getm_notAfter(certificate), "20991231235959Z") == 1
            && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, "callbox", -1, -1, 0) == 1
            && X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1
            && X509_sign(certificate, key, EVP_sha256()) > 0
        guard isMade else {
            X509_free(certificate)
            return nil
        }
        return certificate
    }
}

extension Fingerprint {
    init?(_ hash: FingerprintHash, of certificate: OpaquePointer) {
        let function: OpaquePointer?
        switch hash {
        case .sha256: function = EVP_sha256()
        case .sha384: function = EVP_sha384()
        case .sha512: function = EVP_sha512()
        }
        var bytes = [UInt8](repeating: 0, count: hash.bytes)
        var count = UInt32(bytes.count)
        guard X509_digest(certificate, function, &bytes, &count) == 1, Int(count) == hash.bytes else { return nil }
        self.init(hash, bytes)
    }
}
