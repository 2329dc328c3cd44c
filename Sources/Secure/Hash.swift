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
