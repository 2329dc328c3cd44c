// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import Display

/// The plan table: what each controller ends up showing, and how soon it is found.
final class PlannerTests: XCTestCase {
    private let screen = PixelSize(1280, 800)

    /// A 16:9 picture from a decoder, fitted, above it a camera of 4:3, mirrored, in a corner.
    private var call: PlanRequest {
        let remote = PictureFit.fit.place(PixelSize(640, 360), .square, in: Rectangle(self.screen))
        let corner = PicturePlace(source: Rectangle(0, 0, 640, 480), destination: Rectangle(928, 500, 320, 240))
        return PlanRequest(
            screen: self.screen, remote: PictureWish(.yuv420, remote),
            selfView: PictureWish(.yuv420, corner, Orientation(isMirrored: true)))
    }

    private func chosen(_ controller: Controller, _ request: PlanRequest) -> Arrangement? {
        Planner.arrangements(for: request, planes: controller.planes)
            .first { controller.accepts($0, on: request.screen) }
    }

    /// One line a plane, from the bottom: plane, format, buffer, where it is shown, what is in it.
    private func lines(_ arrangement: Arrangement?) -> [String] {
        (arrangement?.surfaces ?? []).map { surface in
            let place = surface.destination
            let layers = surface.placements.map { placement -> String in
                let how = (placement.isScaled ? "*" : "") + (placement.orientation.isMirrored ? "<" : "")
                return "\(placement.layer)\(how)"
            }
            let position = surface.position.map { " z\($0)" } ?? ""
            let turn = surface.orientation.isMirrored ? " reflect" : ""
            return "\(surface.plane)\(position) \(surface.format) \(surface.buffer.width)x\(surface.buffer.height) "
                + "at \(place.x),\(place.y) \(place.width)x\(place.height)\(turn): "
                + layers.joined(separator: "+")
        }
    }

    /// `*` scaled by software, `<` mirrored by software.
    func testEachControllerShowsACallInItsBestWay() {
        let expected: [String: [String]] = [
            "vkms": [
                "31 yuv420 1280x720 at 0,40 1280x720: remote*",
                "32 yuv420 320x240 at 928,500 320x240 reflect: selfView*",
                "33 argb8888 1280x800 at 0,0 1280x800: words",
            ],
            "vc4": [
                "44 yuv420 640x360 at 0,40 1280x720: remote",
                "100 z1 yuv420 640x480 at 928,500 320x240 reflect: selfView",
                "101 z2 argb8888 1280x800 at 0,0 1280x800: words",
            ],
            "rockchip VOP2": [
                "70 z0 nv12 640x360 at 0,40 1280x720: remote",
                "58 z1 xrgb8888 320x240 at 928,500 320x240: selfView*<",
                "64 z2 argb8888 1280x800 at 0,0 1280x800: words",
            ],
            "meson": [
                "36 yuv420 640x360 at 0,40 1280x720: remote",
                "32 argb8888 1280x800 at 0,0 1280x800: selfView*<+words",
            ],
            "sun8i": [
                "33 z0 yuv420 640x360 at 0,40 1280x720: remote",
                "38 z1 xrgb8888 320x240 at 928,500 320x240: selfView*<",
                "41 z2 argb8888 1280x800 at 0,0 1280x800: words",
            ],
            "imx6": [
                "31 yuv420 1280x800 at 0,0 1280x800: remote*",
                "35 z2 argb8888 1280x800 at 0,0 1280x800: selfView*<+words",
            ],
            "imx8mp lcdif": ["31 xrgb8888 1280x800 at 0,0 1280x800: remote*+selfView*<+words"],
            "virtio-gpu": ["31 xrgb8888 1280x800 at 0,0 1280x800: remote*+selfView*<+words"],
        ]
        for controller in Controller.all {
            XCTAssertEqual(self.lines(self.chosen(controller, self.call)), expected[controller.name], controller.name)
        }
    }

    func testIdleShowsTheWordsOnOnePlaneEverywhere() {
        for controller in Controller.all {
            let arrangement = self.chosen(controller, PlanRequest(screen: self.screen))
            XCTAssertEqual(arrangement?.surfaces.count, 1, controller.name)
            XCTAssertEqual(arrangement?.surfaces.first?.destination, Rectangle(self.screen), controller.name)
        }
    }

    func testEveryMixOfLayersIsShownByEveryController() {
        for controller in Controller.all {
            for mask in 0..<4 {
                var request = self.call
                if mask & 1 == 0 { request.remote = nil }
                if mask & 2 == 0 { request.selfView = nil }
                let arrangement = self.chosen(controller, request)
                XCTAssertNotNil(arrangement, "\(controller.name) \(mask)")
                let shown = arrangement?.surfaces.flatMap { $0.placements.map(\.layer) }
                XCTAssertEqual(shown, request.layers, "\(controller.name) \(mask)")
            }
        }
    }

    func testFewOffersAreRefusedBeforeOneIsTaken() {
        for controller in Controller.all {
            let offers = Planner.arrangements(for: self.call, planes: controller.planes)
            let index = offers.firstIndex { controller.accepts($0, on: self.screen) }
            XCTAssertLessThan(index ?? .max, 40, controller.name)
            XCTAssertLessThanOrEqual(offers.count, Planner.offersMax + Planner.lastResortsMax, controller.name)
        }
    }

    func testOffersAreSortedByPriceAndEndWithASinglePlane() {
        for controller in Controller.all {
            let offers = Planner.arrangements(for: self.call, planes: controller.planes)
            XCTAssertEqual(offers.map(\.cost), offers.map(\.cost).sorted(), controller.name)
            XCTAssertTrue(offers.contains { $0.surfaces.count == 1 }, controller.name)
        }
    }

    func testPlanesRiseAndAreUsedOnce() {
        for controller in Controller.all {
            for offer in Planner.arrangements(for: self.call, planes: controller.planes) {
                let positions = offer.surfaces.map { surface in
                    surface.position ?? controller.planes.first { $0.id == surface.plane }!.order.lowest
                }
                XCTAssertEqual(positions, Array(Set(positions)).sorted(), controller.name)
                XCTAssertEqual(Set(offer.surfaces.map(\.plane)).count, offer.surfaces.count, controller.name)
                XCTAssertFalse(
                    offer.surfaces.contains { surface in
                        controller.planes.first { $0.id == surface.plane }!.kind == .cursor
                    }, controller.name)
            }
        }
    }

    func testAPictureOfTheScreensShapeNeedsNoBars() {
        let place = PictureFit.fit.place(PixelSize(1280, 800), .square, in: Rectangle(self.screen))
        let request = PlanRequest(screen: self.screen, remote: PictureWish(.yuv420, place))
        XCTAssertEqual(
            self.lines(self.chosen(.imx6, request)),
            [
                "31 yuv420 1280x800 at 0,0 1280x800: remote",
                "35 z2 argb8888 1280x800 at 0,0 1280x800: words",
            ])
    }

    func testAPlanCanBeReadInTheLog() {
        XCTAssertEqual(
            self.chosen(.vc4, self.call)?.surfaces.map(\.text.string),
            [
                "plane 44: YU12 640x360 at 0,40 scaled by the plane to 1280x720, remote",
                "plane 100: YU12 640x480 at 928,500 scaled by the plane to 320x240 mirrored by the plane, self view",
                "plane 101: AR24 1280x800 at 0,0, words",
            ])
        XCTAssertEqual(
            self.chosen(.lcdif, self.call)?.surfaces.map(\.text.string),
            ["plane 31: XR24 1280x800 at 0,0, remote scaled, self view scaled mirrored, words"])
    }

    func testNoPlaneAtAllGivesNoOffer() {
        XCTAssertEqual(Planner.arrangements(for: self.call, planes: []), [])
        let afbcOnly = PlaneCapability(1, .primary, [], PlaneOrder(fixed: 0))
        XCTAssertEqual(Planner.arrangements(for: self.call, planes: [afbcOnly]), [])
    }
}
