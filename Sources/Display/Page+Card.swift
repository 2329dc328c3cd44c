// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine

// MARK: - Card

extension Page {
    /// From the top to the bottom: sign, clock or seconds; headline; detail; code.
    func drawCard() {
        let area = self.clearContent
        let headline = self.canvas.lay(
            self.state.countdown?.text ?? self.state.headline,
            TextStyle(size: self.unit * 2.5, isBold: true, linesMax: 2), width: area.width)
        let detail = self.canvas.lay(
            self.state.countdown == nil ? self.state.detail : "",
            TextStyle(size: self.unit * 1.25, colour: Palette.detail, linesMax: 6), width: area.width)
        let code = self.canvas.lay(
            self.state.code, TextStyle(size: self.unit * 0.9, colour: Palette.detail), width: area.width)
        let headlineHeight = self.state.headline.isEmpty && self.state.countdown == nil ? 0 : headline.height
        let detailHeight = self.state.detail.isEmpty ? 0 : detail.height + self.unit * 0.6
        let codeHeight = self.state.code.isEmpty ? 0 : code.height + self.unit * 0.6
        let room = area.height - headlineHeight - detailHeight - codeHeight
        var side = self.hasTop ? min(self.unit * 7, room - self.unit) : 0
        // Smaller than that it would be a blot.
        if side < self.unit * 2 { side = 0 }
        let gap = side > 0 ? self.unit : 0
        var y = area.y + max(0, (room - side - gap) / 2)
        if side > 0 {
            self.drawTop(y: y + side / 2, side: side)
            y += side + gap
        }
        if headlineHeight > 0 { self.canvas.draw(headline, x: self.centred(headline, in: area), y: y) }
        y += headlineHeight + self.unit * 0.6
        if detailHeight > 0 { self.canvas.draw(detail, x: self.centred(detail, in: area), y: y) }
        y += detailHeight
        if codeHeight > 0 { self.canvas.draw(code, x: self.centred(code, in: area), y: y) }
    }

    private var hasTop: Bool {
        if self.moment.countdownSeconds != nil { return true }
        return self.state.page == .clock ? !self.moment.clock.isEmpty : Sign(self.state.symbol) != nil
    }

    private func drawTop(y: Double, side: Double) {
        if let seconds = self.moment.countdownSeconds {
            self.drawDisc(y: y, side: side, Palette.attention)
            self.drawLarge(ByteString(decimal: seconds), y: y, size: side * 0.5, Palette.onAttention)
        } else if self.state.page == .clock {
            self.drawLarge(self.moment.clock, y: y, size: side * 0.8, Palette.text)
        } else if let sign = Sign(self.state.symbol) {
            let colour = Palette.accent(of: self.state.symbol)
            self.drawDisc(y: y, side: side, colour)
            self.canvas.inSquare(at: self.canvas.width / 2, y, size: side * 0.56) {
                sign.draw($0, Palette.background, on: colour)
            }
        }
    }

    private func drawDisc(y: Double, side: Double, _ colour: Colour) {
        self.canvas.inSquare(at: self.canvas.width / 2, y, size: side) { pen in
            pen.circle(0, 0, 1)
            pen.fill(colour)
        }
    }

    /// Digits around the middle line `y`.
    private func drawLarge(_ text: ByteString, y: Double, size: Double, _ colour: Colour) {
        let block = self.canvas.lay(
            text, TextStyle(size: size, isBold: true, colour: colour), width: self.canvas.width)
        self.canvas.draw(block, x: (self.canvas.width - block.width) / 2, y: y - block.height / 2)
    }
}

// MARK: - The owner's picture, and the own camera

extension Page {
    /// As large as it can be shown whole; the card where there is none.
    func drawPicture() {
        guard let picture = self.picture else { return self.drawCard() }
        var area = Box(x: 0, y: 0, width: self.canvas.width, height: self.canvas.height)
        if !self.state.banner.isEmpty {
            area.y = Double(self.layout.banner.bottom)
            area.height -= area.y
        }
        if !self.state.callBar.isEmpty { area.height = Double(self.layout.callBar.y) - area.y }
        let scale = min(area.width / Double(picture.size.width), area.height / Double(picture.size.height))
        let (width, height) = (Double(picture.size.width) * scale, Double(picture.size.height) * scale)
        self.canvas.draw(
            picture,
            in: Box(
                x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width: width,
                height: height))
    }

    /// Under the own camera's picture, which takes the rest of the screen.
    func drawMirrorTitle() {
        guard self.hole != nil else { return self.drawCard() }
        let strip = self.layout.mirrorTitle
        let box = Box(x: self.unit, y: Double(strip.y), width: Double(strip.width) - self.unit * 2, height: 0)
        let title = self.canvas.lay(
            self.state.headline, TextStyle(size: self.unit * 1.6, isBold: true), width: box.width)
        self.canvas.draw(
            title, x: self.centred(title, in: box), y: box.y + (Double(strip.height) - title.height) / 2)
    }
}
