// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import Display

final class SharedImageTests: XCTestCase {
    private let nv12: UInt32 = 0x3231_564E
    private let screen = PixelSize(1024, 768)

    func testColumnsAreTakenWhateverTheirHeight() {
        let columns = SharedKind(self.nv12, modifier: 7 << 56 | 1632 << 8 | 4)
        XCTAssertTrue(columns.isTaken(as: SharedKind(self.nv12, modifier: 7 << 56 | 4)))
        XCTAssertFalse(columns.isTaken(as: SharedKind(self.nv12, modifier: 7 << 56 | 5)))
        XCTAssertFalse(columns.isTaken(as: SharedKind(self.nv12)))
        XCTAssertFalse(SharedKind(self.nv12).isTaken(as: columns))
        // Another vendor's modifiers mean other things.
        XCTAssertFalse(
            SharedKind(self.nv12, modifier: 9 << 56 | 3 << 8 | 4).isTaken(
                as: SharedKind(self.nv12, modifier: 9 << 56 | 4)))
    }

    private func image(_ coded: PixelSize, _ visible: Rectangle, planes: Int = 2) -> SharedImage {
        SharedImage(
            buffer: 1, pool: 1, DirectPicture(SharedKind(self.nv12), coded: coded, visible: visible),
            planes: (0..<planes).map { _ in SharedImagePlane(-1, offset: 0, pitch: 1024) }, format: .nv12
        ) { _ in false }
    }

    func testSizesThatMakeNoSense() {
        let coded = PixelSize(1024, 576)
        XCTAssertTrue(self.image(coded, Rectangle(coded)).isSane)
        XCTAssertFalse(self.image(coded, Rectangle(0, 0, 1026, 576)).isSane)
        XCTAssertFalse(self.image(coded, Rectangle(2, 0, 1024, 576)).isSane)
        XCTAssertFalse(self.image(coded, Rectangle(-2, 0, 640, 360)).isSane)
        XCTAssertFalse(self.image(coded, Rectangle(.max, .max, 640, 360)).isSane)
        XCTAssertFalse(self.image(coded, Rectangle(coded), planes: 0).isSane)
        XCTAssertFalse(self.image(PixelSize(0, 0), Rectangle(0, 0, 0, 0)).isSane)
    }

    private func request(_ kind: SharedKind, isMirrored: Bool = false) -> PlanRequest {
        let size = PixelSize(1024, 576)
        let place = PicturePlace(source: Rectangle(size), destination: Rectangle(0, 96, 1024, 576))
        let direct = DirectPicture(kind, coded: PixelSize(1024, 592), visible: Rectangle(0, 8, 1024, 576))
        return PlanRequest(
            screen: self.screen,
            remote: PictureWish(.nv12, place, Orientation(isMirrored: isMirrored), direct: direct))
    }

    private func planes(_ shared: [SharedKind]) -> [PlaneCapability] {
        let formats = PixelFormats([.xrgb8888, .argb8888, .nv12])
        return [
            PlaneCapability(31, .primary, formats, PlaneOrder(fixed: 0), shared: shared),
            PlaneCapability(35, .overlay, formats, PlaneOrder(fixed: 1), shared: shared),
        ]
    }

    func testAPictureThatAPlaneTakesGoesThereAsItLies() {
        let offers = Planner.arrangements(
            for: self.request(SharedKind(self.nv12)), planes: self.planes([SharedKind(self.nv12)]))
        let surface = offers.first?.surfaces.first
        XCTAssertEqual(surface?.direct?.kind, SharedKind(self.nv12))
        XCTAssertEqual(surface?.source, Rectangle(0, 8, 1024, 576))
        XCTAssertEqual(surface?.destination, Rectangle(0, 96, 1024, 576))
        // Where the kernel refuses that, software is still offered.
        XCTAssertTrue(offers.contains { $0.surfaces.allSatisfy { $0.direct == nil } })
    }

    func testWhatNoPlaneTakesIsDrawn() {
        let tiled = SharedKind(self.nv12, modifier: 9 << 56 | 1)
        for (request, planes) in [
            (self.request(tiled), self.planes([SharedKind(self.nv12)])), (self.request(tiled), self.planes([])),
            (self.request(tiled, isMirrored: true), self.planes([tiled])),
        ] {
            let offers = Planner.arrangements(for: request, planes: planes)
            XCTAssertFalse(offers.isEmpty)
            XCTAssertTrue(offers.allSatisfy { $0.surfaces.allSatisfy { $0.direct == nil } })
        }
    }
}
