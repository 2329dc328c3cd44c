// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV

/// JPEG pictures as cameras send them, Huffman tables left out or not. Owned by one thread.
final class MotionJPEGDecoder {
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?

    init() throws(CodecError) {
        callbox_av_quiet()
        guard let codec = avcodec_find_decoder_by_name("mjpeg"), let context = avcodec_alloc_context3(codec) else {
            throw CodecError("JPEG decoder: this libavcodec has none")
        }
        self.context = context
        self.packet = av_packet_alloc()
        context.pointee.thread_count = 1
        context.pointee.max_pixels = Int64(PictureLimits.widthMax * PictureLimits.heightMax)
        let opened = avcodec_open2(context, codec, nil)
        guard opened == 0, self.packet != nil else { throw CodecError("JPEG decoder", code: opened) }
    }

    deinit {
        av_packet_free(&self.packet)
        avcodec_free_context(&self.context)
    }

    /// The picture, which the caller frees; nil where it is damaged or too large.
    func decode(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutablePointer<AVFrame>? {
        guard let source = bytes.baseAddress, bytes.count > 0, bytes.count <= PictureLimits.compressedBytesMax,
            av_new_packet(self.packet, Int32(bytes.count)) == 0, let packet = self.packet
        else { return nil }
        packet.pointee.data.update(from: source.assumingMemoryBound(to: UInt8.self), count: bytes.count)
        let sent = avcodec_send_packet(self.context, packet)
        av_packet_unref(packet)
        var frame = av_frame_alloc()
        guard sent == 0, let picture = frame, avcodec_receive_frame(self.context, picture) == 0,
            picture.pointee.decode_error_flags == 0,
            PictureLimits.allows(width: Int(picture.pointee.width), height: Int(picture.pointee.height))
        else {
            av_frame_free(&frame)
            return nil
        }
        // JPEG is of full range (JFIF), whatever the camera leaves unsaid.
        picture.pointee.color_range = AVCOL_RANGE_JPEG
        return picture
    }
}
