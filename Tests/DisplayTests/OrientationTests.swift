// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import Display

/// Screens that hang on their side, and mirrors.
final class OrientationTests: XCTestCase {
    private let all: [Orientation] = (0..<4).flatMap { quarters in
        [false, true].map { Orientation(quarters: quarters, isMirrored: $0) }
    }

    private func turned(_ image: PixelImage, _ orientation: Orientation) -> PixelImage {
        let turned = PixelImage(orientation.turned(image.size))
        Compositor.turn(
            image, orientation, into: PixelTarget(pixels: turned.pixels, rowPixels: turned.rowPixels), at: 0, 0)
        return turned
    }

    func testEveryPixelGoesWhereItsRectangleGoes() {
        let size = PixelSize(5, 3)
        let image = PixelImage(size)
        for y in 0..<size.height { for x in 0..<size.width { image.row(y)[x] = UInt32(y * 10 + x + 1) } }
        for orientation in self.all {
            let turned = self.turned(image, orientation)
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let place = orientation.turned(Rectangle(x, y, 1, 1), in: size)
                    XCTAssertEqual(turned.row(place.y)[place.x], image.row(y)[x], "\(orientation) \(x),\(y)")
                }
            }
        }
    }

    func testAQuarterTurnIsClockwise() {
        let image = PixelImage(PixelSize(2, 1))
        (image.row(0)[0], image.row(0)[1]) = (1, 2)
        let turned = self.turned(image, Orientation(quarters: 1))
        XCTAssertEqual([turned.row(0)[0], turned.row(1)[0]], [1, 2], "what was left is above")
        let back = self.turned(image, Orientation(quarters: 3))
        XCTAssertEqual([back.row(0)[0], back.row(1)[0]], [2, 1])
    }

    func testFourTurnsAreNone() {
        XCTAssertTrue(Orientation(quarters: 4).isUpright)
        XCTAssertEqual(Orientation(quarters: -1), Orientation(quarters: 3))
        let size = PixelSize(1024, 768)
        for orientation in self.all where !orientation.isMirrored {
            var place = (Rectangle(10, 20, 300, 40), size)
            for _ in 0..<4 {
                place = (orientation.turned(place.0, in: place.1), orientation.turned(place.1))
            }
            XCTAssertEqual(place.0, Rectangle(10, 20, 300, 40))
        }
    }

    // MARK: - The plan

    /// A call on a screen of 1280x800 that hangs on its side, so that its page is 800x1280.
    private func call(_ quarters: Int) -> PlanRequest {
        let screen = PixelSize(1280, 800)
        let turn = Orientation(quarters: quarters)
        let page = turn.turned(screen)
        var remote = PictureFit.fit.place(PixelSize(640, 360), .square, in: Rectangle(page))
        remote.destination = turn.turned(remote.destination, in: page)
        let corner = turn.turned(Rectangle(page.width - 220, page.height - 300, 200, 150), in: page)
        return PlanRequest(
            screen: screen, remote: PictureWish(.yuv420, remote, turn),
            selfView: PictureWish(
                .yuv420, PicturePlace(source: Rectangle(0, 0, 640, 480), destination: corner),
                Orientation(quarters: quarters, isMirrored: true)))
    }

    func testEveryControllerShowsACallTurned() {
        for controller in Controller.all {
            for quarters in 1..<4 {
                let request = self.call(quarters)
                let taken = Planner.arrangements(for: request, planes: controller.planes)
                    .first { controller.accepts($0, on: request.screen) }
                let placements = taken?.surfaces.flatMap { surface in
                    surface.placements.map { (surface.orientation, $0) }
                }
                for (byPlane, placement) in placements ?? [] where placement.layer != .words {
                    let wanted = request.picture(placement.layer)?.orientation
                    XCTAssertTrue(byPlane == wanted || placement.orientation == wanted, controller.name)
                    XCTAssertNotEqual(byPlane.isUpright, placement.orientation.isUpright, "turned once")
                }
                XCTAssertEqual(placements?.map { $0.1.layer }, request.layers, "\(controller.name) \(quarters)")
            }
        }
    }

    func testAPlaneThatTurnsTakesThePictureAsItCame() {
        let formats = PixelFormats([.xrgb8888, .argb8888, .nv12, .yuv420])
        let planes = (0..<3).map {
            PlaneCapability(
                UInt32($0), $0 == 0 ? .primary : .overlay, formats, PlaneOrder(fixed: $0), reflectsX: true,
                quarters: [0, 1, 2, 3])
        }
        let offer = Planner.arrangements(for: self.call(1), planes: planes).first
        let surface = offer?.surfaces.first
        XCTAssertEqual(surface?.format, .yuv420)
        XCTAssertEqual(surface?.buffer, PixelSize(640, 360))
        XCTAssertEqual(surface?.orientation, Orientation(quarters: 1))
        XCTAssertEqual(surface?.destination.height, 800, "the page's width")
        XCTAssertEqual(surface?.placements.first?.orientation, .upright)
    }
}
