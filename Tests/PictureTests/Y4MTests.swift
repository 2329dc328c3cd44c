// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import Picture

final class Y4MTests: XCTestCase {
    private func error(_ line: ByteString) -> String? {
        do {
            _ = try Y4MHeader(line: line)
            return nil
        } catch {
            return error.text.string
        }
    }

    func testAHeaderIsRead() throws {
        let header = try Y4MHeader(line: "YUV4MPEG2 W640 H360 F30000:1001 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2")
        XCTAssertEqual(header.width, 640)
        XCTAssertEqual(header.height, 360)
        XCTAssertEqual(header.rate, FrameRate(30000, over: 1001))
        XCTAssertEqual(header.frameBytes, 640 * 360 * 3 / 2)
        XCTAssertFalse(header.fullRange)
    }

    func testHostileHeadersAreRefusedWithASentence() {
        let lines: [ByteString] = [
            "", "RIFF", "YUV4MPEG", "YUV4MPEG2", "YUV4MPEG2 W640", "YUV4MPEG2 W0 H0 F30:1", "YUV4MPEG2 W-1 H360",
            "YUV4MPEG2 W99999999999999999999 H360", "YUV4MPEG2 W65535 H65535", "YUV4MPEG2 W4097 H360",
            "YUV4MPEG2 W640 H360 F0:1", "YUV4MPEG2 W640 H360 F1:0", "YUV4MPEG2 W640 H360 F30", "YUV4MPEG2 W640 H360 F:",
            "YUV4MPEG2 W640 H360 F999999:1", "YUV4MPEG2 W640 H360 F1:999999", "YUV4MPEG2 W640 H360 C444",
            "YUV4MPEG2 W640 H360 C420p10", "YUV4MPEG2 W640 H360 Cmono", "YUV4MPEG2  W 640 H 360",
        ]
        for line in lines { XCTAssertNotNil(self.error(line), line.string) }
    }

    func testRandomHeadersNeverCrash() {
        var generator = Generator(seed: 3)
        let good = ByteString("YUV4MPEG2 W640 H360 F30:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL")
        for _ in 0..<5000 {
            var line = good
            for _ in 0...generator.below(4) {
                line.bytes[Int(generator.below(UInt64(line.count)))] = UInt8(truncatingIfNeeded: generator.next())
            }
            _ = self.error(line.slice(0..<Int(generator.below(80))))
        }
    }

    // MARK: - The file as camera

    private func write(_ header: String, frames: [UInt8], size: Int, name: String = #function) throws -> ByteString {
        var bytes = Array(header.utf8) + [0x0A]
        for value in frames { bytes += Array("FRAME\n".utf8) + [UInt8](repeating: value, count: size) }
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".y4m")
        try Data(bytes).write(to: url)
        self.addTeardownBlock { try? FileManager.default.removeItem(at: url) }
        return ByteString(utf8Of: url.path)
    }

    private let wish = CameraWish(width: 640, height: 360, rate: FrameRate(30))

    func testAFileIsPlayedAtItsRateAndOverAgain() throws {
        let path = try self.write("YUV4MPEG2 W32 H18 F100:1", frames: [10, 20, 30], size: 32 * 18 * 3 / 2)
        var now = Instant(nanoseconds: 1_000_000_000)
        let camera = try Camera(ByteString("file:") + path, wish: self.wish, clock: { now })
        XCTAssertEqual(camera.mode?.width, 32)
        var values: [UInt8] = []
        for _ in 0..<7 {
            let frame = try XCTUnwrap(try camera.next(timeLimitMs: 0))
            XCTAssertEqual(frame.captured, now)
            values.append(frame.planes.0.bytes![0])
            XCTAssertNil(try camera.next(timeLimitMs: 0), "not before its time")
            now = now + .milliseconds(10)
        }
        XCTAssertEqual(values, [10, 20, 30, 10, 20, 30, 10])
    }

    func testOddSizesAreCutToEvenOnes() throws {
        let path = try self.write("YUV4MPEG2 W33 H19 F25:1", frames: [77], size: 33 * 19 + 2 * 17 * 10)
        let camera = try Camera(ByteString("file:") + path, wish: self.wish, clock: { .zero })
        let frame = try XCTUnwrap(try camera.next(timeLimitMs: 0))
        XCTAssertEqual(frame.width, 32)
        XCTAssertEqual(frame.height, 18)
    }

    func testFilesThatCannotBeUsedSayWhy() throws {
        let torn = try self.write("YUV4MPEG2 W32 H18 F25:1", frames: [1], size: 100)
        let camera = try Camera(ByteString("file:") + torn, wish: self.wish, clock: { .zero })
        XCTAssertThrowsError(try camera.next(timeLimitMs: 0)) { error in
            XCTAssertEqual((error as? CameraError)?.kind, .lost)
        }
        let wrong = try self.write("GIF89a", frames: [], size: 0)
        XCTAssertThrowsError(try Camera(ByteString("file:") + wrong, wish: self.wish, clock: { .zero })) { error in
            XCTAssertEqual((error as? CameraError)?.kind, .unusable)
        }
        XCTAssertThrowsError(try Camera("file:/nowhere.y4m", wish: self.wish, clock: { .zero })) { error in
            XCTAssertEqual((error as? CameraError)?.kind, .missing)
        }
    }

    func testNoCameraGivesNothing() throws {
        let camera = try Camera("none", wish: self.wish, clock: { .zero })
        XCTAssertNil(camera.mode)
        XCTAssertNil(try camera.next(timeLimitMs: 0))
    }

    func testACameraThatIsNotThereIsNamed() {
        for name: ByteString in ["platform-nowhere-video-index0", "/dev/nowhere", "usb-0000:00:14.0-9"] {
            XCTAssertThrowsError(try Camera(name, wish: self.wish, clock: { .zero })) { error in
                let fault = error as? CameraError
                XCTAssertEqual(fault?.kind, .missing)
                XCTAssertEqual(fault?.text.string, "The camera \"\(name.string)\" is not there.")
            }
        }
    }
}
