// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import H264
import RTPWire

/// libx264 through libavcodec: one picture in, its NAL units out at once. Owned by one thread.
public final class H264Encoder {
    public private(set) var settings: H264EncoderSettings
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private let converter = PictureConverter()
    private var pacer: FramePacer
    private var owesKeyFrame = false
    private var count: Int64 = 0

    public init(_ settings: H264EncoderSettings) throws(CodecError) {
        self.settings = settings
        self.pacer = FramePacer(rate: settings.rate)
        guard PictureLimits.allows(width: settings.width, height: settings.height), settings.bitrateKbps > 0 else {
            throw CodecError("H.264 encoder: size or bit rate out of range")
        }
        callbox_av_quiet()
        guard let codec = avcodec_find_encoder_by_name("libx264"), let context = avcodec_alloc_context3(codec) else {
            throw CodecError("H.264 encoder: this libavcodec has no libx264")
        }
        self.context = context
        self.packet = av_packet_alloc()
        Self.fill(&context.pointee, settings)
        Self.setOptions(context, settings)
        let opened = avcodec_open2(context, codec, nil)
        guard opened == 0, self.packet != nil else { throw CodecError("H.264 encoder", code: opened) }
    }

    deinit {
        av_packet_free(&self.packet)
        avcodec_free_context(&self.context)
    }

    /// Takes effect with the next picture.
    public func setBitrate(kbps: Int) {
        guard kbps > 0, kbps != self.settings.bitrateKbps, let context = self.context else { return }
        self.settings.bitrateKbps = kbps
        Self.setRateControl(&context.pointee, kbps: kbps)
    }

    /// Encodes one picture; of another size or full range it is converted first.
    ///
    /// A key frame that was asked for with a picture that is passed over comes with the next.
    ///
    /// - Returns: nil where the picture is passed over, because pictures come faster than the rate of the settings.
    public func encode(_ frame: VideoFrame, forceKeyFrame: Bool) throws(CodecError) -> EncodedPicture? {
        self.owesKeyFrame = self.owesKeyFrame || forceKeyFrame
        guard self.pacer.admits(frame.captured), let context = self.context else { return nil }
        var input = self.input(for: frame)
        defer { av_frame_free(&input) }
        guard let picture = input else { throw CodecError("H.264 encoder: the picture cannot be converted") }
        picture.pointee.pts = self.count
        picture.pointee.pict_type = self.owesKeyFrame ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        self.count &+= 1
        self.owesKeyFrame = false
        let sent = avcodec_send_frame(context, picture)
        guard sent == 0 else { throw CodecError("H.264 encoder", code: sent) }
        return try self.receive(context, captured: frame.captured)
    }

    private func receive(
        _ context: UnsafeMutablePointer<AVCodecContext>, captured: Instant
    ) throws(CodecError) -> EncodedPicture? {
        let received = avcodec_receive_packet(context, self.packet)
        if received == callbox_av_again() { return nil }
        guard received == 0, let packet = self.packet else { throw CodecError("H.264 encoder", code: received) }
        defer { av_packet_unref(packet) }
        let stream = UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
        let units = AnnexB.nalUnits(in: stream).filter { NALUnitType.isWorthSending($0) }
        let isKey = units.contains { NALUnitType.of($0) == NALUnitType.idrSlice }
        return units.isEmpty ? nil : EncodedPicture(nalUnits: units, isKeyFrame: isKey, captured: captured)
    }

    /// A frame of the encoder's size and of limited range, which shares memory with `frame` where that fits already.
    private func input(for frame: VideoFrame) -> UnsafeMutablePointer<AVFrame>? {
        let fits = frame.width == self.settings.width && frame.height == self.settings.height
        let isOpenFormat = frame.frame.pointee.format == self.context?.pointee.pix_fmt.rawValue
        if fits && !frame.fullRange && isOpenFormat { return av_frame_clone(frame.frame) }
        return self.converter.i420(from: frame.frame, width: self.settings.width, height: self.settings.height)
    }
}

// MARK: - Options

extension H264Encoder {
    private static func fill(_ context: inout AVCodecContext, _ settings: H264EncoderSettings) {
        context.width = Int32(settings.width)
        context.height = Int32(settings.height)
        context.pix_fmt = settings.format == .nv12 ? AV_PIX_FMT_NV12 : AV_PIX_FMT_YUV420P
        context.color_range = AVCOL_RANGE_MPEG
        context.colorspace = AVCOL_SPC_SMPTE170M
        context.time_base = AVRational(num: Int32(settings.rate.denominator), den: Int32(settings.rate.numerator))
        context.framerate = AVRational(num: Int32(settings.rate.numerator), den: Int32(settings.rate.denominator))
        context.gop_size = Int32(max(settings.rate.framesPerSecond * settings.keyFrameIntervalMs / 1000, 1))
        context.keyint_min = 1
        context.max_b_frames = 0
        context.refs = 1
        context.thread_count = Int32(min(max(settings.threads, 1), 4))
        context.thread_type = settings.threads > 1 ? FF_THREAD_SLICE : 0
        context.level = Int32(settings.level.idc)
        self.setRateControl(&context, kbps: settings.bitrateKbps)
    }

    /// The buffer of the rate control is what a key frame may cost beyond its share: a quarter of a second.
    private static func setRateControl(_ context: inout AVCodecContext, kbps: Int) {
        let bitsPerSecond = Int64(min(kbps, 100_000)) * 1000
        context.bit_rate = bitsPerSecond
        context.rc_max_rate = bitsPerSecond
        context.rc_buffer_size = Int32(bitsPerSecond / 4)
    }

    private static func setOptions(_ context: UnsafeMutablePointer<AVCodecContext>, _ settings: H264EncoderSettings) {
        switch settings.effort {
        case .ultrafast: _ = callbox_av_private(context, "preset", "ultrafast")
        case .superfast: _ = callbox_av_private(context, "preset", "superfast")
        case .veryfast: _ = callbox_av_private(context, "preset", "veryfast")
        }
        _ = callbox_av_private(context, "tune", "zerolatency")
        _ = callbox_av_private(context, "profile", "baseline")
        _ = callbox_av_private_int(context, "forced-idr", 1)
        // Key frames come when asked for, not when the picture changes: a cut costs what it costs.
        _ = callbox_av_private(context, "x264-params", "scenecut=0:intra-refresh=0:repeat-headers=1")
        if let bound = settings.nalUnitBytesMax {
            _ = callbox_av_private_int(context, "slice-max-size", Int64(bound))
        }
    }
}
