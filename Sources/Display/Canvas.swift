// SPDX-License-Identifier: Apache-2.0

import Bytes
import CText
import KioskEngine

/// How a text looks.
struct TextStyle {
    /// The em, in pixels.
    var size: Double
    var isBold = false
    var colour = Palette.text
    var linesMax = 1
    var isCentred = true
}

/// A text that is laid out and ready to be drawn.
final class TextBlock {
    let width: Double
    let height: Double
    /// Where the text begins in its layout: not at 0 where it is centred, or written from right to left.
    fileprivate let offset: Double
    fileprivate let layout: OpaquePointer
    fileprivate let style: TextStyle

    fileprivate init(_ layout: OpaquePointer, _ style: TextStyle) {
        self.layout = layout
        self.style = style
        var place = PangoRectangle()
        pango_layout_get_pixel_extents(layout, nil, &place)
        self.offset = Double(place.x)
        self.width = Double(place.width)
        self.height = Double(place.height)
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(self.layout))
    }

    /// Whether a character is in no font: it would be drawn as a box.
    var isUnreadable: Bool { pango_layout_get_unknown_glyphs_count(self.layout) > 0 }
    var isCut: Bool { pango_layout_is_ellipsized(self.layout) != 0 }
}

/// Draws on an image with cairo, text with pango. Measures are pixels.
final class Canvas {
    let width: Double
    let height: Double
    private let surface: OpaquePointer
    private let context: OpaquePointer
    /// Texts are made smaller, down to this part of their size, before they are cut.
    private static let smallest = 0.6
    /// Decides between glyphs where scripts share characters.
    private let language: Language

    /// nil where cairo has no memory. The image must outlive the canvas.
    init?(_ image: PixelImage, _ language: Language = .english) {
        let bytes = UnsafeMutableRawPointer(image.pixels).assumingMemoryBound(to: UInt8.self)
        let surface = cairo_image_surface_create_for_data(
            bytes, CAIRO_FORMAT_ARGB32, Int32(image.size.width), Int32(image.size.height), Int32(image.rowPixels * 4))
        guard let surface, let context = cairo_create(surface) else { return nil }
        self.surface = surface
        self.context = context
        self.language = language
        self.width = Double(image.size.width)
        self.height = Double(image.size.height)
    }

    deinit {
        cairo_destroy(self.context)
        cairo_surface_finish(self.surface)
        cairo_surface_destroy(self.surface)
    }

    // MARK: Areas

    /// Makes all of it transparent, or `rectangle` only.
    func clear(_ rectangle: Rectangle? = nil) {
        cairo_save(self.context)
        cairo_set_operator(self.context, CAIRO_OPERATOR_CLEAR)
        if let rectangle {
            cairo_rectangle(
                self.context, Double(rectangle.x), Double(rectangle.y), Double(rectangle.width),
                Double(rectangle.height))
            cairo_fill(self.context)
        } else {
            cairo_paint(self.context)
        }
        cairo_restore(self.context)
    }

    func fill(_ colour: Colour) {
        self.use(colour)
        cairo_paint(self.context)
    }

    func fillRectangle(_ box: Box, _ colour: Colour, radius: Double = 0) {
        self.use(colour)
        let (x, y) = (box.x, box.y)
        if radius > 0 {
            cairo_new_sub_path(self.context)
            cairo_arc(self.context, x + box.width - radius, y + radius, radius, -.pi / 2, 0)
            cairo_arc(self.context, x + box.width - radius, y + box.height - radius, radius, 0, .pi / 2)
            cairo_arc(self.context, x + radius, y + box.height - radius, radius, .pi / 2, .pi)
            cairo_arc(self.context, x + radius, y + radius, radius, .pi, .pi * 3 / 2)
            cairo_close_path(self.context)
        } else {
            cairo_rectangle(self.context, x, y, box.width, box.height)
        }
        cairo_fill(self.context)
    }

    /// Draws a picture so that it fills `box`.
    func draw(_ picture: OwnPicture, in box: Box) {
        cairo_save(self.context)
        cairo_translate(self.context, box.x, box.y)
        cairo_scale(
            self.context, box.width / Double(picture.size.width), box.height / Double(picture.size.height))
        cairo_set_source_surface(self.context, picture.surface, 0, 0)
        cairo_paint(self.context)
        cairo_restore(self.context)
    }

    // MARK: Strokes, in a unit square

    /// Draws with coordinates from -1 to 1 in a square of side `size` around (`x`, `y`).
    func inSquare(at x: Double, _ y: Double, size: Double, _ draw: (Pen) -> Void) {
        cairo_save(self.context)
        cairo_translate(self.context, x, y)
        cairo_scale(self.context, size / 2, size / 2)
        cairo_set_line_cap(self.context, CAIRO_LINE_CAP_ROUND)
        cairo_set_line_join(self.context, CAIRO_LINE_JOIN_ROUND)
        draw(Pen(self.context))
        cairo_restore(self.context)
    }

    // MARK: Text

    /// Lays `text` out in at most `width` pixels; smaller than asked for where it would have to be cut otherwise.
    func lay(_ text: ByteString, _ style: TextStyle, width: Double) -> TextBlock {
        var style = style
        let smallest = style.size * Self.smallest
        while true {
            let block = self.layOnce(text, style, width: width)
            if !block.isCut || style.size * 0.9 < smallest { return block }
            style.size *= 0.9
        }
    }

    private func layOnce(_ text: ByteString, _ style: TextStyle, width: Double) -> TextBlock {
        guard let layout = pango_cairo_create_layout(self.context) else {
            preconditionFailure("pango ends the process itself when it has no memory")
        }
        let font = pango_font_description_new()
        ("Sans" as ByteString).withCString { pango_font_description_set_family(font, $0) }
        pango_font_description_set_absolute_size(font, style.size * Double(PANGO_SCALE))
        pango_font_description_set_weight(font, style.isBold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL)
        pango_layout_set_font_description(layout, font)
        pango_font_description_free(font)
        self.language.code.withCString {
            pango_context_set_language(pango_layout_get_context(layout), pango_language_from_string($0))
        }
        pango_layout_set_width(layout, Int32(width * Double(PANGO_SCALE)))
        pango_layout_set_height(layout, Int32(-style.linesMax))
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
        pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
        if style.isCentred { pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER) }
        text.withCString { pango_layout_set_text(layout, $0, Int32(text.count)) }
        return TextBlock(layout, style)
    }

    /// Draws a text with its upper left corner at (`x`, `y`).
    func draw(_ block: TextBlock, x: Double, y: Double) {
        self.use(block.style.colour)
        cairo_move_to(self.context, x - block.offset, y)
        pango_cairo_show_layout(self.context, block.layout)
    }

    private func use(_ colour: Colour) {
        cairo_set_source_rgba(self.context, colour.red, colour.green, colour.blue, colour.alpha)
    }
}
