// SPDX-License-Identifier: Apache-2.0

import Bytes
import CTLS
import Foundation

/// Makes certificates for tests: an authority, and what it signs.
final class Authority {
    /// 2026-01-01, on which everything is valid unless it says otherwise.
    static let today: Int64 = 1_767_225_600
    static let day: Int64 = 24 * 3600

    struct Identity {
        var certificate: OpaquePointer
        var key: OpaquePointer
    }

    let own: Identity
    private var serial = 1
    /// Of all authorities of a run: tests are kept until its end, and with them what they made.
    private static let folder: URL = {
        atexit { try? FileManager.default.removeItem(at: Authority.folder) }
        let made = FileManager.default.temporaryDirectory.appendingPathComponent("callbox-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
        return made
    }()

    init(_ name: String = "Test authority") {
        let key = Self.newKey()
        self.own = Identity(
            certificate: Self.sign(name, key, nil, [(NID_basic_constraints, "critical,CA:TRUE")], 1, -400, 4000),
            key: key)
    }

    /// A certificate for a server; `days` are when it is valid, from `today`.
    func issue(_ common: String, names: String? = nil, days: (Int64, Int64) = (-100, 300)) -> Identity {
        self.serial += 1
        let key = Self.newKey()
        let extensions = names.map { [(NID_subject_alt_name, $0)] } ?? []
        return Identity(
            certificate: Self.sign(common, key, self.own, extensions, self.serial, days.0, days.1), key: key)
    }

    // MARK: - Files

    private func write(_ name: String, _ put: (OpaquePointer?) -> Void) -> ByteString {
        let path = Self.folder.appendingPathComponent("\(name)-\(UUID().uuidString).pem").path
        let bio = BIO_new_file(path, "w")
        put(bio)
        BIO_free(bio)
        return ByteString(utf8Of: path)
    }

    func file(certificate: OpaquePointer) -> ByteString {
        self.write("certificate") { PEM_write_bio_X509($0, certificate) }
    }

    func file(key: OpaquePointer) -> ByteString {
        self.write("key") { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    // MARK: - OpenSSL

    private static func newKey() -> OpaquePointer {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        EVP_PKEY_keygen_init(context)
        EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1)
        EVP_PKEY_keygen(context, &key)
        return key!
    }

    private static func sign(
        _ common: String, _ key: OpaquePointer, _ issuer: Identity?, _ extensions: [(Int32, String)], _ serial: Int,
        _ from: Int64, _ to: Int64
    ) -> OpaquePointer {
        let certificate = X509_new()!
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial)
        let name = X509_get_subject_name(certificate)
        X509_NAME_add_entry_by_txt(name, "CN", 0x1000 | 1, common, -1, -1, 0)
        X509_set_issuer_name(certificate, issuer.map { X509_get_subject_name($0.certificate) } ?? name)
        ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(self.today + from * self.day))
        ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(self.today + to * self.day))
        X509_set_pubkey(certificate, key)
        for (kind, value) in extensions {
            let made = X509V3_EXT_conf_nid(nil, nil, kind, value)
            X509_add_ext(certificate, made, -1)
            X509_EXTENSION_free(made)
        }
        X509_sign(certificate, issuer?.key ?? key, EVP_sha256())
        return certificate
    }
}
