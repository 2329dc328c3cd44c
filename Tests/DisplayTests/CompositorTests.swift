// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import Display

final class CompositorTests: XCTestCase {
    private func image(_ size: PixelSize, _ colour: UInt32) -> PixelImage {
        let image = PixelImage(size)
        for y in 0..<size.height { image.row(y).update(repeating: colour, count: size.width) }
        return image
    }

    private func pixels(_ image: PixelImage) -> [[UInt32]] {
        (0..<image.size.height).map { y in (0..<image.size.width).map { image.row(y)[$0] } }
    }

    private func compose(
        _ layers: [ComposedLayer], on canvas: PixelImage, area: Rectangle? = nil, background: UInt32 = 0xFF00_0000
    ) {
        Compositor.compose(
            layers, over: background, area: area ?? Rectangle(canvas.size),
            into: PixelTarget(pixels: canvas.pixels, rowPixels: canvas.rowPixels), scratch: PixelImage(canvas.size))
    }

    func testLayersLieOverEachOtherAndOutsideIsTheBackground() {
        let canvas = self.image(PixelSize(8, 6), 0x1234_5678)
        let words = PixelImage(canvas.size)
        words.row(5)[7] = 0xFFFF_FFFF
        self.compose(
            [
                ComposedLayer(image: self.image(PixelSize(6, 4), 0xFF11_1111), target: Rectangle(1, 1, 6, 4)),
                ComposedLayer(image: self.image(PixelSize(2, 2), 0xFF22_2222), target: Rectangle(4, 2, 2, 2)),
                ComposedLayer(image: words, target: Rectangle(canvas.size), ink: [Rectangle(6, 5, 2, 1)]),
            ], on: canvas)
        let (o, a, b, w) = (UInt32(0xFF00_0000), UInt32(0xFF11_1111), UInt32(0xFF22_2222), UInt32(0xFFFF_FFFF))
        XCTAssertEqual(
            self.pixels(canvas),
            [
                [o, o, o, o, o, o, o, o],
                [o, a, a, a, a, a, a, o],
                [o, a, a, a, b, b, a, o],
                [o, a, a, a, b, b, a, o],
                [o, a, a, a, a, a, a, o],
                [o, o, o, o, o, o, o, w],
            ])
    }

    func testOnlyTheAreaIsTouched() {
        let canvas = self.image(PixelSize(8, 4), 7)
        self.compose(
            [ComposedLayer(image: self.image(PixelSize(8, 4), 9), target: Rectangle(0, 0, 8, 4))], on: canvas,
            area: Rectangle(2, 1, 3, 2))
        for (y, row) in self.pixels(canvas).enumerated() {
            for (x, pixel) in row.enumerated() {
                XCTAssertEqual(pixel, (1...2).contains(y) && (2...4).contains(x) ? 9 : 7)
            }
        }
    }

    func testBlendingIsExactForEveryAlphaAndValue() {
        for alpha in UInt32(0)...255 {
            for value in UInt32(0)...255 {
                let below = 0xFF00_0000 | value << 16 | (255 - value) << 8 | value
                var target = below
                var source = alpha << 24 | (alpha / 2) << 16
                Compositor.blend(&source, over: &target, count: 1)
                let kept = 255 - alpha
                let expect = { (byte: UInt32) in (byte * kept * 2 + 255) / 510 }
                XCTAssertEqual(target >> 24, alpha + kept)
                XCTAssertEqual((target >> 16) & 0xFF, alpha / 2 + expect(value), "\(alpha) \(value)")
                XCTAssertEqual((target >> 8) & 0xFF, expect(255 - value), "\(alpha) \(value)")
                XCTAssertEqual(target & 0xFF, expect(value), "\(alpha) \(value)")
            }
        }
    }

    func testWordsOverNothingKeepTheirAlpha() {
        let canvas = self.image(PixelSize(2, 1), 5)
        let words = self.image(PixelSize(2, 1), 0x8040_4040)
        self.compose(
            [ComposedLayer(image: words, target: Rectangle(0, 0, 2, 1), ink: [Rectangle(0, 0, 2, 1)])], on: canvas,
            background: 0)
        XCTAssertEqual(self.pixels(canvas), [[0x8040_4040, 0x8040_4040]])
    }

    func testMirrorExchangesLeftAndRight() {
        let image = PixelImage(PixelSize(3, 2))
        for index in 0..<6 { image.row(index / 3)[index % 3] = UInt32(index) }
        let canvas = self.image(PixelSize(5, 4), 99)
        Compositor.turn(
            image, Orientation(isMirrored: true),
            into: PixelTarget(pixels: canvas.pixels, rowPixels: canvas.rowPixels), at: 1, 1)
        XCTAssertEqual(
            self.pixels(canvas),
            [[99, 99, 99, 99, 99], [99, 2, 1, 0, 99], [99, 5, 4, 3, 99], [99, 99, 99, 99, 99]])
    }
}
