// SPDX-License-Identifier: Apache-2.0

/// Every bound of this module.
public enum RTPLimits {
    /// Longest datagram read as RTP or RTCP: all that UDP carries, for peers that send a NAL unit in one piece whatever
    /// its length (packetization-mode 0).
    public static let datagramBytesMax = 65_535
    /// Packets taken from one RTCP compound.
    public static let compoundPacketsMax = 32
    /// Sequence numbers taken from one NACK.
    public static let nackedMax = 512
    /// Bounds taken from one request or notice of rates.
    public static let rateBoundsMax = 32
    /// NAL units of one access unit.
    public static let nalUnitsMax = 512
    /// Bytes of one access unit: several times the largest key frame of level 4.0.
    public static let accessUnitBytesMax = 2 * 1024 * 1024
    /// Sequence and picture parameter sets remembered, of each kind.
    public static let parameterSetsMax = 8
}
