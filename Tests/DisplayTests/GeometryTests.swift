// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import Display

final class GeometryTests: XCTestCase {
    private func fit(
        _ width: Int, _ height: Int, _ aspect: SampleAspect = .square, in screen: PixelSize
    ) -> Rectangle {
        PictureFit.fit.place(PixelSize(width, height), aspect, in: Rectangle(screen)).destination
    }

    func testFitCentresTheLargestRectangleOfThePicturesShape() {
        let table: [(PixelSize, PixelSize, Rectangle)] = [
            (PixelSize(640, 360), PixelSize(1024, 768), Rectangle(0, 96, 1024, 576)),
            (PixelSize(480, 640), PixelSize(1024, 768), Rectangle(224, 0, 576, 768)),
            (PixelSize(640, 480), PixelSize(1920, 1080), Rectangle(240, 0, 1440, 1080)),
            (PixelSize(1920, 1080), PixelSize(800, 480), Rectangle(0, 14, 800, 450)),
            (PixelSize(640, 360), PixelSize(720, 1280), Rectangle(0, 438, 720, 404)),
            (PixelSize(1280, 720), PixelSize(1280, 720), Rectangle(0, 0, 1280, 720)),
            (PixelSize(16, 16), PixelSize(3840, 2160), Rectangle(840, 0, 2160, 2160)),
        ]
        for (picture, screen, expected) in table {
            XCTAssertEqual(self.fit(picture.width, picture.height, in: screen), expected, "\(picture) on \(screen)")
        }
    }

    func testSampleAspectWidensThePicture() {
        // CIF with 12:11 samples is 4:3.
        XCTAssertEqual(
            self.fit(352, 288, SampleAspect(12, 11), in: PixelSize(1024, 768)), Rectangle(0, 0, 1024, 768))
        XCTAssertEqual(
            self.fit(720, 576, SampleAspect(64, 45), in: PixelSize(1920, 1080)), Rectangle(0, 0, 1920, 1080))
    }

    func testAspectsOutOfReasonCountAsSquare() {
        for (width, height) in [(0, 1), (1, 0), (-3, 4), (1, 17), (.max, 1)] {
            XCTAssertEqual(SampleAspect(width, height), .square)
        }
        XCTAssertEqual(SampleAspect(16, 1).width, 16)
    }

    func testBarsOfAHairAreLeftOut() {
        // 1366x768 is not quite 16:9.
        XCTAssertEqual(self.fit(1280, 720, in: PixelSize(1366, 768)), Rectangle(0, 0, 1366, 768))
    }

    func testAllIsEvenAndInsideWhateverTheSizes() {
        for screen in [PixelSize(1024, 768), PixelSize(1366, 768), PixelSize(801, 481), PixelSize(480, 1920)] {
            for width in stride(from: 16, through: 4096, by: 61) {
                for height in [16, 17, 90, 360, 481, 1080, 2304] {
                    let place = PictureFit.fit.place(PixelSize(width, height), .square, in: Rectangle(screen))
                    let shown = place.destination
                    XCTAssertEqual(Rectangle(screen).intersection(shown), shown)
                    XCTAssertEqual((shown.x | shown.y | shown.width | shown.height) & 1, 0)
                    XCTAssertLessThanOrEqual(abs((screen.width - shown.right) - shown.x), 3)
                    XCTAssertLessThanOrEqual(abs((screen.height - shown.bottom) - shown.y), 3)
                    XCTAssertEqual(
                        Rectangle(PixelSize(width, height)).intersection(place.source), place.source)
                }
            }
        }
    }

    func testFillCutsTheSameOnBothSides() {
        let place = PictureFit.fill.place(PixelSize(640, 360), .square, in: Rectangle(0, 0, 1024, 768))
        XCTAssertEqual(place, PicturePlace(source: Rectangle(80, 0, 480, 360), destination: Rectangle(0, 0, 1024, 768)))
        let tall = PictureFit.fill.place(PixelSize(480, 640), .square, in: Rectangle(0, 0, 1024, 768))
        XCTAssertEqual(tall.source, Rectangle(0, 140, 480, 360))
    }

    func testFillStaysInsideThePictureWhateverTheSizes() {
        for width in stride(from: 2, through: 4096, by: 61) {
            for height in [2, 17, 360, 2304] {
                let screen = Rectangle(0, 0, 1366, 768)
                let place = PictureFit.fill.place(PixelSize(width, height), SampleAspect(16, 1), in: screen)
                XCTAssertEqual(Rectangle(PixelSize(width, height)).intersection(place.source), place.source)
                XCTAssertEqual((place.source.x | place.source.y | place.source.width | place.source.height) & 1, 0)
            }
        }
    }

    func testNonsenseSizesGiveAnEmptyPlace() {
        XCTAssertTrue(self.fit(0, 360, in: PixelSize(1024, 768)).isEmpty)
        XCTAssertTrue(self.fit(640, -1, in: PixelSize(1024, 768)).isEmpty)
        XCTAssertTrue(self.fit(640, 360, in: PixelSize(0, 768)).isEmpty)
    }
}
