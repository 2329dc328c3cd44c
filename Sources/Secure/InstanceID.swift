// SPDX-License-Identifier: Apache-2.0

import Bytes
import CTLS

/// The instance id of a board (RFC 5626 section 4.1): the UUID of version 5 (RFC 9562 section 5.5) of its serial
/// number, so that it is the same again after the board gets a new image. Empty where OpenSSL's provider has no SHA-1.
public func instanceID(of serial: ByteString) -> ByteString {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    let name = instanceNamespace + serial.bytes
    let isDone = name.withUnsafeBytes { input in
        EVP_Digest(input.baseAddress, input.count, &digest, &count, EVP_sha1(), nil) == 1
    }
    guard isDone, count >= 16 else { return ByteString() }
    return uuid(Array(digest.prefix(16)), version: 5)
}

/// An instance id for a board without a serial number: the UUID of version 4 (RFC 9562 section 5.4) of 16 random bytes.
public func instanceID(from random: [UInt8]) -> ByteString {
    precondition(random.count == 16, "a UUID has 16 bytes")
    return uuid(random, version: 4)
}

/// Whether this was made by one of the above.
public func isInstanceID(_ text: ByteString) -> Bool {
    let prefix: ByteString = "urn:uuid:"
    guard text.hasPrefix(prefix), text.count == prefix.count + 36 else { return false }
    for (index, byte) in text.bytes.dropFirst(prefix.count).enumerated() {
        let isDash = index == 8 || index == 13 || index == 18 || index == 23
        guard isDash ? byte == ASCII.minus : ASCII.isDigit(byte) || (0x61...0x66).contains(byte) else { return false }
    }
    return true
}

private func uuid(_ bytes: [UInt8], version: UInt8) -> ByteString {
    var bytes = bytes
    bytes[6] = bytes[6] & 0x0F | version << 4
    bytes[8] = bytes[8] & 0x3F | 0x80
    var text: ByteString = "urn:uuid:"
    for (index, byte) in bytes.enumerated() {
        if index == 4 || index == 6 || index == 8 || index == 10 { text.append(byte: ASCII.minus) }
        text.append(hex: UInt64(byte), width: 2)
    }
    return text
}

/// The namespace of the serial numbers of boards: drawn once, never to be changed.
private let instanceNamespace: [UInt8] = [
    0x5B, 0x9D, 0xC2, 0xC6, 0x7A, 0x4E, 0x4F, 0x0E, 0x9A, 0x53, 0x2F, 0x1C, 0x6F, 0x0B, 0x8D, 0x17,
]
