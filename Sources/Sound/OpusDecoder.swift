// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV

/// libopus through libavcodec: any Opus packet to mono at 48 kHz. Owned by one thread.
final class OpusDecoder {
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    /// RFC 6716 section 3.4: 61 ms of the fullest packets, with room.
    private static let packetBytesMax = 8192
    /// 120 ms.
    private static let packetFramesMax = 5760

    init() throws(SoundError) {
        callbox_av_quiet()
        guard let codec = avcodec_find_decoder_by_name("libopus"), let context = avcodec_alloc_context3(codec) else {
            throw SoundError(.unusable, "This libavcodec has no libopus decoder.")
        }
        self.context = context
        self.packet = av_packet_alloc()
        self.frame = av_frame_alloc()
        context.pointee.sample_rate = Int32(SoundFormat.rate)
        context.pointee.request_sample_fmt = AV_SAMPLE_FMT_S16
        // libopus mixes a stereo packet down by itself when it is opened for one channel.
        av_channel_layout_default(&context.pointee.ch_layout, 1)
        guard avcodec_open2(context, codec, nil) == 0, self.packet != nil, self.frame != nil else {
            throw SoundError(.unusable, "The Opus decoder does not open.")
        }
    }

    deinit {
        av_frame_free(&self.frame)
        av_packet_free(&self.packet)
        avcodec_free_context(&self.context)
    }

    /// The samples of one packet; nil where it is damaged.
    func decode(_ payload: [UInt8]) -> [Int16]? {
        guard !payload.isEmpty, payload.count <= Self.packetBytesMax,
            av_new_packet(self.packet, Int32(payload.count)) == 0, let packet = self.packet, let frame = self.frame
        else { return nil }
        payload.withUnsafeBufferPointer { packet.pointee.data.update(from: $0.baseAddress!, count: $0.count) }
        let sent = avcodec_send_packet(self.context, packet)
        av_packet_unref(packet)
        guard sent == 0, avcodec_receive_frame(self.context, frame) == 0 else { return nil }
        defer { av_frame_unref(frame) }
        let count = Int(frame.pointee.nb_samples)
        guard frame.pointee.format == AV_SAMPLE_FMT_S16.rawValue, frame.pointee.ch_layout.nb_channels == 1, count > 0,
            count <= Self.packetFramesMax, let data = frame.pointee.data.0
        else { return nil }
        return data.withMemoryRebound(to: Int16.self, capacity: count) {
            Array(UnsafeBufferPointer(start: $0, count: count))
        }
    }
}
