// SPDX-License-Identifier: Apache-2.0

/// NAL unit types that matter here (H.264 table 7-1).
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

    /// The type of a NAL unit or payload: the low five bits of its first byte.
    public static func of(_ firstByte: UInt8) -> UInt8 {
        firstByte & 0x1F
    }
}

/// Every bound of this module.
public enum H264Limits {
    /// Bytes of a parameter set or SEI that are read.
    public static let parameterSetBytesMax = 1024
    /// Bytes of a slice in which its header has to end: 64 weights of both chromas take at most 1.6 KiB.
    public static let sliceHeaderBytesMax = 2560
    /// Reference indices of one list (H.264 section 7.4.3: 32 for fields).
    public static let referencesMax = 32
    /// Frames of the decoded picture buffer (H.264 section A.3.1).
    public static let framesMax = 16
    /// Commands of one reference list modification: one for each entry, in a field two.
    public static let modificationsMax = 66
    /// Commands of one decoded reference picture marking: each field of each frame, and what is set for all.
    public static let markingsMax = 70
    /// Slices of one picture.
    public static let slicesMax = 512
    /// Picture parameter sets that are remembered; ids are below 256.
    public static let pictureParameterSetsMax = 32
    /// A side of a picture, in pixels; above it is taken for broken.
    public static let sideMax = 16384
}
