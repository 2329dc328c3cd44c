// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine

// MARK: - Keypad

extension Page {
    /// On a card: below a small headline, in the middle.
    mutating func drawKeypadCard() {
        var area = self.content
        let headline = self.canvas.lay(
            self.state.headline, TextStyle(size: self.unit * 1.4, isBold: true), width: area.width)
        self.canvas.draw(headline, x: self.centred(headline, in: area), y: area.y)
        area.y += headline.height + self.unit / 2
        area.height -= headline.height + self.unit / 2
        self.drawKeypad(in: area)
    }

    /// What was entered, and twelve keys below it: at the last side over a picture, so that a face stays free.
    mutating func drawKeypad(in area: Box) {
        guard let keypad = self.state.keypad else { return }
        let step = min(self.unit * 2.6, area.height / 5.2)
        let width = step * 4.2
        var box = Box(x: 0, y: area.y + max(0, area.height - step * 5.2) / 2, width: width, height: step * 5.2)
        box.x = self.state.remote == .shown ? area.x + area.width - width : (self.canvas.width - width) / 2
        box = self.sided(box)
        if self.state.remote == .shown {
            if let hole = self.hole, !box.pixels.intersection(hole).isEmpty {
                box.x = self.canvas.width - box.x - box.width
            }
            self.canvas.fillRectangle(box, Palette.veil, radius: self.unit / 2)
            self.cover(box)
        }
        let entered = self.canvas.lay(
            keypad.entered.isEmpty ? " " : Self.tail(keypad.entered),
            TextStyle(size: step * 0.6, isBold: true), width: width)
        self.canvas.draw(entered, x: self.centred(entered, in: box), y: box.y + (step - entered.height) / 2)
        // Keys have the same order in every language.
        for (index, key) in KeypadView.keys.enumerated() {
            let x = box.x + step * (0.1 + Double(index % 3) * 1.35)
            let y = box.y + step * (1.05 + Double(index / 3) * 1.03)
            self.draw(key, isSelected: key == keypad.selected, in: Box(x: x, y: y, width: step * 1.3, height: step))
        }
    }

    private func draw(_ key: UInt8, isSelected: Bool, in box: Box) {
        self.canvas.fillRectangle(
            box, isSelected ? Palette.attention : Palette.button, radius: self.unit * 0.4)
        let colour = isSelected ? Palette.onAttention : Palette.text
        let text = self.canvas.lay(
            ByteString([key]), TextStyle(size: box.height * 0.6, isBold: true, colour: colour), width: box.width)
        self.canvas.draw(
            text, x: self.centred(text, in: box), y: box.y + (box.height - text.height) / 2)
    }

    /// The last keys; more would be too small to read.
    private static func tail(_ entered: ByteString) -> ByteString {
        ByteString(entered.bytes.suffix(12))
    }
}
