// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine

// MARK: - Over the picture

extension Page {
    /// A short text low on the picture.
    mutating func drawCaption() {
        var words = self.state.detail
        if let countdown = self.state.countdown, let seconds = self.moment.countdownSeconds {
            words = countdown.text + " " + ByteString(decimal: seconds)
        }
        guard !words.isEmpty else { return }
        let text = self.canvas.lay(words, TextStyle(size: self.unit, linesMax: 6), width: self.canvas.width / 2)
        let height = text.height + self.unit * 0.8
        let width = self.canvas.width / 2 + self.unit * 1.6
        let box = Box(
            x: (self.canvas.width - width) / 2, y: Double(self.layout.callBar.y) - self.unit / 2 - height,
            width: width, height: height)
        self.canvas.fillRectangle(box, Palette.veil, radius: self.unit / 2)
        self.canvas.draw(text, x: self.centred(text, in: box), y: box.y + self.unit * 0.4)
        self.cover(box)
    }

    /// Who is there, and for how long: in the first corner, out of the own picture's way.
    mutating func drawStatus() {
        guard let seconds = self.moment.timerSeconds else { return }
        let name = self.state.name.isEmpty ? self.state.name : self.state.name + "   "
        let text = self.canvas.lay(
            name + Self.duration(seconds), TextStyle(size: self.unit * 0.85, isCentred: false),
            width: self.canvas.width / 2)
        let y = self.state.banner.isEmpty ? self.unit / 2 : Double(self.layout.banner.bottom) + self.unit / 2
        let size = (width: text.width + self.unit, height: text.height + self.unit * 0.4)
        var box = self.sided(Box(x: self.unit / 2, y: y, width: size.width, height: size.height))
        if let hole = self.hole, !box.pixels.intersection(hole).isEmpty {
            box.x = self.canvas.width - box.x - box.width
        }
        self.canvas.fillRectangle(box, self.ground, radius: self.unit * 0.3)
        self.canvas.draw(text, x: self.centred(text, in: box), y: y + self.unit * 0.2)
        self.cover(box)
    }

    /// As in `2:05` or `1:02:05`.
    static func duration(_ seconds: Int) -> ByteString {
        let hours = seconds / 3600
        let minutes = seconds / 60 % 60
        var text = ByteString()
        if hours > 0 {
            text.append(decimal: hours)
            text += minutes < 10 ? ":0" : ":"
        }
        text.append(decimal: minutes)
        text += seconds % 60 < 10 ? ":0" : ":"
        text.append(decimal: seconds % 60)
        return text
    }

    /// Faults, along the upper edge.
    mutating func drawBanner() {
        guard !self.state.banner.isEmpty else { return }
        let strip = self.layout.banner
        let box = Box(x: 0, y: 0, width: Double(strip.width), height: Double(strip.height))
        self.canvas.fillRectangle(box, Palette.attention)
        let style = TextStyle(
            size: self.unit * 0.9, isBold: true, colour: Palette.onAttention, linesMax: 2, isCentred: false)
        let left = self.unit * 2.6
        let place = self.sided(Box(x: left, y: 0, width: box.width - left - self.unit, height: 0))
        let sign = self.sided(Box(x: self.unit * 0.8, y: 0, width: self.unit * 1.3, height: 0))
        let text = self.canvas.lay(self.state.banner, style, width: place.width)
        self.canvas.inSquare(at: sign.x + sign.width / 2, box.height / 2, size: self.unit * 1.3) {
            Sign.warning.draw($0, Palette.onAttention, on: Palette.attention)
        }
        self.canvas.draw(text, x: self.leading(text, in: place), y: (box.height - text.height) / 2)
        self.cover(box)
    }

    /// What has no button that could say it: the microphone is muted, the camera is off. Under the name.
    mutating func drawChips() {
        let shown = self.state.callBar.map { $0.button }
        var signs: [Sign] = []
        if self.state.muted, !shown.contains(.mute) { signs.append(.microphone(isCrossed: true)) }
        if self.state.videoOff, !shown.contains(.video) { signs.append(.camera(isCrossed: true)) }
        var x = self.unit / 2
        var y = self.state.banner.isEmpty ? self.unit / 2 : Double(self.layout.banner.bottom) + self.unit / 2
        if self.moment.timerSeconds != nil { y += self.unit * 2 }
        for sign in signs {
            let box = self.sided(Box(x: x, y: y, width: self.unit * 2.2, height: self.unit * 2.2))
            self.canvas.fillRectangle(box, Palette.attention, radius: self.unit * 0.5)
            self.canvas.inSquare(at: box.x + box.width / 2, y + box.height / 2, size: self.unit * 1.4) {
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

    mutating func drawCallBar() {
        guard !self.state.callBar.isEmpty else { return }
        let legends = self.legends()
        let gap = self.unit / 2
        let height = self.unit * 2.2
        let total = legends.reduce(-gap) { $0 + $1.width + gap }
        let strip = self.layout.callBar
        var x = (self.canvas.width - total) / 2
        let y = Double(strip.y) + (Double(strip.height) - height) / 2
        for legend in legends {
            let box = self.sided(Box(x: x, y: y, width: legend.width, height: height))
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
        let fromSide = legend.label == nil ? box.width / 2 : self.unit * 1.3
        let signX = self.isRightToLeft ? box.x + box.width - fromSide : box.x + fromSide
        self.canvas.inSquare(at: signX, box.y + box.height / 2, size: self.unit * 1.25) {
            sign.draw($0, colour, on: ground)
        }
        guard let label = legend.label else { return }
        let labelX = self.isRightToLeft ? signX - self.unit * 1.1 - label.width : signX + self.unit * 1.1
        self.canvas.draw(label, x: labelX, y: box.y + (box.height - label.height) / 2)
    }
}
