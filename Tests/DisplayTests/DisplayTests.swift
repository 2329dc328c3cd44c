// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import Display
@testable import KioskEngine

final class DisplayTests: XCTestCase {
    private func picture(_ body: (PictureView) -> Void) {
        let bytes = [UInt8](repeating: 128, count: 64 * 64)
        bytes.withUnsafeBufferPointer {
            let plane = PicturePlane($0.baseAddress, stride: 64)
            body(PictureView(PixelSize(64, 64), format: .yuv420, planes: (plane, plane, plane)))
        }
    }

    func testWithoutADisplayEverythingIsAcceptedAndNothingIsWrong() {
        var settings = DisplaySettings()
        settings.connector = .none
        let display = Display(settings, now: .zero)
        display.draw(ScreenState(headline: "Help point", remote: .shown))
        self.picture { display.submit($0, on: .remote, now: .zero) }
        display.turn(now: .zero + .seconds(10))
        XCTAssertNil(display.fault)
        XCTAssertNil(display.fileDescriptor)
        XCTAssertNil(display.deadline)
        XCTAssertNil(display.screenSize)
        XCTAssertEqual(display.framebufferCount, 0)
        XCTAssertEqual(display.counters(.remote), PictureCounters(submitted: 1, shown: 0, refused: 0))
        XCTAssertThrowsError(try display.screenshot(to: "/nonexistent/picture.png", now: .zero))
    }

    func testAMissingDisplayIsAFaultThatIsLookedAtAgain() {
        var settings = DisplaySettings()
        settings.connector = .named("Nowhere-7")
        let display = Display(settings, now: .zero + .seconds(5))
        XCTAssertEqual(display.deadline, .zero + .seconds(5))
        display.turn(now: .zero + .seconds(5))
        XCTAssertNotNil(display.fault)
        XCTAssertEqual(display.deadline, .zero + .seconds(7))
        display.draw(ScreenState(headline: "Help point"))
        display.turn(now: .zero + .seconds(7))
        XCTAssertNotNil(display.fault)
        XCTAssertEqual(display.deadline, .zero + .seconds(9))
    }

    func testPicturesThatMakeNoSenseAreRefused() {
        var settings = DisplaySettings()
        settings.connector = .none
        let display = Display(settings, now: .zero)
        self.picture { good in
            var views: [PictureView] = []
            for size in [PixelSize(0, 64), PixelSize(64, -2), PixelSize(1, 1), PixelSize(100_000, 64)] {
                var view = good
                view.size = size
                views.append(view)
            }
            var narrow = good
            narrow.planes.0.stride = 63
            var missing = good
            missing.planes.2.bytes = nil
            var chroma = good
            chroma.planes.1.stride = 31
            views += [narrow, missing, chroma]
            for view in views { display.submit(view, on: .selfView, now: .zero) }
            XCTAssertEqual(display.counters(.selfView).refused, UInt64(views.count))
            display.submit(good, on: .selfView, now: .zero)
            XCTAssertEqual(display.counters(.selfView).submitted, 1)
        }
    }

    func testFaultsAreSaidInPlainSentences() {
        let faults: [(DisplayError, ByteString)] = [
            (.noController, "No display controller was found."),
            (.notConnected(["HDMI-A-1", "DSI-1"]), "No display is plugged in (HDMI-A-1, DSI-1)."),
            (
                .noConnector(wanted: "HDMI-A-2", present: ["HDMI-A-1"]),
                "There is no display connector HDMI-A-2; there is HDMI-A-1."
            ),
            (.heldByAnother(name: "Xorg", process: 812), "Another program uses the display: Xorg, process 812."),
            (.heldByAnother(name: "", process: 0), "Another program uses the display."),
            (.refused("show a picture", code: 22), "The display refused to show a picture (error 22)."),
        ]
        for (fault, sentence) in faults { XCTAssertEqual(fault.sentence, sentence) }
    }
}

final class ScreenLayoutTests: XCTestCase {
    func testTheOwnPictureIsWholeInItsCornerBetweenTheStrips() {
        for screen in [PixelSize(1024, 768), PixelSize(320, 240), PixelSize(800, 480), PixelSize(1080, 1920)] {
            let layout = ScreenLayout(screen)
            for size in [PixelSize(640, 360), PixelSize(640, 480), PixelSize(480, 640)] {
                for corner in [DisplaySettings.Corner.topLeft, .topRight, .bottomLeft, .bottomRight] {
                    var settings = DisplaySettings()
                    settings.selfViewCorner = corner
                    let place = layout.selfView(size, .square, settings)
                    let shown = place.destination
                    XCTAssertEqual(Rectangle(screen).intersection(shown), shown)
                    XCTAssertTrue(shown.intersection(layout.callBar).isEmpty)
                    XCTAssertTrue(shown.intersection(layout.banner).isEmpty)
                    XCTAssertEqual((shown.x | shown.y | shown.width | shown.height) & 1, 0)
                    XCTAssertEqual(place.source, Rectangle(size))
                    XCTAssertEqual(shown.x < screen.width / 2, corner == .topLeft || corner == .bottomLeft)
                    XCTAssertEqual(
                        shown.y + shown.height / 2 < screen.height / 2, corner == .topLeft || corner == .topRight)
                }
            }
        }
        XCTAssertEqual(
            ScreenLayout(PixelSize(1024, 768)).selfView(PixelSize(640, 360), .square, DisplaySettings()).destination,
            Rectangle(736, 512, 256, 144))
    }

    func testTheOwnPictureIsAsLargeAsTheFileSays() {
        var settings = DisplaySettings()
        settings.selfViewPercent = 50
        let place = ScreenLayout(PixelSize(1280, 720)).selfView(PixelSize(640, 360), .square, settings)
        XCTAssertEqual(place.destination.size, PixelSize(640, 360))
    }

    func testPicturesSideBySideShareTheLongerSide() {
        var settings = DisplaySettings()
        settings.layout = .sideBySide
        for screen in [PixelSize(1024, 768), PixelSize(1366, 768), PixelSize(720, 1280)] {
            let layout = ScreenLayout(screen)
            let remote = layout.remote(PixelSize(640, 360), .square, settings).destination
            let own = layout.beside(PixelSize(640, 480), .square).destination
            XCTAssertTrue(remote.intersection(own).isEmpty, "\(screen)")
            for place in [remote, own] {
                XCTAssertTrue(Rectangle(screen).contains(place))
                XCTAssertGreaterThan(place.width, min(screen.width, screen.height) / 2)
            }
            settings.remote = .fill
            XCTAssertEqual(layout.remote(PixelSize(640, 360), .square, settings).destination, layout.halves.first)
            settings.remote = .fit
        }
    }

    func testTheOwnPictureIsLargeWhileItIsAllThatIsShown() {
        let layout = ScreenLayout(PixelSize(1024, 768))
        let place = layout.mirror(PixelSize(640, 360), .square).destination
        XCTAssertGreaterThan(place.width, 800)
        XCTAssertTrue(place.intersection(layout.callBar).isEmpty)
        XCTAssertTrue(place.intersection(layout.mirrorTitle).isEmpty)
    }
}

final class FlipEventsTests: XCTestCase {
    private func event(_ kind: UInt8, _ cookie: UInt8, length: UInt8 = 32) -> [UInt8] {
        [kind, 0, 0, 0, length, 0, 0, 0, cookie, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3] + [UInt8](repeating: 0, count: 11)
    }

    private func flip(_ cookie: UInt64) -> FlipEvents.Flip {
        FlipEvents.Flip(cookie: cookie, time: Instant(nanoseconds: 2_000_003_000))
    }

    func testFlipsAreFoundAmongOtherEvents() {
        let bytes = self.event(1, 9) + self.event(2, 5) + self.event(2, 6)
        XCTAssertEqual(FlipEvents.flips(in: bytes[...]), [self.flip(5), self.flip(6)])
    }

    func testTruncatedAndBrokenEventsEndTheSearch() {
        let whole = self.event(2, 5) + self.event(2, 6)
        for length in 0..<whole.count {
            XCTAssertEqual(FlipEvents.flips(in: whole[..<length]), length >= 32 ? [self.flip(5)] : [])
        }
        XCTAssertEqual(FlipEvents.flips(in: self.event(2, 5, length: 0)[...]), [])
        XCTAssertEqual(FlipEvents.flips(in: self.event(2, 5, length: 255)[...]), [])
    }
}

final class HeldPictureTests: XCTestCase {
    func testACopyIsTightAndTheSame() {
        for format in [PixelFormat.yuv420, .nv12, .yuyv] {
            let size = PixelSize(6, 4)
            let stride = 32
            let bytes = (0..<stride * 4).map { UInt8(truncatingIfNeeded: $0) }
            bytes.withUnsafeBufferPointer { buffer in
                let plane = PicturePlane(buffer.baseAddress, stride: stride)
                let held = HeldPicture(PictureView(size, format: format, planes: (plane, plane, plane)))
                let rows = PictureRows(format, size)
                for (index, copy) in [held.view.planes.0, held.view.planes.1, held.view.planes.2].enumerated() {
                    for row in 0..<rows.count(index) {
                        for column in 0..<rows.bytes(index) {
                            XCTAssertEqual(copy.bytes?[row * copy.stride + column], bytes[row * stride + column])
                        }
                    }
                }
            }
        }
    }
}
