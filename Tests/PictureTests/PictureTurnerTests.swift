// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import Picture

/// A camera that hangs on its side.
final class PictureTurnerTests: XCTestCase {
    private func samples(_ plane: VideoPlane, _ width: Int, _ height: Int) -> [[UInt8]] {
        (0..<height).map { y in (0..<width).map { x in plane.bytes?[y * plane.stride + x] ?? 0 } }
    }

    private func turnedClockwise(_ rows: [[UInt8]]) -> [[UInt8]] {
        (0..<rows[0].count).map { x in rows.reversed().map { $0[x] } }
    }

    func testEachPlaneIsTurnedByQuarters() throws {
        let card = try XCTUnwrap(AbsentCameraCard.frame(width: 64, height: 32, at: Instant(nanoseconds: 9)))
        var luma = self.samples(card.planes.0, 64, 32)
        for quarters in 1..<4 {
            luma = self.turnedClockwise(luma)
            let turned = try XCTUnwrap(PictureTurner(degrees: quarters * 90).turn(card))
            XCTAssertEqual(self.samples(turned.planes.0, turned.width, turned.height), luma, "\(quarters)")
            XCTAssertEqual(turned.captured, card.captured)
            let chroma = self.samples(turned.planes.1, turned.width / 2, turned.height / 2)
            XCTAssertTrue(chroma.allSatisfy { $0.allSatisfy { $0 == 128 } })
        }
    }

    func testNothingIsDoneForACameraThatStands() throws {
        let card = try XCTUnwrap(AbsentCameraCard.frame(width: 64, height: 32, at: .zero))
        XCTAssertTrue(PictureTurner(degrees: 0).turn(card) === card)
        XCTAssertTrue(PictureTurner(degrees: 360).turn(card) === card)
    }

    func testATurnedPictureIsNotHigherThanOurs() {
        let turner = PictureTurner(degrees: 90)
        XCTAssertEqual(turner.size(width: 1280, height: 720)?.height, 1280)
        XCTAssertNil(turner.size(width: 3840, height: 2160))
    }
}
