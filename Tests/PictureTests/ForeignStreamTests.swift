// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import RTPWire
import XCTest

@testable import Picture

/// Streams that no sender of constrained baseline makes, and that may come all the same.
final class ForeignStreamTests: XCTestCase {
    func testOtherChromaFormatsAndDepthsAreConverted() throws {
        let table = [(AV_PIX_FMT_YUV444P, "high444"), (AV_PIX_FMT_YUV420P10LE, "high10"), (AV_PIX_FMT_GRAY8, "high")]
        for (format, profile) in table {
            let stream = try Self.foreign(format, profile)
            let unit = AccessUnit(nalUnits: AnnexB.nalUnits(in: stream), timestamp: RTPTimestamp(0), isKeyFrame: true)
            guard case .picture(let frame, _) = try H264Decoder().decode(unit, captured: .zero) else {
                XCTFail("no picture from \(profile)")
                continue
            }
            XCTAssertEqual(frame.format, .i420)
            XCTAssertEqual(frame.width, 128)
            XCTAssertEqual(Int(frame.planes.0.bytes![64 * frame.planes.0.stride + 64]), 100, accuracy: 4, profile)
        }
    }

    /// One grey key frame of 128x96 by libx264 in a format that this encoder never makes.
    private static func foreign(_ format: AVPixelFormat, _ profile: String) throws -> [UInt8] {
        let codec = try XCTUnwrap(avcodec_find_encoder_by_name("libx264"))
        var context = avcodec_alloc_context3(codec)
        defer { avcodec_free_context(&context) }
        let open = try XCTUnwrap(context)
        open.pointee.width = 128
        open.pointee.height = 96
        open.pointee.pix_fmt = format
        open.pointee.time_base = AVRational(num: 1, den: 30)
        _ = callbox_av_private(open, "tune", "zerolatency")
        _ = callbox_av_private(open, "profile", profile)
        XCTAssertEqual(avcodec_open2(open, codec, nil), 0, profile)
        var frame = self.grey(format)
        defer { av_frame_free(&frame) }
        XCTAssertEqual(avcodec_send_frame(open, frame), 0)
        var packet = av_packet_alloc()
        defer { av_packet_free(&packet) }
        XCTAssertEqual(avcodec_receive_packet(open, packet), 0)
        return Array(UnsafeBufferPointer(start: packet!.pointee.data, count: Int(packet!.pointee.size)))
    }

    /// Luma 100 of 255, or 400 of 1023 in two bytes; chroma is as it happens to be.
    private static func grey(_ format: AVPixelFormat) -> UnsafeMutablePointer<AVFrame>? {
        guard let frame = FramePool(width: 128, height: 96, format: format).take() else { return nil }
        let isDeep = format == AV_PIX_FMT_YUV420P10LE
        for row in 0..<96 {
            let line = frame.pointee.data.0! + row * Int(frame.pointee.linesize.0)
            for x in 0..<(isDeep ? 256 : 128) { line[x] = isDeep ? [UInt8(400 & 0xFF), UInt8(400 >> 8)][x & 1] : 100 }
        }
        return frame
    }
}
