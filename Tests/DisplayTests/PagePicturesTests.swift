// SPDX-License-Identifier: Apache-2.0

import Bytes
import CText
import Foundation
import XCTest

@testable import Display
@testable import KioskEngine

/// Every page in every language looks as in `docs/screens`, which `board/screens` draws anew.
final class PagePicturesTests: XCTestCase {
    private static let size = PixelSize(640, 360)
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/screens")
    private var writes: Bool { ProcessInfo.processInfo.environment["CALLBOX_SCREENS"] == "write" }

    func testEnglishPages() { self.go(.english) }
    func testGermanPages() { self.go(.german) }
    func testFrenchPages() { self.go(.french) }
    func testSpanishPages() { self.go(.spanish) }
    func testArabicPages() { self.go(.arabic) }
    func testChinesePages() { self.go(.chinese) }

    private func go(_ language: Language) {
        for page in PagePictures(language).all {
            let file = Self.folder.appendingPathComponent("\(language.code.string)-\(page.name).png")
            let drawn = self.draw(page)
            if self.writes {
                let target = PixelTarget(pixels: drawn.pixels, rowPixels: drawn.rowPixels)
                XCTAssertNoThrow(try PNG.write(target, Self.size, to: ByteString(utf8Of: file.path)))
            } else if let kept = self.read(file) {
                let worst = self.worstDifference(drawn, kept)
                XCTAssertLessThan(worst, 24, "\(file.lastPathComponent) differs: look at it, then board/screens")
            } else {
                XCTFail("\(file.lastPathComponent) is missing: board/screens draws it")
            }
        }
    }

    // MARK: - Drawing

    private static let ownPicture: OwnPicture? = {
        let size = PixelSize(320, 200)
        let image = PixelImage(size)
        for y in 0..<size.height {
            for x in 0..<size.width {
                image.row(y)[x] = 0xFF00_0000 | UInt32(x * 255 / size.width) << 16 | UInt32(y * 255 / size.height) << 8
            }
        }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("callbox-own-\(getpid()).png").path
        let target = PixelTarget(pixels: image.pixels, rowPixels: image.rowPixels)
        guard (try? PNG.write(target, size, to: ByteString(utf8Of: path))) != nil else { return nil }
        defer { unlink(path) }
        return try? OwnPicture.read(ByteString(utf8Of: path))
    }()

    /// The page over what the planes below it would show.
    private func draw(_ page: PagePicture) -> PixelImage {
        let layout = ScreenLayout(Self.size)
        let camera = PixelSize(640, 360)
        let hole: Rectangle? =
            !page.hasSelfView
            ? nil
            : page.state.page == .mirror
                ? layout.mirror(camera, .square).destination
                : layout.selfView(camera, .square, DisplaySettings()).destination
        let words = LayerImage(PixelImage(Self.size))
        Page.draw(page.state, page.moment, picture: Self.ownPicture, on: words, around: hole)
        var layers: [ComposedLayer] = []
        if page.state.remote == .shown {
            layers.append(
                ComposedLayer(image: self.tiles(Self.size, 0xFF7A_8A94, 0xFF66_7780), target: Rectangle(Self.size)))
        }
        if let hole {
            layers.append(ComposedLayer(image: self.tiles(hole.size, 0xFF8A_7A66, 0xFF7A_6A58), target: hole))
        }
        layers.append(ComposedLayer(image: words.image, target: Rectangle(Self.size), ink: words.ink))
        let shown = PixelImage(Self.size)
        Compositor.compose(
            layers, over: 0xFF00_0000, area: Rectangle(Self.size),
            into: PixelTarget(pixels: shown.pixels, rowPixels: shown.rowPixels), scratch: PixelImage(Self.size))
        return shown
    }

    private func tiles(_ size: PixelSize, _ one: UInt32, _ other: UInt32) -> PixelImage {
        let image = PixelImage(size)
        for y in 0..<size.height {
            for x in 0..<size.width { image.row(y)[x] = (x / 40 + y / 40) % 2 == 0 ? one : other }
        }
        return image
    }

    // MARK: - Comparing

    private func read(_ file: URL) -> PixelImage? {
        guard let surface = cairo_image_surface_create_from_png(file.path) else { return nil }
        defer { cairo_surface_destroy(surface) }
        guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS,
            cairo_image_surface_get_width(surface) == Int32(Self.size.width),
            cairo_image_surface_get_height(surface) == Int32(Self.size.height),
            let data = cairo_image_surface_get_data(surface)
        else { return nil }
        let stride = Int(cairo_image_surface_get_stride(surface)) / 4
        let image = PixelImage(Self.size)
        data.withMemoryRebound(to: UInt32.self, capacity: stride * Self.size.height) {
            for y in 0..<Self.size.height { image.row(y).update(from: $0 + y * stride, count: Self.size.width) }
        }
        return image
    }

    /// The greatest mean difference of a square of 8 pixels, 0 to 255: edges of glyphs may differ a little between
    /// versions of the rasteriser, words may not.
    private func worstDifference(_ one: PixelImage, _ other: PixelImage) -> Int {
        var worst = 0
        for top in stride(from: 0, to: Self.size.height, by: 8) {
            for left in stride(from: 0, to: Self.size.width, by: 8) {
                var sum = 0
                for y in top..<top + 8 {
                    for x in left..<left + 8 {
                        for shift in [0, 8, 16] as [UInt32] {
                            let a = Int(one.row(y)[x] >> shift & 0xFF)
                            sum += abs(a - Int(other.row(y)[x] >> shift & 0xFF))
                        }
                    }
                }
                worst = max(worst, sum / (64 * 3))
            }
        }
        return worst
    }
}
