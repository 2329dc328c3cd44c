// SPDX-License-Identifier: Apache-2.0

import Bytes
import CTLS
import SIPWire

/// The hash of digest authentication, by OpenSSL; empty where its provider has no such algorithm (MD5 where only what
/// FIPS 140 approves is allowed).
@Sendable
public func digestHash(_ algorithm: DigestAlgorithm, _ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    let isDone = bytes.withUnsafeBytes { input in
        EVP_Digest(input.baseAddress, input.count, &digest, &count, hashType(algorithm), nil) == 1
    }
    return isDone ? Array(digest.prefix(Int(count))) : []
}

/// OpenSSL's own, which lives as long as the process.
private func hashType(_ algorithm: DigestAlgorithm) -> OpaquePointer? {
    switch algorithm {
    case .md5: return EVP_md5()
    case .sha256: return EVP_sha256()
    case .sha512t256: return EVP_sha512_256()
    }
}

/// The key of WPA2, 32 bytes, of a password and the name of the Wi-Fi (IEEE 802.11i annex H.4: PBKDF2 with HMAC-SHA1,
/// 4096 rounds); zeros where OpenSSL has no such algorithm.
public func wifiKey(password: ByteString, name: ByteString) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: 32)
    _ = password.withCString {
        PKCS5_PBKDF2_HMAC(
            $0, Int32(password.count), name.bytes, Int32(name.count), 4096, EVP_sha1(), Int32(key.count), &key)
    }
    return key
}
