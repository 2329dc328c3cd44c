// SPDX-License-Identifier: Apache-2.0

/// Reads "IN_FORMATS" (drm_format_modifier_blob): which formats a plane takes with which modifiers.
enum PlaneFormats {
    private static let modifierBytes = 24
    private static let windowBits = 64

    /// Blobs of real planes name a few hundred.
    private static let pairsMax = 4096

    /// The formats of ours that the plane takes in linear layout (modifier 0); nil where the blob makes no sense.
    static func linear(inFormats blob: [UInt8]) -> PixelFormats? {
        self.all(inFormats: blob).map { pairs in
            PixelFormats(pairs.filter { $0.modifier == 0 }.compactMap { PixelFormat(rawValue: $0.fourCC) })
        }
    }

    /// Every format with every modifier that the plane takes; nil where the blob makes no sense.
    static func all(inFormats blob: [UInt8]) -> [SharedKind]? {
        guard self.word(blob, 0) == 1,
            let formatCount = self.offset(blob, 8), let formats = self.offset(blob, 12),
            let modifierCount = self.offset(blob, 16), let modifiers = self.offset(blob, 20)
        else { return nil }
        var pairs: [SharedKind] = []
        for index in 0..<modifierCount {
            let at = modifiers + index * self.modifierBytes
            guard at + self.modifierBytes <= blob.count else { return nil }
            let modifier = UInt64(self.word(blob, at + 16) ?? 0) | UInt64(self.word(blob, at + 20) ?? 0) << 32
            let mask = UInt64(self.word(blob, at) ?? 0) | UInt64(self.word(blob, at + 4) ?? 0) << 32
            let first = self.offset(blob, at + 8) ?? formatCount
            for bit in 0..<self.windowBits where mask >> UInt64(bit) & 1 == 1 && first + bit < formatCount {
                guard let code = self.word(blob, formats + (first + bit) * 4) else { return nil }
                guard pairs.count < self.pairsMax else { return pairs }
                pairs.append(SharedKind(code, modifier: modifier))
            }
        }
        return pairs
    }

    /// A little-endian word, as on all our machines; nil past the end.
    private static func word(_ bytes: [UInt8], _ at: Int) -> UInt32? {
        guard at >= 0, at <= bytes.count - 4 else { return nil }
        return UInt32(bytes[at]) | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2]) << 16
            | UInt32(bytes[at + 3]) << 24
    }

    /// A word that counts or points into the blob, and so is no greater than its length.
    private static func offset(_ bytes: [UInt8], _ at: Int) -> Int? {
        guard let value = self.word(bytes, at), value <= bytes.count else { return nil }
        return Int(value)
    }
}
