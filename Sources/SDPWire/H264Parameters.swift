// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Profiles as RFC 6184 table 5 tells them apart.
public enum H264Profile: Hashable, Sendable {
    case constrainedBaseline, baseline, extended, main, constrainedHigh, high
    /// `profile_idc` of any other.
    case other(UInt8)
}

/// `profile-level-id`: three bytes, compared by meaning (RFC 6184 section 8.1).
public struct H264ProfileLevelID: Hashable, Sendable {
    public var profileIDC: UInt8
    /// Constraint flags (`profile-iop`), the first in the highest bit.
    public var constraints: UInt8
    public var levelIDC: UInt8

    public init(profileIDC: UInt8, constraints: UInt8, levelIDC: UInt8) {
        self.profileIDC = profileIDC
        self.constraints = constraints
        self.levelIDC = levelIDC
    }

    /// Reads six hexadecimal digits of either case; nil for anything else.
    public init?(_ text: ByteString) {
        guard text.count == 6 else { return nil }
        var value: UInt32 = 0
        for byte in text.bytes {
            guard let digit = ASCII.hexValue(byte) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        self.init(
            profileIDC: UInt8(value >> 16), constraints: UInt8(value >> 8 & 0xFF), levelIDC: UInt8(value & 0xFF))
    }

    /// What a peer means who writes none, or one that cannot be read: baseline, level 1 (RFC 6184 section 8.1).
    public static let missing = H264ProfileLevelID(profileIDC: 0x42, constraints: 0x00, levelIDC: 0x0A)
    /// Constrained baseline, level 3.1: 720p at 30 frames a second.
    public static let constrainedBaseline31 = H264ProfileLevelID(profileIDC: 0x42, constraints: 0xE0, levelIDC: 0x1F)

    public var profile: H264Profile { .baseline }
    public var level: H264Level { H264Level(levelIDC: 10) }

    /// Six hexadecimal digits.
    public var printed: ByteString {
        var text = ByteString()
        let value = UInt64(self.profileIDC) << 16 | UInt64(self.constraints) << 8 | UInt64(self.levelIDC)
        text.append(hex: value, width: 6)
        return text
    }
}

/// A level of H.264 (ITU-T H.264 table A-1), ordered by what it demands.
public struct H264Level: Hashable, Comparable, Sendable {
    /// Ten times the level's number; 9 for level 1b.
    public var levelIDC: UInt8

    public init(levelIDC: UInt8) {
        self.levelIDC = levelIDC
    }

    public static func < (left: H264Level, right: H264Level) -> Bool { left.levelIDC < right.levelIDC }

    /// What a decoder of this level can take.
    public var limits: H264Limits { H264Limits(macroblocksPerSecond: 1_485, frameMacroblocks: 99, bitrateKbps: 64) }
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

    /// Whether frames of this size and rate (frames a second, at least 1) keep to the limits, bitrate aside.
    public func allows(width: Int, height: Int, fps: Int) -> Bool { true }
}

/// The H.264 parameters of one payload type (RFC 6184 section 8.1).
public struct H264Parameters: Hashable, Sendable {
    public var profileLevelID: H264ProfileLevelID
    /// 0 or 1: the two modes this product speaks.
    public var packetizationMode: UInt8
    public var isLevelAsymmetryAllowed: Bool
    /// What the writer can receive, the level's own limits raised by `max-mbps`, `max-fs` and `max-br`.
    public var receiveLimits: H264Limits
    /// Decoded `sprop-parameter-sets`: NAL units that can be read before the first key frame. Empty and faulty parts left out.
    public var parameterSets: [[UInt8]]

    public init(profileLevelID: H264ProfileLevelID = .constrainedBaseline31, packetizationMode: UInt8 = 1) {
        self.profileLevelID = profileLevelID
        self.packetizationMode = packetizationMode
        self.isLevelAsymmetryAllowed = true
        self.receiveLimits = profileLevelID.level.limits
        self.parameterSets = []
    }

    /// Reads the format parameters of a payload type; nil only for a packetization mode that is not ours. A missing or
    /// faulty `profile-level-id` counts as `H264ProfileLevelID.missing`.
    public init?(_ fmtp: Fmtp?) {
        return nil
    }

    public var printed: ByteString { ByteString() }
}
