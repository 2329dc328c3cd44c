// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV

/// libopus through libavcodec: mono speech at 48 kHz (RFC 7587). Owned by one thread.
final class OpusEncoder {
    /// Frames of one packet.
    let packetFrames: Int
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private var count: Int64 = 0

    private static let bitsPerSecond: Int64 = 32_000
    /// libopus takes 0 to 10; from 5 up speech hardly gains, and small boards feel it.
    private static let complexity: Int32 = 5
    /// What the encoder prepares for, with enough of each packet in the next one to mend a loss.
    private static let expectedLossPercent: Int64 = 5

    /// `packetMs`: 10, 20, 40 or 60.
    init(packetMs: Int) throws(SoundError) {
        self.packetFrames = packetMs * SoundFormat.rate / 1000
        callbox_av_quiet()
        guard let codec = avcodec_find_encoder_by_name("libopus"), let context = avcodec_alloc_context3(codec) else {
            throw SoundError(.unusable, "This libavcodec has no libopus encoder.")
        }
        self.context = context
        self.packet = av_packet_alloc()
        context.pointee.sample_rate = Int32(SoundFormat.rate)
        context.pointee.sample_fmt = AV_SAMPLE_FMT_S16
        context.pointee.bit_rate = Self.bitsPerSecond
        context.pointee.compression_level = Self.complexity
        av_channel_layout_default(&context.pointee.ch_layout, 1)
        _ = callbox_av_private(context, "application", "voip")
        _ = callbox_av_private_int(context, "packet_loss", Self.expectedLossPercent)
        _ = callbox_av_private_int(context, "fec", 1)
        _ = callbox_av_private_float(context, "frame_duration", Double(packetMs))
        guard avcodec_open2(context, codec, nil) == 0, self.packet != nil, self.makeFrame(context) else {
            throw SoundError(.unusable, "The Opus encoder does not open.")
        }
    }

    deinit {
        av_frame_free(&self.frame)
        av_packet_free(&self.packet)
        avcodec_free_context(&self.context)
    }

    /// Exactly `packetFrames` samples to one packet; nil where libopus refuses, which it has no reason to.
    func encode(_ samples: [Int16]) -> [UInt8]? {
        guard samples.count == self.packetFrames, let frame = self.frame, av_frame_make_writable(frame) == 0,
            let data = frame.pointee.data.0
        else { return nil }
        data.withMemoryRebound(to: Int16.self, capacity: samples.count) { target in
            samples.withUnsafeBufferPointer { target.update(from: $0.baseAddress!, count: $0.count) }
        }
        frame.pointee.pts = self.count
        self.count &+= Int64(self.packetFrames)
        guard avcodec_send_frame(self.context, frame) == 0, avcodec_receive_packet(self.context, self.packet) == 0,
            let packet = self.packet
        else { return nil }
        defer { av_packet_unref(packet) }
        return Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
    }

    private func makeFrame(_ context: UnsafeMutablePointer<AVCodecContext>) -> Bool {
        guard let frame = av_frame_alloc() else { return false }
        self.frame = frame
        frame.pointee.nb_samples = Int32(self.packetFrames)
        frame.pointee.format = AV_SAMPLE_FMT_S16.rawValue
        frame.pointee.sample_rate = Int32(SoundFormat.rate)
        return av_channel_layout_copy(&frame.pointee.ch_layout, &context.pointee.ch_layout) == 0
            && av_frame_get_buffer(frame, 0) == 0
    }
}
