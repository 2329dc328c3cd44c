// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// Coded pictures of the kernel's own test codec (FWHT, drivers/media/test-drivers/vicodec/codec-fwht.h): each begins
/// with eight bytes that stand nowhere else, eight words of what it is, and the length of what follows.
struct Clip {
    private(set) var units: [[UInt8]] = []

    private static let headBytes = 44
    private static let start: [UInt8] = [0x4F, 0x4F, 0x4F, 0x4F, 0xFF, 0xFF, 0xFF, 0xFF]

    /// What a file holds, as far as it makes sense.
    init(_ path: ByteString) {
        let bytes = Self.read(path)
        var at = 0
        while at + Self.headBytes <= bytes.count, Array(bytes[at..<at + Self.start.count]) == Self.start {
            let length = bytes[at + Self.headBytes - 4..<at + Self.headBytes].reduce(0) { $0 << 8 | Int($1) }
            let end = at + Self.headBytes + length
            guard end <= bytes.count else { break }
            self.units.append(Array(bytes[at..<end]))
            at = end
        }
    }

    /// V4L2_FWHT_FL_I_FRAME in the word of flags; the test codec's encoder does not mark its buffers.
    static func isKeyFrame(_ unit: [UInt8]) -> Bool {
        unit.count >= self.headBytes && unit[22] & 0x04 != 0
    }

    /// All of a file; nothing where it cannot be read.
    static func read(_ path: ByteString) -> [UInt8] {
        guard let file = path.withCString({ fopen($0, "rb") }) else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&part, 1, part.count, file)
            guard count > 0 else { return bytes }
            bytes += part[..<count]
        }
    }
}
