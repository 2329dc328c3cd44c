// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import XCTest

@testable import Display
@testable import KioskEngine

final class PageTests: XCTestCase {
    private let screen = PixelSize(1024, 768)
    private let bar = [
        CallBarItem(button: .hook, label: "End call"), CallBarItem(button: .mute, label: "Unmute", isOn: true),
        CallBarItem(button: .video, label: "Camera off"),
    ]
    private let hole = Rectangle(736, 512, 256, 144)

    /// Draws on an image full of other things. With CALLBOX_PAGES set to a folder, saves it there to be looked at.
    private func draw(
        _ state: ScreenState, _ name: String, screen: PixelSize? = nil, hole: Rectangle? = nil
    ) -> LayerImage {
        let image = PixelImage(screen ?? self.screen)
        for y in 0..<image.size.height { image.row(y).update(repeating: 0x4000_4000, count: image.size.width) }
        let words = LayerImage(image)
        Page.draw(state, on: words, around: hole)
        if let folder = ProcessInfo.processInfo.environment["CALLBOX_PAGES"] {
            let path = ByteString(utf8Of: "\(folder)/\(name).png")
            try? PNG.write(self.over(words), image.size, to: path)
        }
        return words
    }

    /// What the screen would show with a grey picture below.
    private func over(_ words: LayerImage) -> PixelTarget {
        let size = words.image.size
        let shown = PixelImage(size)
        self.kept.append(shown)
        let below = PixelImage(size)
        for y in 0..<size.height {
            for x in 0..<size.width { below.row(y)[x] = (x / 32 + y / 32) % 2 == 0 ? 0xFFB0_B0B0 : 0xFF80_9080 }
        }
        let target = PixelTarget(pixels: shown.pixels, rowPixels: shown.rowPixels)
        Compositor.compose(
            [
                ComposedLayer(image: below, target: Rectangle(size)),
                ComposedLayer(image: words.image, target: Rectangle(size), ink: words.ink),
            ], over: 0, area: Rectangle(size), into: target, scratch: PixelImage(size))
        return target
    }

    private var kept: [PixelImage] = []

    private func pixels(_ image: PixelImage, where accept: (Int, Int, UInt32) -> Bool) -> Int {
        var count = 0
        for y in 0..<image.size.height {
            for x in 0..<image.size.width where accept(x, y, image.row(y)[x]) { count += 1 }
        }
        return count
    }

    private func isInside(_ x: Int, _ y: Int, _ areas: [Rectangle]) -> Bool {
        areas.contains { x >= $0.x && x < $0.right && y >= $0.y && y < $0.bottom }
    }

    private var inCall: ScreenState {
        ScreenState(muted: true, remote: .shown, selfView: .shown, callBar: self.bar)
    }

    func testCardsFillTheScreenAndLeaveTheOwnPictureClear() {
        let states: [(String, ScreenState)] = [
            ("idle", ScreenState(headline: "Help point", detail: "Press the button to call.", symbol: .handset)),
            ("calling", ScreenState(headline: "Calling…", detail: "Please wait.", symbol: .calling, callBar: self.bar)),
            ("ringing", ScreenState(headline: "Ringing…", detail: "Please wait.", symbol: .ringing, callBar: self.bar)),
            ("connecting", ScreenState(headline: "Connecting…", symbol: .connecting, callBar: self.bar)),
            ("talking", ScreenState(headline: "Connected", detail: "Speak now.", symbol: .talking, callBar: self.bar)),
            ("hold", ScreenState(headline: "Please hold", detail: "You will be put through.", symbol: .hold)),
            ("ended", ScreenState(headline: "Call ended", symbol: .ended)),
            ("busy", ScreenState(headline: "The line is busy", detail: "Please try again in a moment.", symbol: .busy)),
            (
                "failed",
                ScreenState(
                    headline: "The call could not be placed",
                    detail: "The address of the help desk is not known to the server. Please tell the staff.",
                    symbol: .warning, banner: "callbox.conf, line 7: [call] url is not known; did you mean uri?")
            ),
        ]
        for (name, state) in states {
            for hole in [nil, self.hole] {
                let words = self.draw(state, hole == nil ? name : "\(name)-self", hole: hole)
                XCTAssertEqual(words.ink, [Rectangle(self.screen)])
                let clear = self.pixels(words.image) { _, _, pixel in pixel >> 24 == 0 }
                XCTAssertEqual(clear, hole.map { $0.width * $0.height } ?? 0, name)
                XCTAssertGreaterThan(self.pixels(words.image) { _, _, pixel in pixel == 0xFFFF_FFFF }, 2000, name)
            }
        }
    }

    func testOverThePictureOnlyTheInkIsDrawnOn() {
        let states: [(String, ScreenState)] = [
            ("call", self.inCall),
            ("call-bare", ScreenState(remote: .shown)),
            ("call-chips", ScreenState(muted: true, videoOff: true, remote: .shown)),
            (
                "call-caption",
                ScreenState(
                    detail: "Someone is on the way to you.", banner: "The camera was unplugged.", remote: .shown,
                    callBar: self.bar)
            ),
        ]
        for (name, state) in states {
            let words = self.draw(state, name)
            let ink = words.ink ?? []
            XCTAssertEqual(self.pixels(words.image) { x, y, pixel in pixel != 0 && !self.isInside(x, y, ink) }, 0, name)
            for area in ink {
                let drawn = self.pixels(words.image) { x, y, pixel in pixel != 0 && self.isInside(x, y, [area]) }
                XCTAssertGreaterThan(drawn, area.width * area.height * 9 / 10, name)
            }
            XCTAssertEqual(ink.isEmpty, name == "call-bare")
        }
    }

    func testTheLegendStaysInItsStripOffTheOwnPicture() {
        let layout = ScreenLayout(self.screen)
        for area in self.draw(self.inCall, "call").ink ?? [] {
            XCTAssertEqual(area.intersection(layout.callBar), area)
            XCTAssertTrue(area.intersection(self.hole).isEmpty)
        }
    }

    func testEveryScreenFromSmallToLargeAndUpright() {
        for screen in [PixelSize(320, 240), PixelSize(480, 800), PixelSize(800, 480), PixelSize(1920, 1080)] {
            let name = "\(screen.width)x\(screen.height)"
            let card = ScreenState(
                headline: "Nobody can be reached",
                detail: "The help desk did not answer. Please try again, or use the telephone in the hall.",
                symbol: .warning, banner: "[camera] device: there is no such camera", callBar: self.bar)
            let place = ScreenLayout(screen).selfView(PixelSize(640, 480), .square, DisplaySettings())
            let drawn = self.draw(card, "card-\(name)", screen: screen, hole: place.destination)
            XCTAssertGreaterThan(self.pixels(drawn.image) { _, _, pixel in pixel == 0xFFFF_FFFF }, 100)
            for area in self.draw(self.inCall, "call-\(name)", screen: screen).ink ?? [] {
                XCTAssertEqual(Rectangle(screen).intersection(area), area, name)
            }
        }
    }

    func testAnyScriptAndBrokenTextIsDrawn() {
        let state = ScreenState(
            headline: ByteString(utf8Of: "Ruf läuft – Звонок – κλήση"),
            detail: ByteString([0xFF, 0xC3, 0x28, 0x00, 0x41] as [UInt8]), symbol: .calling)
        XCTAssertGreaterThan(
            self.pixels(self.draw(state, "scripts").image) { _, _, pixel in pixel == 0xFFFF_FFFF }, 2000)
    }

    func testWordsAndSignsHaveContrast() {
        func luminance(_ colour: Colour) -> Double {
            func linear(_ value: Double) -> Double {
                value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue)
        }
        func contrast(_ one: Colour, _ other: Colour) -> Double {
            let (a, b) = (luminance(one), luminance(other))
            return (max(a, b) + 0.05) / (min(a, b) + 0.05)
        }
        func over(_ colour: Colour, _ below: Double) -> Colour {
            var mixed = colour
            mixed.red = colour.red * colour.alpha + below * (1 - colour.alpha)
            mixed.green = colour.green * colour.alpha + below * (1 - colour.alpha)
            mixed.blue = colour.blue * colour.alpha + below * (1 - colour.alpha)
            return mixed
        }
        XCTAssertGreaterThan(contrast(Palette.text, Palette.background), 7)
        XCTAssertGreaterThan(contrast(Palette.detail, Palette.background), 7)
        XCTAssertGreaterThan(contrast(Palette.text, Palette.button), 7)
        XCTAssertGreaterThan(contrast(Palette.onAttention, Palette.attention), 7)
        for below in [0.0, 0.5, 1.0] { XCTAssertGreaterThan(contrast(Palette.text, over(Palette.veil, below)), 7) }
        for symbol in [Symbol.handset, .calling, .ringing, .connecting, .talking, .hold, .ended, .busy, .warning] {
            XCTAssertGreaterThan(contrast(Palette.accent(of: symbol), Palette.background), 3)
        }
    }
}
