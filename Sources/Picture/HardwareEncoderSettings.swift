// SPDX-License-Identifier: Apache-2.0

import Bytes
import CV4L2
import H264

/// What an encoder in hardware is to make: H.264 of the constrained baseline profile, or another coded format with what
/// of this it understands.
public struct HardwareEncoderSettings: Equatable, Sendable {
    /// One of V4L2_PIX_FMT_*.
    public var coded: UInt32
    /// Even.
    public var width: Int
    public var height: Int
    public var rate: FrameRate
    public var bitrateKbps: Int
    /// A key frame comes at least this often, for peers that never ask for one.
    public var keyFrameIntervalMs: Int

    public init(
        coded: UInt32 = V4L2StatefulDecoder.Wishes.h264, width: Int, height: Int, rate: FrameRate = FrameRate(30),
        bitrateKbps: Int, keyFrameIntervalMs: Int = 5000
    ) {
        self.coded = coded
        self.width = width & ~1
        self.height = height & ~1
        self.rate = rate
        self.bitrateKbps = bitrateKbps
        self.keyFrameIntervalMs = keyFrameIntervalMs
    }

    var level: H264Level {
        H264Level.smallest(
            width: self.width, height: self.height, framesPerSecond: self.rate.framesPerSecond,
            bitrateKbps: self.bitrateKbps)
    }

    /// Pictures from one key frame to the next.
    var groupLength: Int32 {
        let pictures = Int64(self.rate.framesPerSecond) * Int64(clamping: self.keyFrameIntervalMs) / 1000
        return Int32(clamping: max(pictures, 1))
    }
}

extension V4L2Device {
    /// Tells an encoder all of the settings that it has a control for; none of them is worth doing without it.
    func apply(_ settings: HardwareEncoderSettings) {
        if settings.coded == V4L2StatefulDecoder.Wishes.h264 {
            let isConstrained = self.set(
                Int(V4L2_CID_MPEG_VIDEO_H264_PROFILE),
                Int32(V4L2_MPEG_VIDEO_H264_PROFILE_CONSTRAINED_BASELINE.rawValue))
            if !isConstrained {
                self.set(
                    Int(V4L2_CID_MPEG_VIDEO_H264_PROFILE), Int32(V4L2_MPEG_VIDEO_H264_PROFILE_BASELINE.rawValue))
            }
            if let level = Self.number(of: settings.level) { self.set(Int(V4L2_CID_MPEG_VIDEO_H264_LEVEL), level) }
            self.set(Int(V4L2_CID_MPEG_VIDEO_H264_I_PERIOD), settings.groupLength)
        }
        self.set(Int(V4L2_CID_MPEG_VIDEO_B_FRAMES), 0)
        self.set(Int(V4L2_CID_MPEG_VIDEO_GOP_SIZE), settings.groupLength)
        self.set(Int(V4L2_CID_MPEG_VIDEO_FRAME_RC_ENABLE), 1)
        self.set(
            Int(V4L2_CID_MPEG_VIDEO_BITRATE_MODE), Int32(V4L2_MPEG_VIDEO_BITRATE_MODE_CBR.rawValue))
        self.setBitrate(kbps: settings.bitrateKbps)
        // Parameter sets lie before each key frame, in the same buffer: a peer may come in at any of them.
        self.set(
            Int(V4L2_CID_MPEG_VIDEO_HEADER_MODE),
            Int32(V4L2_MPEG_VIDEO_HEADER_MODE_JOINED_WITH_1ST_FRAME.rawValue))
        if !self.set(Int(V4L2_CID_MPEG_VIDEO_PREPEND_SPSPPS_TO_IDR), 1) {
            self.set(Int(V4L2_CID_MPEG_VIDEO_REPEAT_SEQ_HEADER), 1)
        }
    }

    @discardableResult
    func setBitrate(kbps: Int) -> Bool {
        self.set(Int(V4L2_CID_MPEG_VIDEO_BITRATE), Int32(clamping: min(max(kbps, 1), 100_000) * 1000))
    }

    /// The kernel's number of a level (v4l2_mpeg_video_h264_level); nil for those that we never ask for.
    static func number(of level: H264Level) -> Int32? {
        let levels: [(UInt8, v4l2_mpeg_video_h264_level)] = [
            (12, V4L2_MPEG_VIDEO_H264_LEVEL_1_2), (13, V4L2_MPEG_VIDEO_H264_LEVEL_1_3),
            (20, V4L2_MPEG_VIDEO_H264_LEVEL_2_0), (21, V4L2_MPEG_VIDEO_H264_LEVEL_2_1),
            (22, V4L2_MPEG_VIDEO_H264_LEVEL_2_2), (30, V4L2_MPEG_VIDEO_H264_LEVEL_3_0),
            (31, V4L2_MPEG_VIDEO_H264_LEVEL_3_1), (32, V4L2_MPEG_VIDEO_H264_LEVEL_3_2),
            (40, V4L2_MPEG_VIDEO_H264_LEVEL_4_0), (42, V4L2_MPEG_VIDEO_H264_LEVEL_4_2),
            (51, V4L2_MPEG_VIDEO_H264_LEVEL_5_1),
        ]
        return levels.first { $0.0 == level.idc }.map { Int32($0.1.rawValue) }
    }
}

/// Sees to it that each key frame brings its parameter sets, also from encoders that give them once.
struct ParameterSets {
    private var sequence: [UInt8]?
    private var picture: [UInt8]?

    /// The units of one buffer as they are to be sent; empty where it holds parameter sets alone.
    mutating func complete(_ units: [[UInt8]]) -> [[UInt8]] {
        for unit in units {
            if NALUnitType.of(unit) == NALUnitType.sequenceParameterSet { self.sequence = unit }
            if NALUnitType.of(unit) == NALUnitType.pictureParameterSet { self.picture = unit }
        }
        guard let first = units.firstIndex(where: { NALUnitType.isSlice($0) }) else { return [] }
        let isKeyFrame = units.contains { NALUnitType.of($0) == NALUnitType.idrSlice }
        let brings = units[..<first].contains { NALUnitType.of($0) == NALUnitType.sequenceParameterSet }
        guard isKeyFrame, !brings, let sequence = self.sequence, let picture = self.picture else { return units }
        return [sequence, picture] + units.filter { NALUnitType.isSlice($0) }
    }
}
