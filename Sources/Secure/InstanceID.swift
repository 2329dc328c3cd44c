// SPDX-License-Identifier: Apache-2.0

import Bytes
import CTLS

/// The instance id of a board (RFC 5626 section 4.1): the UUID of version 5 (RFC 9562 section 5.5) of its serial number,
/// so that it is the same again after the board gets a new image. Empty where OpenSSL's provider has no SHA-1.
public func instanceID(of serial: ByteString) -> ByteString {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    let name = instanceNamespace + serial.bytes
    let isDone = name.withUnsafeBytes { input in
        EVP_Digest(input.baseAddress, input.count, &digest, &count, EVP_sha1(), nil) == 1
    }
    guard isDone, count >= 16 else { return ByteString() }
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    var text: ByteString = "urn:uuid:"
    for (index, byte) in digest.prefix(16).enumerated() {
        if index == 4 || index == 6 || index == 8 || index == 10 { text.append(byte: ASCII.minus) }
        text.append(hex: UInt64(byte), width: 2)
    }
    return text
}

/// The namespace of the serial numbers of boards: drawn once, never to be changed.
private let instanceNamespace: [UInt8] = [
    0x5B, 0x9D, 0xC2, 0xC6, 0x7A, 0x4E, 0x4F, 0x0E, 0x9A, 0x53, 0x2F, 0x1C, 0x6F, 0x0B, 0x8D, 0x17,
]
