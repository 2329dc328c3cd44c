// SPDX-License-Identifier: Apache-2.0

import CText

/// A rectangle in fractions of pixels.
struct Box {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    /// The whole pixels that it touches.
    var pixels: Rectangle {
        let left = Int(self.x.rounded(.down))
        let top = Int(self.y.rounded(.down))
        return Rectangle(
            left, top, Int((self.x + self.width).rounded(.up)) - left, Int((self.y + self.height).rounded(.up)) - top)
    }
}

/// Paths in a unit square.
struct Pen {
    private let context: OpaquePointer

    init(_ context: OpaquePointer) {
        self.context = context
    }

    func move(_ x: Double, _ y: Double) {
        cairo_move_to(self.context, x, y)
    }

    func line(_ x: Double, _ y: Double) {
        cairo_line_to(self.context, x, y)
    }

    /// Part of a circle, angles in degrees, clockwise from the right.
    func arc(_ x: Double, _ y: Double, _ radius: Double, _ from: Double, _ to: Double) {
        cairo_new_sub_path(self.context)
        cairo_arc(self.context, x, y, radius, from * .pi / 180, to * .pi / 180)
    }

    func circle(_ x: Double, _ y: Double, _ radius: Double) {
        self.arc(x, y, radius, 0, 360)
    }

    /// A rectangle with round corners, turned by `turn` radians around its middle (`x`, `y`).
    func plate(_ x: Double, _ y: Double, _ width: Double, _ height: Double, radius: Double, turn: Double = 0) {
        cairo_save(self.context)
        cairo_translate(self.context, x, y)
        cairo_rotate(self.context, turn)
        let (w, h) = (width / 2 - radius, height / 2 - radius)
        cairo_new_sub_path(self.context)
        cairo_arc(self.context, w, -h, radius, -.pi / 2, 0)
        cairo_arc(self.context, w, h, radius, 0, .pi / 2)
        cairo_arc(self.context, -w, h, radius, .pi / 2, .pi)
        cairo_arc(self.context, -w, -h, radius, .pi, .pi * 3 / 2)
        cairo_close_path(self.context)
        cairo_restore(self.context)
    }

    func close() {
        cairo_close_path(self.context)
    }

    func stroke(_ colour: Colour, width: Double) {
        self.use(colour)
        cairo_set_line_width(self.context, width)
        cairo_stroke(self.context)
    }

    func fill(_ colour: Colour) {
        self.use(colour)
        cairo_fill(self.context)
    }

    /// Draws with the square turned by `angle` radians.
    func turned(_ angle: Double, _ draw: () -> Void) {
        cairo_save(self.context)
        cairo_rotate(self.context, angle)
        draw()
        cairo_restore(self.context)
    }

    private func use(_ colour: Colour) {
        cairo_set_source_rgba(self.context, colour.red, colour.green, colour.blue, colour.alpha)
    }
}
