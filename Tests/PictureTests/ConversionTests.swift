// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import XCTest

@testable import Picture

final class ConversionTests: XCTestCase {
    func testFullRangeIsBroughtToLimitedRange() throws {
        let source = TestPictures.frame(64, 48, fullRange: true)
        let converter = PictureConverter()
        let copy = try XCTUnwrap(converter.i420(from: source.frame, width: 64, height: 48))
        let frame = try XCTUnwrap(VideoFrame(taking: copy, captured: .zero))
        XCTAssertFalse(frame.fullRange)
        for (x, y) in [(0, 0), (63, 47), (30, 30)] {
            let full = Double(TestPictures.luma(x, y, 0))
            let limited = Double(frame.planes.0.bytes![y * frame.planes.0.stride + x])
            XCTAssertEqual(limited, 16 + full * 219 / 255, accuracy: 2)
        }
    }

    func testYUYVBecomesTheSamePicture() throws {
        let width = 64
        let height = 32
        let source = try XCTUnwrap(FramePool(width: width, height: height, format: AV_PIX_FMT_YUYV422).take())
        let stride = Int(source.pointee.linesize.0)
        for y in 0..<height {
            for x in 0..<width {
                source.pointee.data.0![y * stride + 2 * x] = TestPictures.luma(x, y, 0)
                let chroma = x & 1 == 0 ? TestPictures.blue(x / 2, y / 2, 0) : TestPictures.red(x / 2, y / 2, 0)
                source.pointee.data.0![y * stride + 2 * x + 1] = chroma
            }
        }
        let copy = try XCTUnwrap(PictureConverter().i420(from: source, width: width, height: height))
        let frame = try XCTUnwrap(VideoFrame(taking: copy, captured: .zero))
        let quality = TestPictures.psnr(frame, step: 0)
        XCTAssertGreaterThan(quality.luma, 60)
        XCTAssertGreaterThan(quality.chroma, 45)
    }

    func testMemoryIsUsedAgain() throws {
        let pool = FramePool(width: 640, height: 360)
        var places: Set<UnsafeMutablePointer<UInt8>> = []
        for _ in 0..<20 {
            let picture = try XCTUnwrap(pool.take())
            places.insert(picture.pointee.data.0!)
            _ = VideoFrame(taking: picture, captured: .zero)
        }
        XCTAssertEqual(places.count, 1)
    }

    func testAFrameOutlivesItsPool() throws {
        var pool: FramePool? = FramePool(width: 64, height: 48)
        let frame = try XCTUnwrap(VideoFrame(taking: try XCTUnwrap(pool?.take()), captured: .zero))
        pool = nil
        let bytes = UnsafeMutablePointer(mutating: frame.planes.0.bytes!)
        bytes.update(repeating: 5, count: frame.planes.0.stride * 48)
        XCTAssertEqual(frame.planes.0.bytes![47 * frame.planes.0.stride], 5)
    }

    func testSizesOutOfBoundsAreNotConverted() {
        let source = TestPictures.frame(64, 48)
        XCTAssertNil(PictureConverter().i420(from: source.frame, width: 0, height: 48))
        XCTAssertNil(PictureConverter().i420(from: source.frame, width: 8192, height: 48))
    }

    // MARK: - JPEG

    /// A JPEG picture by FFmpeg's encoder.
    private func jpeg(_ width: Int, _ height: Int) throws -> [UInt8] {
        let codec = try XCTUnwrap(avcodec_find_encoder_by_name("mjpeg"))
        var context = avcodec_alloc_context3(codec)
        defer { avcodec_free_context(&context) }
        let open = try XCTUnwrap(context)
        open.pointee.width = Int32(width)
        open.pointee.height = Int32(height)
        open.pointee.pix_fmt = AV_PIX_FMT_YUVJ420P
        open.pointee.time_base = AVRational(num: 1, den: 30)
        open.pointee.flags |= AV_CODEC_FLAG_QSCALE
        open.pointee.global_quality = 2 * FF_QP2LAMBDA
        XCTAssertEqual(avcodec_open2(open, codec, nil), 0)
        let source = TestPictures.frame(width, height, fullRange: true)
        source.frame.pointee.quality = 2 * FF_QP2LAMBDA
        source.frame.pointee.format = AV_PIX_FMT_YUVJ420P.rawValue
        XCTAssertEqual(avcodec_send_frame(open, source.frame), 0)
        var packet = av_packet_alloc()
        defer { av_packet_free(&packet) }
        XCTAssertEqual(avcodec_receive_packet(open, packet), 0)
        let bytes = try XCTUnwrap(packet)
        return Array(UnsafeBufferPointer(start: bytes.pointee.data, count: Int(bytes.pointee.size)))
    }

    func testAJPEGPictureIsDecoded() throws {
        let decoder = try MotionJPEGDecoder()
        let bytes = try self.jpeg(320, 240)
        let picture = try XCTUnwrap(bytes.withUnsafeBytes { decoder.decode($0) })
        let frame = try XCTUnwrap(VideoFrame(taking: picture, captured: .zero))
        XCTAssertTrue(frame.fullRange)
        XCTAssertGreaterThan(TestPictures.psnr(frame, step: 0).luma, 32)
    }

    func testDamagedJPEGNeverCrashes() throws {
        let decoder = try MotionJPEGDecoder()
        let good = try self.jpeg(160, 120)
        var generator = Generator(seed: 6)
        for _ in 0..<1500 {
            let damaged = Mutation.damaged([good, good, good], &generator)[0]
            var picture = damaged.withUnsafeBytes { decoder.decode($0) }
            av_frame_free(&picture)
        }
        XCTAssertNil([UInt8]().withUnsafeBytes { decoder.decode($0) })
        let intact = good.withUnsafeBytes { decoder.decode($0) }
        XCTAssertNotNil(intact.flatMap { VideoFrame(taking: $0, captured: .zero) })
    }
}
