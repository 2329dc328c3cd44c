// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Profiles as RFC 6184 table 5 tells them apart.
public enum H264Profile: Hashable, Sendable {
    case constrainedBaseline, baseline, extended, main, constrainedHigh, high
    /// `profile_idc` of any other.
    case other(UInt8)

    /// Whether both mean the same. Baseline is in practice constrained baseline, with the flag forgotten.
    public func isSame(as other: H264Profile) -> Bool {
        self.withFlag == other.withFlag
    }

    private var withFlag: H264Profile {
        switch self {
        case .baseline: return .constrainedBaseline
        case .constrainedBaseline, .extended, .main, .constrainedHigh, .high, .other: return self
        }
    }
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
    public static let constrainedBaseline31 = constrainedBaseline(H264Level(levelIDC: 31))

    public static func constrainedBaseline(_ level: H264Level) -> H264ProfileLevelID {
        H264ProfileLevelID(profileIDC: 0x42, constraints: 0xE0, levelIDC: level.levelIDC)
    }

    /// RFC 6184 table 5. The reserved low bits of the flags do not count for the profiles that know none.
    public var profile: H264Profile {
        let isSet = (0..<3).map { self.constraints & (0x80 >> $0) != 0 }
        switch self.profileIDC {
        case 0x42: return isSet[1] ? .constrainedBaseline : .baseline
        case 0x4D: return isSet[0] ? .constrainedBaseline : .main
        case 0x58:
            if isSet[0] { return isSet[1] ? .constrainedBaseline : .baseline }
            return .extended
        case 0x64: return self.constraints & 0x0C == 0x0C ? .constrainedHigh : .high
        default: return .other(self.profileIDC)
        }
    }

    /// Level 1b has two spellings: 9, or 11 with the fourth flag in the older profiles (ITU-T H.264 section A.3.1).
    public var level: H264Level {
        let isOlder = self.profileIDC == 0x42 || self.profileIDC == 0x4D || self.profileIDC == 0x58
        if isOlder && self.levelIDC == 11 && self.constraints & 0x10 != 0 { return .level1b }
        return H264Level(levelIDC: self.levelIDC)
    }

    /// Six hexadecimal digits.
    public var printed: ByteString {
        var text = ByteString()
        let value = UInt64(self.profileIDC) << 16 | UInt64(self.constraints) << 8 | UInt64(self.levelIDC)
        text.append(hex: value, width: 6)
        return text
    }
}
