// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A level of H.264 (ITU-T H.264 table A-1), ordered by what it demands.
public struct H264Level: Hashable, Comparable, Sendable {
    /// Ten times the level's number; 9 for level 1b.
    public var levelIDC: UInt8

    public init(levelIDC: UInt8) {
        self.levelIDC = levelIDC
    }

    public static let level1 = H264Level(levelIDC: 10)
    public static let level1b = H264Level(levelIDC: 9)

    /// Level 1b lies between 1 and 1.1, whatever its number.
    private var rank: Int {
        self == .level1b ? 2 * 10 + 1 : 2 * Int(self.levelIDC)
    }

    public static func < (left: H264Level, right: H264Level) -> Bool { left.rank < right.rank }

    /// What a decoder of this level can take. A number that is no level counts as the next lower one.
    public var limits: H264Limits {
        let row = Self.table.last { H264Level(levelIDC: $0.levelIDC) <= self } ?? Self.table[0]
        return H264Limits(
            macroblocksPerSecond: row.macroblocksPerSecond, frameMacroblocks: row.frameMacroblocks,
            bitrateKbps: row.bitrateKbps)
    }

    private struct Row {
        var levelIDC: UInt8
        var macroblocksPerSecond: Int
        var frameMacroblocks: Int
        var bitrateKbps: Int

        init(_ levelIDC: UInt8, _ macroblocksPerSecond: Int, _ frameMacroblocks: Int, _ bitrateKbps: Int) {
            self.levelIDC = levelIDC
            self.macroblocksPerSecond = macroblocksPerSecond
            self.frameMacroblocks = frameMacroblocks
            self.bitrateKbps = bitrateKbps
        }
    }

    /// MaxMBPS, MaxFS and MaxBR, lowest level first.
    private static let table: [Row] = [
        Row(10, 1_485, 99, 64),
        Row(9, 1_485, 99, 128),
        Row(11, 3_000, 396, 192),
        Row(12, 6_000, 396, 384),
        Row(13, 11_880, 396, 768),
        Row(20, 11_880, 396, 2_000),
        Row(21, 19_800, 792, 4_000),
        Row(22, 20_250, 1_620, 4_000),
        Row(30, 40_500, 1_620, 10_000),
        Row(31, 108_000, 3_600, 14_000),
        Row(32, 216_000, 5_120, 20_000),
        Row(40, 245_760, 8_192, 20_000),
        Row(41, 245_760, 8_192, 50_000),
        Row(42, 522_240, 8_704, 50_000),
        Row(50, 589_824, 22_080, 135_000),
        Row(51, 983_040, 36_864, 240_000),
        Row(52, 2_073_600, 36_864, 240_000),
        Row(60, 4_177_920, 139_264, 240_000),
        Row(61, 8_355_840, 139_264, 480_000),
        Row(62, 16_711_680, 139_264, 800_000),
    ]
}

/// What an encoder must keep to, so that the peer's decoder follows.
public struct H264Limits: Hashable, Sendable {
    public var macroblocksPerSecond: Int
    /// Macroblocks (16 × 16) of one frame. Neither side of a frame may exceed sqrt(8 × this) macroblocks.
    public var frameMacroblocks: Int
    public var bitrateKbps: Int

    public init(macroblocksPerSecond: Int, frameMacroblocks: Int, bitrateKbps: Int) {
        self.macroblocksPerSecond = macroblocksPerSecond
        self.frameMacroblocks = frameMacroblocks
        self.bitrateKbps = bitrateKbps
    }

    /// Whether frames of this size (pixels, 1...16384) and rate (frames a second, 1...1000) keep to the limits, bitrate
    /// aside (ITU-T H.264 section A.3.1).
    public func allows(width: Int, height: Int, fps: Int) -> Bool {
        guard (1...16_384).contains(width), (1...16_384).contains(height), (1...1_000).contains(fps) else {
            return false
        }
        let columns = (width + 15) / 16
        let rows = (height + 15) / 16
        let frame = columns * rows
        // The rate by division: a product could overflow where Int has 32 bits.
        return frame <= self.frameMacroblocks && frame <= self.macroblocksPerSecond / fps
            && columns * columns <= 8 * self.frameMacroblocks && rows * rows <= 8 * self.frameMacroblocks
    }
}
