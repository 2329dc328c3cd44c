// SPDX-License-Identifier: Apache-2.0
import Bytes

/// A hash over all that goes into the kiosks and comes out of them, with its times (FNV-1a, eight bytes at a time). Two
/// runs of one seed give the same, or something in them depends on more than the seed.
struct Digest {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func mix(_ number: UInt64) {
        self.value = (self.value ^ number) &* 0x0000_0100_0000_01B3
        self.value ^= self.value >> 29
    }

    mutating func mix(_ bytes: [UInt8]) {
        self.mix(UInt64(bytes.count))
        bytes.withUnsafeBytes { raw in
            var index = 0
            while index + 8 <= raw.count {
                self.mix(raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                index += 8
            }
            while index < raw.count {
                self.mix(UInt64(raw[index]))
                index += 1
            }
        }
    }
}

extension ByteString {
    /// A number from the bytes, the same in every run.
    var hashSeed: UInt64 {
        var digest = Digest()
        digest.mix(self.bytes)
        return digest.value
    }
}
