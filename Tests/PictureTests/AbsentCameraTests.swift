// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import XCTest

@testable import Picture

/// What is sent and known while there is no camera.
final class AbsentCameraTests: XCTestCase {
    private func luma(_ frame: VideoFrame, _ x: Int, _ y: Int) -> UInt8 {
        let plane = frame.planes.0
        return plane.bytes?[y * plane.stride + x] ?? 0
    }

    func testTheCardIsAPictureOfAnySizeWithSomethingBrightOnDark() throws {
        let now = Instant(nanoseconds: 5)
        for (width, height) in [(640, 360), (320, 180), (16, 16), (1280, 720), (180, 320)] {
            let frame = try XCTUnwrap(AbsentCameraCard.frame(width: width, height: height, at: now))
            XCTAssertEqual([frame.width, frame.height], [width, height])
            XCTAssertEqual(frame.captured, now)
            XCTAssertEqual(frame.format, .i420)
            var bright = 0
            for y in 0..<height { for x in 0..<width where self.luma(frame, x, y) > 128 { bright += 1 } }
            let share = Double(bright) / Double(width * height)
            XCTAssertGreaterThan(share, 0.02, "\(width)x\(height)")
            XCTAssertLessThan(share, 0.4, "\(width)x\(height)")
            XCTAssertEqual(self.luma(frame, 0, 0), 40, "the corner is ground")
            XCTAssertEqual(frame.planes.1.bytes?[0], 128)
        }
        XCTAssertNil(AbsentCameraCard.frame(width: 0, height: 360, at: now))
        XCTAssertNil(AbsentCameraCard.frame(width: 100_000, height: 360, at: now))
    }

    func testTheCardIsEncodedAsAKeyFrame() throws {
        let frame = try XCTUnwrap(AbsentCameraCard.frame(width: 320, height: 180, at: Instant(nanoseconds: 1)))
        let encoder = try H264Encoder(
            H264EncoderSettings(width: 320, height: 180, format: .i420, rate: FrameRate(30), bitrateKbps: 500))
        XCTAssertTrue(try XCTUnwrap(try encoder.encode(frame, forceKeyFrame: true)).isKeyFrame)
    }

    func testACameraWithAPathIsThereAsLongAsItsFileIs() throws {
        let path = NSTemporaryDirectory() + "callbox-camera-\(UUID().uuidString)"
        var watch = CameraWatch(ByteString(utf8Of: path))
        XCTAssertTrue(watch.isNeeded)
        XCTAssertFalse(watch.isThere())
        XCTAssertTrue(FileManager.default.createFile(atPath: path, contents: nil))
        XCTAssertTrue(watch.isThere())
        try FileManager.default.removeItem(atPath: path)
        XCTAssertFalse(watch.isThere())
        XCTAssertTrue(watch.sentence.string.contains("is not there"))
    }

    func testWhatIsNoCameraIsNotMissed() {
        for name: ByteString in ["", "none", "file:/nowhere.y4m"] {
            var watch = CameraWatch(name)
            XCTAssertFalse(watch.isNeeded)
            XCTAssertTrue(watch.isThere())
        }
        var absent = CameraWatch("usb-nowhere-9")
        XCTAssertFalse(absent.isThere())
    }
}
