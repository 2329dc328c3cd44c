// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine

/// Draws a `ScreenState` as it is: a card that fills the screen, or, while the far end's picture is shown, only the
/// legend, a caption and faults over it.
struct Page {
    private let state: ScreenState
    private let canvas: Canvas
    private let layout: ScreenLayout
    private let unit: Double
    /// Where the own picture lies.
    private let hole: Rectangle?
    private var ink: [Rectangle] = []

    /// Draws on `words`, which is as large as the screen. `hole` stays transparent on cards.
    static func draw(_ state: ScreenState, on words: LayerImage, around hole: Rectangle?) {
        guard let canvas = Canvas(words.image) else { return }
        var page = Page(state, canvas, ScreenLayout(words.image.size), hole)
        page.draw()
        words.ink = page.ink
        words.touch()
    }

    private init(_ state: ScreenState, _ canvas: Canvas, _ layout: ScreenLayout, _ hole: Rectangle?) {
        self.state = state
        self.canvas = canvas
        self.layout = layout
        self.unit = Double(layout.unit)
        self.hole = hole
    }

    private mutating func draw() {
        self.canvas.clear()
        switch self.state.remote {
        case .hidden:
            self.ink = [Rectangle(self.layout.screen)]
            self.canvas.fill(Palette.background)
            if let hole = self.hole { self.canvas.clear(hole) }
            self.drawCard()
        case .shown:
            self.drawCaption()
        }
        self.drawBanner()
        self.drawCallBar()
        self.drawChips()
    }

    /// Notes that `box` is drawn on.
    private mutating func cover(_ box: Box) {
        if self.state.remote == .shown { self.ink.append(box.pixels.intersection(Rectangle(self.layout.screen))) }
    }
}

// MARK: - Card

extension Page {
    /// The part of the screen that sign and sentences may take: between the strips, and clear of the own picture.
    private var cardArea: Box {
        var top = self.unit
        var bottom = self.canvas.height - self.unit
        if !self.state.banner.isEmpty { top = Double(self.layout.banner.bottom) + self.unit / 2 }
        if !self.state.callBar.isEmpty { bottom = Double(self.layout.callBar.y) - self.unit / 2 }
        if let hole = self.hole {
            if hole.y > self.layout.screen.height / 2 {
                bottom = min(bottom, Double(hole.y) - self.unit / 2)
            } else {
                top = max(top, Double(hole.bottom) + self.unit / 2)
            }
        }
        return Box(
            x: self.unit * 2, y: top, width: self.canvas.width - self.unit * 4, height: max(self.unit, bottom - top))
    }

    private func drawCard() {
        let area = self.cardArea
        let headline = self.canvas.lay(
            self.state.headline, TextStyle(size: self.unit * 2.5, isBold: true, linesMax: 2), width: area.width)
        let detail = self.canvas.lay(
            self.state.detail, TextStyle(size: self.unit * 1.25, colour: Palette.detail, linesMax: 6),
            width: area.width)
        let headlineHeight = self.state.headline.isEmpty ? 0 : headline.height
        let detailHeight = self.state.detail.isEmpty ? 0 : detail.height + self.unit * 0.6
        let sign = Sign(self.state.symbol)
        let room = area.height - headlineHeight - detailHeight
        var side = sign == nil ? 0 : min(self.unit * 7, room - self.unit)
        // Smaller than that it would be a blot.
        if side < self.unit * 2 { side = 0 }
        let gap = side > 0 ? self.unit : 0
        var y = area.y + max(0, (room - side - gap) / 2)
        if let sign, side > 0 {
            self.drawBadge(sign, x: self.canvas.width / 2, y: y + side / 2, side: side)
            y += side + gap
        }
        self.canvas.draw(headline, x: area.x, y: y)
        y += headlineHeight + self.unit * 0.6
        if detailHeight > 0 { self.canvas.draw(detail, x: area.x, y: y) }
    }

    /// A sign in a disc of its own colour.
    private func drawBadge(_ sign: Sign, x: Double, y: Double, side: Double) {
        let colour = Palette.accent(of: self.state.symbol)
        self.canvas.inSquare(at: x, y, size: side) { pen in
            pen.circle(0, 0, 1)
            pen.fill(colour)
        }
        self.canvas.inSquare(at: x, y, size: side * 0.56) { sign.draw($0, Palette.background, on: colour) }
    }
}

// MARK: - Over the picture

extension Page {
    /// A short text low on the picture.
    private mutating func drawCaption() {
        guard !self.state.detail.isEmpty else { return }
        let text = self.canvas.lay(
            self.state.detail, TextStyle(size: self.unit, linesMax: 6), width: self.canvas.width / 2)
        let height = text.height + self.unit * 0.8
        let width = self.canvas.width / 2 + self.unit * 1.6
        let box = Box(
            x: (self.canvas.width - width) / 2, y: Double(self.layout.callBar.y) - self.unit / 2 - height,
            width: width, height: height)
        self.canvas.fillRectangle(box, Palette.veil, radius: self.unit / 2)
        self.canvas.draw(text, x: box.x + self.unit * 0.8, y: box.y + self.unit * 0.4)
        self.cover(box)
    }

    /// Faults, along the upper edge.
    private mutating func drawBanner() {
        guard !self.state.banner.isEmpty else { return }
        let strip = self.layout.banner
        let box = Box(x: 0, y: 0, width: Double(strip.width), height: Double(strip.height))
        self.canvas.fillRectangle(box, Palette.attention)
        let style = TextStyle(
            size: self.unit * 0.9, isBold: true, colour: Palette.onAttention, linesMax: 2, isCentred: false)
        let left = self.unit * 2.6
        let text = self.canvas.lay(self.state.banner, style, width: box.width - left - self.unit)
        self.canvas.inSquare(at: self.unit * 1.45, box.height / 2, size: self.unit * 1.3) {
            Sign.warning.draw($0, Palette.onAttention, on: Palette.attention)
        }
        self.canvas.draw(text, x: left, y: (box.height - text.height) / 2)
        self.cover(box)
    }

    /// What has no button that could say it: the microphone is muted, the camera is off.
    private mutating func drawChips() {
        let shown = self.state.callBar.map { $0.button }
        var signs: [Sign] = []
        if self.state.muted, !shown.contains(.mute) { signs.append(.microphone(isCrossed: true)) }
        if self.state.videoOff, !shown.contains(.video) { signs.append(.camera(isCrossed: true)) }
        var x = self.unit
        let y = self.state.banner.isEmpty ? self.unit : Double(self.layout.banner.bottom) + self.unit / 2
        for sign in signs {
            let box = Box(x: x, y: y, width: self.unit * 2.2, height: self.unit * 2.2)
            self.canvas.fillRectangle(box, Palette.attention, radius: self.unit * 0.5)
            self.canvas.inSquare(at: x + box.width / 2, y + box.height / 2, size: self.unit * 1.4) {
                sign.draw($0, Palette.onAttention, on: Palette.attention)
            }
            self.cover(box)
            x += box.width + self.unit / 2
        }
    }
}

// MARK: - Legend

extension Page {
    /// One button of the legend.
    private struct Legend {
        var item: CallBarItem
        /// nil where there is no room for words.
        var label: TextBlock?
        var width: Double
    }

    private var ground: Colour { self.state.remote == .shown ? Palette.veil : Palette.button }

    private mutating func drawCallBar() {
        guard !self.state.callBar.isEmpty else { return }
        let legends = self.legends()
        let gap = self.unit / 2
        let height = self.unit * 2.2
        let total = legends.reduce(-gap) { $0 + $1.width + gap }
        let strip = self.layout.callBar
        var x = (self.canvas.width - total) / 2
        let y = Double(strip.y) + (Double(strip.height) - height) / 2
        for legend in legends {
            let box = Box(x: x, y: y, width: legend.width, height: height)
            self.draw(legend, in: box)
            self.cover(box)
            x += legend.width + gap
        }
    }

    /// With words where they all fit, with signs alone where not.
    private func legends() -> [Legend] {
        for size in [1.0, 0.85, 0.7] {
            let legends = self.state.callBar.map { item -> Legend in
                let colour = item.isOn ? Palette.onAttention : Palette.text
                let style = TextStyle(size: self.unit * size, isBold: true, colour: colour, isCentred: false)
                let label = self.canvas.lay(item.label, style, width: self.unit * 12)
                return Legend(item: item, label: label, width: self.unit * 3.2 + label.width)
            }
            let total = legends.reduce(self.unit) { $0 + $1.width + self.unit / 2 }
            if total <= self.canvas.width { return legends }
        }
        return self.state.callBar.map { Legend(item: $0, label: nil, width: self.unit * 2.4) }
    }

    private func draw(_ legend: Legend, in box: Box) {
        let isOn = legend.item.isOn
        let ground = isOn ? Palette.attention : self.ground
        self.canvas.fillRectangle(box, ground, radius: self.unit * 0.5)
        let colour = isOn ? Palette.onAttention : Palette.text
        let sign = Sign(legend.item.button, isOn: isOn)
        let signX = legend.label == nil ? box.x + box.width / 2 : box.x + self.unit * 1.3
        self.canvas.inSquare(at: signX, box.y + box.height / 2, size: self.unit * 1.25) {
            sign.draw($0, colour, on: ground)
        }
        guard let label = legend.label else { return }
        self.canvas.draw(label, x: box.x + self.unit * 2.4, y: box.y + (box.height - label.height) / 2)
    }
}
