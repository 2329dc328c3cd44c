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
