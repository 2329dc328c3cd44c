// SPDX-License-Identifier: Apache-2.0

/// One coded picture: all NAL units that share a timestamp (RFC 6184 section 5.1).
public struct AccessUnit: Sendable {
    /// Without start codes, each at least one byte. A key frame begins with the parameter sets it needs.
    public var nalUnits: [[UInt8]]
    /// 90 kHz.
    public var timestamp: RTPTimestamp
    /// Decoding can begin here: an IDR picture (or an intra picture with a recovery point) whose SPS and PPS are known.
    public var isKeyFrame: Bool
    /// No packet of it is missing.
    public var isComplete: Bool
    /// Packets were lost between the access unit before and this one: what it refers to may be missing.
    public var followsLoss: Bool
    /// When its last packet came, in nanoseconds of `Instant`; 0 where not known.
    public var arrivedNanoseconds: UInt64 = 0

    public init(
        nalUnits: [[UInt8]], timestamp: RTPTimestamp, isKeyFrame: Bool, isComplete: Bool = true,
        followsLoss: Bool = false
    ) {
        self.nalUnits = nalUnits
        self.timestamp = timestamp
        self.isKeyFrame = isKeyFrame
        self.isComplete = isComplete
        self.followsLoss = followsLoss
    }

    /// All NAL units in the byte stream format of H.264 annex B, each after a four-byte start code.
    public func annexB() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.nalUnits.reduce(0) { $0 + $1.count + 4 })
        for nalUnit in self.nalUnits {
            bytes.append(contentsOf: [0, 0, 0, 1])
            bytes.append(contentsOf: nalUnit)
        }
        return bytes
    }
}

/// NAL unit types that matter here (H.264 table 7-1, RFC 6184 table 1).
public enum NALUnitType {
    public static let slice: UInt8 = 1
    public static let dataPartitionA: UInt8 = 2
    public static let dataPartitionC: UInt8 = 4
    public static let idrSlice: UInt8 = 5
    public static let sei: UInt8 = 6
    public static let sequenceParameterSet: UInt8 = 7
    public static let pictureParameterSet: UInt8 = 8
    public static let accessUnitDelimiter: UInt8 = 9
    public static let fillerData: UInt8 = 12
    public static let stapA: UInt8 = 24
    public static let fuA: UInt8 = 28

    /// The type of a NAL unit or payload: the low five bits of its first byte.
    public static func of(_ firstByte: UInt8) -> UInt8 {
        firstByte & 0x1F
    }
}
