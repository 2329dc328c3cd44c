// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import Picture

final class CameraChoiceTests: XCTestCase {
    private func mode(_ format: CameraFormat, _ width: Int, _ height: Int, _ rate: Int?) -> CameraMode {
        CameraMode(format: format, width: width, height: height, rate: rate.map { FrameRate($0) })
    }

    private let wish = CameraWish(width: 1280, height: 720, rate: FrameRate(30))

    func testFormatsGoByTheirCostWhereSizeAndRateAreRight() {
        let modes = [
            self.mode(.mjpeg, 1280, 720, 30), self.mode(.yuyv, 1280, 720, 30), self.mode(.nv12, 1280, 720, 30),
        ]
        XCTAssertEqual(CameraChoice.best(of: modes, for: self.wish)?.format, .nv12)
        XCTAssertEqual(CameraChoice.best(of: Array(modes[..<2]), for: self.wish)?.format, .yuyv)
    }

    func testAUSBCameraThatIsFastOnlyInJPEGSendsJPEG() {
        let modes = [self.mode(.yuyv, 1280, 720, 10), self.mode(.yuyv, 640, 480, 30), self.mode(.mjpeg, 1280, 720, 30)]
        XCTAssertEqual(CameraChoice.best(of: modes, for: self.wish), modes[2])
    }

    func testTheSmallestSizeThatCoversTheWishIsTaken() {
        let modes = [self.mode(.nv12, 1920, 1080, 30), self.mode(.nv12, 640, 360, 30), self.mode(.nv12, 1280, 960, 30)]
        XCTAssertEqual(CameraChoice.best(of: modes, for: self.wish), modes[2])
    }

    func testTheLargestSizeIsTakenWhereNoneCoversTheWish() {
        let modes = [self.mode(.yuyv, 320, 240, 30), self.mode(.yuyv, 640, 480, 30), self.mode(.yuyv, 352, 288, 30)]
        XCTAssertEqual(CameraChoice.best(of: modes, for: self.wish), modes[1])
    }

    func testAHugePictureIsWorseThanASmallOne() {
        let wish = CameraWish(width: 320, height: 240, rate: FrameRate(30))
        let modes = [self.mode(.nv12, 3840, 2160, 30), self.mode(.nv12, 160, 120, 30)]
        XCTAssertEqual(CameraChoice.best(of: modes, for: wish), modes[1])
        XCTAssertEqual(CameraChoice.best(of: Array(modes[..<1]), for: wish), modes[0])
    }

    func testTheRateNextToTheWishIsTaken() {
        let modes = [60, 30, 25, 15].map { self.mode(.nv12, 1280, 720, $0) }
        XCTAssertEqual(CameraChoice.best(of: modes, for: self.wish), modes[1])
        let slow = CameraWish(width: 1280, height: 720, rate: FrameRate(10))
        XCTAssertEqual(CameraChoice.best(of: modes, for: slow), modes[3])
    }

    func testARateThatIsNotSaidCountsAsRight() {
        let modes = [self.mode(.yuyv, 1280, 720, nil), self.mode(.yuyv, 1280, 720, 5)]
        XCTAssertEqual(CameraChoice.best(of: modes, for: self.wish), modes[0])
    }

    func testSizesOutOfBoundsAreNeverTaken() {
        let modes = [self.mode(.nv12, 8192, 4320, 30), self.mode(.nv12, 0, 0, 30), self.mode(.nv12, 8, 720, 30)]
        XCTAssertNil(CameraChoice.best(of: modes, for: self.wish))
        XCTAssertNil(CameraChoice.best(of: [], for: self.wish))
    }

    func testSteppedRangesGiveTheNearestAllowedValue() {
        let table: [(SteppedRange, wanted: Int, expected: Int)] = [
            (SteppedRange(min: 32, max: 1920, step: 16), 1280, 1280),
            (SteppedRange(min: 32, max: 1920, step: 16), 1287, 1280),
            (SteppedRange(min: 32, max: 1920, step: 16), 1290, 1296),
            (SteppedRange(min: 32, max: 1920, step: 16), 5000, 1920),
            (SteppedRange(min: 32, max: 1920, step: 16), 1, 32),
            (SteppedRange(min: 1, max: 4000, step: 1), 719, 719),
            (SteppedRange(min: 1, max: 4000, step: 0), 719, 719),
            (SteppedRange(min: 640, max: 640, step: 16), 1280, 640),
            (SteppedRange(min: 640, max: 0, step: 16), 1280, 640),
            (SteppedRange(min: 48, max: 100, step: 32), 99, 80),
        ]
        for (range, wanted, expected) in table {
            XCTAssertEqual(range.nearest(to: wanted), expected, "\(range) wanted \(wanted)")
        }
    }

    func testLevelsGrowWithSizeRateAndBits() {
        let table: [(Int, Int, Int, Int, expected: UInt8)] = [
            (352, 288, 30, 500, 13), (640, 360, 30, 1000, 30), (640, 480, 30, 1000, 30), (1280, 720, 30, 1500, 31),
            (1280, 720, 60, 1500, 32), (1920, 1080, 30, 4000, 40), (1920, 1080, 60, 4000, 42),
            (3840, 2160, 30, 8000, 51), (640, 360, 30, 12_000, 31), (4096, 16, 1, 100, 40),
            (4096, 2304, 240, 100, 51),
        ]
        for (width, height, rate, kbps, expected) in table {
            let level = H264Level.smallest(width: width, height: height, framesPerSecond: rate, bitrateKbps: kbps)
            XCTAssertEqual(level.idc, expected, "\(width)x\(height) at \(rate), \(kbps) kbit/s")
        }
    }
}
