// SPDX-License-Identifier: Apache-2.0

/// The two companding laws of ITU-T G.711, between bytes and linear 16-bit samples.
public enum G711 {
    public enum Law: Hashable, Sendable {
        case mu, a
    }

    public static func decode(_ byte: UInt8, _ law: Law) -> Int16 {
        switch law {
        case .mu: return self.decodeMu(byte)
        case .a: return self.decodeA(byte)
        }
    }

    public static func encode(_ sample: Int16, _ law: Law) -> UInt8 {
        switch law {
        case .mu: return self.encodeMu(sample)
        case .a: return self.encodeA(sample)
        }
    }

    public static func decode(_ bytes: [UInt8], _ law: Law) -> [Int16] {
        bytes.map { self.decode($0, law) }
    }

    public static func encode(_ samples: [Int16], _ law: Law) -> [UInt8] {
        samples.map { self.encode($0, law) }
    }

    /// The byte that decodes to silence.
    public static func silence(_ law: Law) -> UInt8 {
        law == .mu ? 0xFF : 0xD5
    }

    /// Added before the logarithm, so that the first segment too begins at a power of two (14-bit scale 33, here
    /// 16-bit).
    private static let muBias = 132

    private static func decodeMu(_ byte: UInt8) -> Int16 {
        let flipped = ~byte
        let segment = Int((flipped >> 4) & 0x07)
        let magnitude = ((Int(flipped & 0x0F) << 3) + self.muBias) << segment
        let value = magnitude - self.muBias
        return Int16(flipped & 0x80 != 0 ? -value : value)
    }

    private static func encodeMu(_ sample: Int16) -> UInt8 {
        let sign: UInt8 = sample < 0 ? 0x80 : 0
        let biased = min(Int(sample.magnitude), 32635) + self.muBias
        let segment = self.highestBit(biased) - 7
        let step = UInt8((biased >> (segment + 3)) & 0x0F)
        return ~(sign | UInt8(segment << 4) | step)
    }

    private static func decodeA(_ byte: UInt8) -> Int16 {
        let flipped = byte ^ 0x55
        let segment = Int((flipped >> 4) & 0x07)
        let step = (Int(flipped & 0x0F) << 4) + 8
        let magnitude = segment == 0 ? step : (step + 256) << (segment - 1)
        return Int16(flipped & 0x80 != 0 ? magnitude : -magnitude)
    }

    private static func encodeA(_ sample: Int16) -> UInt8 {
        let sign: UInt8 = sample < 0 ? 0 : 0x80
        // Negative values count from −1, so that the two halves mirror each other.
        let magnitude = sample < 0 ? -1 - Int(sample) : Int(sample)
        let segment = max(0, self.highestBit(magnitude | 0x80) - 7)
        let step = UInt8((magnitude >> (segment == 0 ? 4 : segment + 3)) & 0x0F)
        return (sign | UInt8(segment << 4) | step) ^ 0x55
    }

    /// The position of the highest one bit of a positive number below 2¹⁶.
    private static func highestBit(_ value: Int) -> Int {
        31 - UInt32(truncatingIfNeeded: value).leadingZeroBitCount
    }
}
