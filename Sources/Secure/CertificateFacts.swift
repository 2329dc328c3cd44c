// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import CTLS
import KioskEngine

/// Reads certificates: what they say, not whether it is true.
enum CertificateFacts {
    /// SHA-256 over the whole certificate.
    static func fingerprint(_ certificate: OpaquePointer) -> ByteString {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard X509_digest(certificate, EVP_sha256(), &digest, &length) == 1 else { return ByteString() }
        return ByteString(digest.prefix(Int(length)))
    }

    static func record(_ certificate: OpaquePointer, for name: ByteString) -> CertificateRecord {
        CertificateRecord(
            name: name, fingerprint: CertificateFingerprint.printed(self.fingerprint(certificate)),
            subject: self.name(X509_get_subject_name(certificate)),
            issuer: self.name(X509_get_issuer_name(certificate)),
            notBefore: self.date(X509_get0_notBefore(certificate)),
            notAfter: self.date(X509_get0_notAfter(certificate)))
    }

    static func subject(_ certificate: OpaquePointer) -> ByteString {
        self.name(X509_get_subject_name(certificate))
    }

    private static func name(_ name: OpaquePointer?) -> ByteString {
        OpenSSL.text(countMax: CertificateRecord.nameBytesMax) { callbox_x509_write_name($0, name) }
    }

    // MARK: - Dates

    /// Seconds since 1970; nil where the certificate has something that is no date.
    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return Int64(timegm(&parts))
    }

    private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> ByteString {
        var parts = tm()
        guard time != nil, ASN1_TIME_to_tm(time, &parts) == 1 else { return ByteString() }
        var text = ByteString(decimal: Int(parts.tm_year) + 1900)
        for (separator, value) in [
            ("-", parts.tm_mon + 1), ("-", parts.tm_mday), ("T", parts.tm_hour), (":", parts.tm_min),
            (":", parts.tm_sec),
        ] as [(ByteString, Int32)] {
            text += separator + (value < 10 ? "0" : "") + ByteString(decimal: value)
        }
        return text + "Z"
    }

    // MARK: - Names

    static func names(_ certificate: OpaquePointer) -> CertificateNames {
        var names = CertificateNames()
        names.commonName = self.commonName(certificate)
        guard X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1) >= 0 else { return names }
        // Also where it cannot be read: then nothing is named.
        names.hasAlternatives = true
        guard let list = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return names }
        let stack = OpaquePointer(list)
        defer { GENERAL_NAMES_free(stack) }
        for index in 0..<min(OPENSSL_sk_num(stack), Int32(CertificateNames.countMax)) {
            guard let entry = OPENSSL_sk_value(stack, index) else { continue }
            self.add(entry.assumingMemoryBound(to: GENERAL_NAME.self), to: &names)
        }
        return names
    }

    private static func add(_ entry: UnsafePointer<GENERAL_NAME>, to names: inout CertificateNames) {
        var type: Int32 = 0
        guard let value = GENERAL_NAME_get0_value(entry, &type),
            type == GEN_URI || type == GEN_DNS || type == GEN_IPADD
        else { return }
        let bytes = self.bytes(value.assumingMemoryBound(to: ASN1_STRING.self))
        switch type {
        case GEN_URI:
            if let domain = CertificateNames.domain(ofURI: ByteString(bytes)) { names.domains.append(domain) }
        case GEN_DNS: names.hosts.append(ByteString(bytes))
        default: if let address = IPAddress(networkOrder: bytes) { names.addresses.append(address) }
        }
    }

    /// The most particular one, which stands last.
    private static func commonName(_ certificate: OpaquePointer) -> ByteString? {
        guard let subject = X509_get_subject_name(certificate) else { return nil }
        var index: Int32 = -1
        var last: Int32 = -1
        repeat {
            last = index
            index = X509_NAME_get_index_by_NID(subject, NID_commonName, index)
        } while index >= 0
        guard last >= 0, let text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, last)) else { return nil }
        return ByteString(self.bytes(text))
    }

    private static func bytes(_ text: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        let count = Int(ASN1_STRING_length(text))
        guard count > 0, let start = ASN1_STRING_get0_data(text) else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: count))
    }
}

extension IPAddress {
    /// Four or sixteen bytes; nil for any other count.
    fileprivate init?(networkOrder bytes: [UInt8]) {
        func half(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self = .v4(UInt32(half(0..<4)))
        case 16: self = .v6(high: half(0..<8), low: half(8..<16))
        default: return nil
        }
    }
}
