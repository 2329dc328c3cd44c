// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import H264
import RTPWire

/// What became of one access unit.
public enum DecodedPicture {
    /// An intact picture.
    case picture(VideoFrame, isKeyFrame: Bool)
    /// Passed over: the decoder waits for a key frame.
    case waiting
    /// Damaged, and not shown: a key frame is needed.
    case broken
    /// Taken in, and nothing came out (parameter sets alone, say).
    case nothing
}

/// libavcodec's H.264 decoder: an access unit in, its picture out at once, or nothing. Owned by one thread.
///
/// A picture that is not wholly intact never comes out. After a damaged one the decoder passes over all until the next
/// key frame, because whatever refers to the damage is damaged too.
public final class H264Decoder {
    private enum State {
        case waitingForKeyFrame
        /// Begun at an intra picture with a recovery point: the first pictures may be damaged or held back.
        case recovering(accessUnitsLeft: Int)
        case decoding
    }

    /// A stream that refreshes by and by is whole after this many pictures, or counts as broken.
    private static let recoveryMax = 120

    private let threads: Int
    private var state = State.waitingForKeyFrame
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private let converter = PictureConverter()

    /// Up to 720p one thread keeps pace on every board, and libavcodec then finds torn and missing slices by itself.
    /// With more it does not, and that rests on `AccessUnit.isComplete` alone.
    private static let samplesOfOneThread = 1280 * 720

    /// `threads`: at most so many slices of a large picture are decoded at the same time.
    public init(threads: Int = 2) throws(CodecError) {
        self.threads = threads
        self.packet = av_packet_alloc()
        self.frame = av_frame_alloc()
        callbox_av_quiet()
        let opened = self.open(samples: 0)
        guard opened == 0, self.packet != nil, self.frame != nil else {
            throw CodecError("H.264 decoder", code: opened)
        }
    }

    /// Threads of the stream now being decoded.
    var threadCount: Int { Int(self.context?.pointee.thread_count ?? 0) }

    deinit {
        av_frame_free(&self.frame)
        av_packet_free(&self.packet)
        avcodec_free_context(&self.context)
    }

    /// Decodes one access unit; `captured` comes back in the picture.
    public func decode(_ unit: AccessUnit, captured: Instant) -> DecodedPicture {
        let units = unit.nalUnits.filter { NALUnitType.isWorthDecoding($0) }
        if case .waitingForKeyFrame = self.state {
            guard unit.isKeyFrame else { return .waiting }
            // Not merely flushed: what a damaged parameter set left behind, such as a reordering delay, has to go too.
            guard self.open(samples: Self.samples(units)) == 0 else { return .broken }
            let isIDR = units.contains { NALUnitType.of($0) == NALUnitType.idrSlice }
            self.state = isIDR ? .decoding : .recovering(accessUnitsLeft: Self.recoveryMax)
        }
        guard units.contains(where: { NALUnitType.isSlice($0) }) else { return .nothing }
        guard unit.isComplete, unit.isKeyFrame || !unit.followsLoss else { return self.broken() }
        let picture = self.decodeIntact(units, captured: captured)
        return self.judge(picture, isKeyFrame: unit.isKeyFrame)
    }

    /// Where nothing was expected to be wrong, no picture means to wait for the next key frame.
    private func judge(_ picture: VideoFrame?, isKeyFrame: Bool) -> DecodedPicture {
        if let picture {
            self.state = .decoding
            return .picture(picture, isKeyFrame: isKeyFrame)
        }
        if case .recovering(let left) = self.state, left > 0 {
            self.state = .recovering(accessUnitsLeft: left - 1)
            return .nothing
        }
        return self.broken()
    }

    private func broken() -> DecodedPicture {
        self.state = .waitingForKeyFrame
        return .broken
    }
}

// MARK: - libavcodec

extension H264Decoder {
    /// A decoder that remembers nothing, for pictures of about so many samples. 0 or AVERROR.
    private func open(samples: Int) -> Int32 {
        avcodec_free_context(&self.context)
        guard let codec = avcodec_find_decoder_by_name("h264"), let context = avcodec_alloc_context3(codec) else {
            return callbox_av_no_memory()
        }
        self.context = context
        context.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY | AV_CODEC_FLAG_UNALIGNED
        context.pointee.thread_type = FF_THREAD_SLICE
        context.pointee.thread_count = samples > Self.samplesOfOneThread ? Int32(min(max(self.threads, 1), 4)) : 1
        context.pointee.max_pixels = Int64(PictureLimits.widthMax * PictureLimits.heightMax)
        context.pointee.err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER
        _ = callbox_av_private_int(context, "skip_gray", 1)
        return avcodec_open2(context, codec, nil)
    }

    /// The size of the pictures that a sequence parameter set among `units` announces; 0 where there is none.
    private static func samples(_ units: [[UInt8]]) -> Int {
        let sets = units.filter { NALUnitType.of($0) == NALUnitType.sequenceParameterSet }
        guard let parsed = sets.first.flatMap({ SequenceParameterSet.parse($0) }) else { return 0 }
        return Int(parsed.width) * Int(parsed.height)
    }

    /// The picture of these units, where one comes out and nothing is wrong with it.
    private func decodeIntact(_ units: [[UInt8]], captured: Instant) -> VideoFrame? {
        guard self.fill(units) else { return nil }
        let sent = avcodec_send_packet(self.context, self.packet)
        av_packet_unref(self.packet)
        guard sent == 0 else { return nil }
        var newest: VideoFrame?
        while true {
            let received = avcodec_receive_frame(self.context, self.frame)
            if received == callbox_av_again() || received == callbox_av_eof() { return newest }
            guard received == 0, let picture = self.takeIntact(captured: captured) else { return nil }
            newest = picture
        }
    }

    /// Puts the units into the packet with start codes and the zero bytes that libavcodec reads past the end.
    private func fill(_ units: [[UInt8]]) -> Bool {
        let size = units.reduce(0) { $0 + $1.count + 4 }
        guard size <= PictureLimits.compressedBytesMax, av_new_packet(self.packet, Int32(size)) == 0,
            let data = self.packet?.pointee.data
        else { return false }
        return AnnexB.write(units, to: data, room: size) == size
    }

    /// The decoded frame as our own, where nothing is wrong with it.
    private func takeIntact(captured: Instant) -> VideoFrame? {
        defer { av_frame_unref(self.frame) }
        guard let frame = self.frame, frame.pointee.decode_error_flags == 0,
            frame.pointee.flags & AV_FRAME_FLAG_CORRUPT == 0,
            PictureLimits.allows(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
        else { return nil }
        if VideoFrame.isOurs(frame.pointee.format) {
            return av_frame_clone(frame).flatMap { VideoFrame(taking: $0, captured: captured) }
        }
        let converted = self.converter.i420(
            from: frame, width: Int(frame.pointee.width), height: Int(frame.pointee.height))
        return converted.flatMap { VideoFrame(taking: $0, captured: captured) }
    }
}
