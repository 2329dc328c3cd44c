// SPDX-License-Identifier: Apache-2.0

/// A level of H.264 (ITU-T H.264, table A-1): how much a decoder must be able to do.
public struct H264Level: Equatable, Sendable {
    /// `level_idc`: ten times the level's number.
    public let idc: UInt8
    let macroblocksPerSecondMax: Int
    let macroblocksMax: Int
    let bitrateKbpsMax: Int

    /// The levels of the constrained baseline profile from 1.2 up, smallest first.
    static let all: [H264Level] = [
        H264Level(idc: 12, macroblocksPerSecondMax: 6_000, macroblocksMax: 396, bitrateKbpsMax: 384),
        H264Level(idc: 13, macroblocksPerSecondMax: 11_880, macroblocksMax: 396, bitrateKbpsMax: 768),
        H264Level(idc: 20, macroblocksPerSecondMax: 11_880, macroblocksMax: 396, bitrateKbpsMax: 2_000),
        H264Level(idc: 21, macroblocksPerSecondMax: 19_800, macroblocksMax: 792, bitrateKbpsMax: 4_000),
        H264Level(idc: 22, macroblocksPerSecondMax: 20_250, macroblocksMax: 1_620, bitrateKbpsMax: 4_000),
        H264Level(idc: 30, macroblocksPerSecondMax: 40_500, macroblocksMax: 1_620, bitrateKbpsMax: 10_000),
        H264Level(idc: 31, macroblocksPerSecondMax: 108_000, macroblocksMax: 3_600, bitrateKbpsMax: 14_000),
        H264Level(idc: 32, macroblocksPerSecondMax: 216_000, macroblocksMax: 5_120, bitrateKbpsMax: 20_000),
        H264Level(idc: 40, macroblocksPerSecondMax: 245_760, macroblocksMax: 8_192, bitrateKbpsMax: 20_000),
        H264Level(idc: 42, macroblocksPerSecondMax: 522_240, macroblocksMax: 8_704, bitrateKbpsMax: 50_000),
        H264Level(idc: 51, macroblocksPerSecondMax: 983_040, macroblocksMax: 36_864, bitrateKbpsMax: 240_000),
    ]

    /// The smallest level that allows pictures of this size, rate (rounded up) and bit rate; the largest where none.
    public static func smallest(width: Int, height: Int, framesPerSecond: Int, bitrateKbps: Int) -> H264Level {
        let columns = (width + 15) / 16
        let rows = (height + 15) / 16
        let macroblocks = columns * rows
        let found = Self.all.first { level in
            // No side may be longer than the square root of eight times the picture's area (A.3.1).
            macroblocks <= level.macroblocksMax && macroblocks * framesPerSecond <= level.macroblocksPerSecondMax
                && bitrateKbps <= level.bitrateKbpsMax
                && max(columns, rows) * max(columns, rows) <= 8 * level.macroblocksMax
        }
        return found ?? Self.all[Self.all.count - 1]
    }
}
