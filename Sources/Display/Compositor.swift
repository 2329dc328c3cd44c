// SPDX-License-Identifier: Apache-2.0

/// Pixels in memory of our own: 0xAARRGGBB, premultiplied.
final class PixelImage {
    let size: PixelSize
    /// Rows follow each other without gaps of more than `rowPixels - size.width`.
    let pixels: UnsafeMutablePointer<UInt32>
    let rowPixels: Int

    /// All transparent.
    init(_ size: PixelSize) {
        precondition(size.width > 0 && size.height > 0, "images are made for places on a screen, which are not empty")
        self.size = size
        // Rows begin where vector units like it, and have room for what these write past the end.
        self.rowPixels = (size.width + 31) / 16 * 16
        let count = self.rowPixels * size.height
        self.pixels = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
        self.pixels.initialize(repeating: 0, count: count)
    }

    deinit {
        self.pixels.deallocate()
    }

    func row(_ y: Int) -> UnsafeMutablePointer<UInt32> {
        self.pixels + y * self.rowPixels
    }
}

/// A buffer of 32-bit pixels that is only ever written: reading scan-out memory back is slow on most boards.
struct PixelTarget {
    var pixels: UnsafeMutablePointer<UInt32>
    var rowPixels: Int
}

/// One layer of a composed buffer.
struct ComposedLayer {
    /// As large as `target`.
    var image: PixelImage
    /// In pixels of the buffer.
    var target: Rectangle
    /// Where the image is not transparent, in pixels of the buffer; nil where it is opaque all over.
    var ink: [Rectangle]?
}

/// Lays layers over each other, a row at a time, in memory that stays in the cache.
enum Compositor {
    /// Draws `area` of the buffer: `layers` from the bottom to the top over `background`.
    ///
    /// `scratch` is an image at least as wide as the area, whose content is lost.
    static func compose(
        _ layers: [ComposedLayer], over background: UInt32, area: Rectangle, into target: PixelTarget,
        scratch: PixelImage
    ) {
        precondition(area.width <= scratch.size.width, "the scratch image is as wide as the screen")
        let covering = layers.lastIndex { $0.ink == nil && $0.target.intersection(area) == area }
        for y in area.y..<max(area.y, area.bottom) {
            let row = scratch.row(0)
            if covering == nil { row.update(repeating: background, count: area.width) }
            for layer in layers[(covering ?? 0)...] {
                self.draw(layer, y: y, from: area.x, to: area.right, into: row)
            }
            (target.pixels + y * target.rowPixels + area.x).update(from: row, count: area.width)
        }
    }

    /// Draws what `layer` has in row `y` between two columns into `row`, which begins at column `left`.
    private static func draw(
        _ layer: ComposedLayer, y: Int, from left: Int, to right: Int, into row: UnsafeMutablePointer<UInt32>
    ) {
        let span = Rectangle(left, y, right - left, 1).intersection(layer.target)
        guard !span.isEmpty else { return }
        let source = layer.image.row(y - layer.target.y)
        guard let ink = layer.ink else {
            (row + (span.x - left)).update(from: source + (span.x - layer.target.x), count: span.width)
            return
        }
        for area in ink {
            let inked = span.intersection(area)
            guard !inked.isEmpty else { continue }
            self.blend(source + (inked.x - layer.target.x), over: row + (inked.x - left), count: inked.width)
        }
    }

    /// Porter and Duff's "over" for premultiplied pixels.
    static func blend(
        _ source: UnsafePointer<UInt32>, over target: UnsafeMutablePointer<UInt32>, count: Int
    ) {
        for index in 0..<count {
            let pixel = source[index]
            let alpha = pixel >> 24
            if alpha == 0xFF {
                target[index] = pixel
            } else if alpha != 0 {
                target[index] = pixel &+ self.scaled(target[index], by: 0xFF - alpha)
            }
        }
    }

    /// Each of the four bytes times `factor`/255, rounded.
    private static func scaled(_ pixel: UInt32, by factor: UInt32) -> UInt32 {
        // Two bytes at a time; x/255 is (x + x/256 + 128)/256 with x's own rounding in it.
        let even = (pixel & 0x00FF_00FF) &* factor &+ 0x0080_0080
        let odd = ((pixel >> 8) & 0x00FF_00FF) &* factor &+ 0x0080_0080
        let low = ((even &+ ((even >> 8) & 0x00FF_00FF)) >> 8) & 0x00FF_00FF
        let high = (odd &+ ((odd >> 8) & 0x00FF_00FF)) & 0xFF00_FF00
        return low | high
    }

    /// Copies an image as it stands on the glass.
    static func turn(
        _ image: PixelImage, _ orientation: Orientation, into target: PixelTarget, at x: Int, _ y: Int
    ) {
        let (width, height) = (image.size.width, image.size.height)
        // Where the first pixel goes, and how far it is from there to the next one of its row and to the next row.
        let first: Int
        let step: (right: Int, down: Int)
        switch orientation.quarters {
        case 1: (first, step) = (height - 1, (target.rowPixels, -1))
        case 2: (first, step) = ((height - 1) * target.rowPixels + width - 1, (-1, -target.rowPixels))
        case 3: (first, step) = ((width - 1) * target.rowPixels, (-target.rowPixels, 1))
        default: (first, step) = (0, (1, target.rowPixels))
        }
        let start = target.pixels + y * target.rowPixels + x + first
        for row in 0..<height {
            let source = image.row(row)
            let out = start + row * step.down
            if orientation.isMirrored {
                for column in 0..<width { out[column * step.right] = source[width - 1 - column] }
            } else {
                for column in 0..<width { out[column * step.right] = source[column] }
            }
        }
    }
}
