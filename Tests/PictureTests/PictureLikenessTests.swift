// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import XCTest

@testable import Picture

final class PictureLikenessTests: XCTestCase {
    private func grey(_ level: UInt8, _ width: Int = 64, _ height: Int = 48) throws -> VideoFrame {
        let picture = try XCTUnwrap(FramePool(width: width, height: height).take())
        for y in 0..<height {
            for x in 0..<width { picture.pointee.data.0?[y * Int(picture.pointee.linesize.0) + x] = level }
        }
        return try XCTUnwrap(VideoFrame(taking: picture, captured: .zero))
    }

    func testDecibelsAreCountedAsTheyShould() throws {
        // A difference of 10 everywhere is 28.13 dB, of 11 27.30 dB.
        let one = try self.grey(100)
        XCTAssertTrue(PictureLikeness.isWithin(decibels: 28, one, try self.grey(110)))
        XCTAssertTrue(PictureLikeness.isWithin(decibels: 28, one, try self.grey(90)))
        XCTAssertFalse(PictureLikeness.isWithin(decibels: 28, one, try self.grey(111)))
        XCTAssertTrue(PictureLikeness.isWithin(decibels: 27, one, try self.grey(111)))
        XCTAssertTrue(PictureLikeness.isWithin(decibels: 48, one, try self.grey(101)))
        XCTAssertFalse(PictureLikeness.isWithin(decibels: 28, one, try self.grey(255)))
    }

    func testPicturesOfOtherSizesAreNotAlike() throws {
        XCTAssertFalse(PictureLikeness.isWithin(decibels: 28, try self.grey(100), try self.grey(100, 64, 64)))
    }
}
