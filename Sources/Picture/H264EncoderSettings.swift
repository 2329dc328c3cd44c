// SPDX-License-Identifier: Apache-2.0

import Bytes

/// What the encoder makes: constrained baseline H.264 (RFC 6184) without any delay of its own.
public struct H264EncoderSettings: Equatable, Sendable {
    /// How hard libx264 looks for savings; its presets of these names.
    public enum Effort: Equatable, Sendable {
        case ultrafast
        case superfast
        case veryfast
    }

    /// Even; pictures of another size are scaled.
    public var width: Int
    public var height: Int
    /// Of the pictures that come in; others are converted to I420.
    public var format: PictureFormat
    public var rate: FrameRate
    public var bitrateKbps: Int
    /// The largest NAL unit in bytes, for packetization-mode 0, where a NAL unit must fit one packet; nil for no bound.
    public var nalUnitBytesMax: Int?
    /// More than 1 cuts a picture into slices that are encoded at the same time.
    public var threads: Int
    public var effort: Effort
    /// A key frame comes at least this often, for peers that never ask for one.
    public var keyFrameIntervalMs: Int

    public init(
        width: Int, height: Int, format: PictureFormat = .i420, rate: FrameRate = FrameRate(30), bitrateKbps: Int,
        nalUnitBytesMax: Int? = nil, threads: Int = 1, effort: Effort = .superfast, keyFrameIntervalMs: Int = 5000
    ) {
        self.width = width & ~1
        self.height = height & ~1
        self.format = format
        self.rate = rate
        self.bitrateKbps = bitrateKbps
        self.nalUnitBytesMax = nalUnitBytesMax
        self.threads = threads
        self.effort = effort
        self.keyFrameIntervalMs = keyFrameIntervalMs
    }

    public var level: H264Level {
        H264Level.smallest(
            width: self.width, height: self.height, framesPerSecond: self.rate.framesPerSecond,
            bitrateKbps: self.bitrateKbps)
    }
}

/// One encoded picture.
public struct EncodedPicture {
    /// In order, without start codes; an IDR picture brings its SPS and PPS first.
    public let nalUnits: [[UInt8]]
    public let isKeyFrame: Bool
    public let captured: Instant

    public var byteCount: Int { self.nalUnits.reduce(0) { $0 + $1.count } }
}
