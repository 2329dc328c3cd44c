// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine

// MARK: - Pages for whoever installs the kiosk

extension Page {
    /// One problem a line, as many as there is room for; the configuration's own words, which are English.
    func drawProblems() {
        let area = self.clearContent
        let top = self.drawTitle(in: area)
        let style = TextStyle(size: self.unit * 0.9, colour: Palette.detail, linesMax: 2, isCentred: false)
        self.drawRows(self.state.problems.count, in: area, from: top) { index, box in
            let text = self.canvas.lay(self.state.problems[index], style, width: box.width)
            return (text.height, { self.canvas.draw(text, x: box.x, y: $0) })
        }
    }

    /// What is fitted and how it fares: a dot, a name, a value.
    func drawHealth() {
        let area = self.clearContent
        let top = self.drawTitle(in: area)
        self.drawRows(self.state.health.count, in: area, from: top) { index, box in
            let line = self.state.health[index]
            return self.healthRow(line, in: box)
        }
    }

    /// The headline; where what follows it begins.
    private func drawTitle(in area: Box) -> Double {
        let title = self.canvas.lay(
            self.state.headline, TextStyle(size: self.unit * 1.5, isBold: true, isCentred: false), width: area.width)
        self.canvas.draw(title, x: self.leading(title, in: area), y: area.y)
        return area.y + title.height + self.unit * 0.6
    }

    /// Lays out rows until one does not fit; how many are left out is said below.
    private func drawRows(
        _ count: Int, in area: Box, from top: Double, _ row: (Int, Box) -> (height: Double, draw: (Double) -> Void)
    ) {
        let last = area.y + area.height - self.unit
        var y = top
        for index in 0..<count {
            let (height, draw) = row(index, area)
            guard y + height <= (index == count - 1 ? last + self.unit : last) else {
                let more = self.canvas.lay(
                    "+ " + ByteString(decimal: count - index),
                    TextStyle(size: self.unit * 0.9, isBold: true, isCentred: false), width: area.width)
                return self.canvas.draw(more, x: self.leading(more, in: area), y: y)
            }
            draw(y)
            y += height + self.unit * 0.35
        }
    }

    private func healthRow(_ line: HealthLine, in area: Box) -> (height: Double, draw: (Double) -> Void) {
        let nameBox = self.sided(
            Box(x: area.x + self.unit * 1.4, y: 0, width: area.width * 0.3 - self.unit * 1.4, height: 0))
        let valueBox = self.sided(
            Box(x: area.x + area.width * 0.32, y: 0, width: area.width * 0.68, height: 0))
        let dotBox = self.sided(Box(x: area.x, y: 0, width: self.unit, height: 0))
        let name = self.canvas.lay(
            line.name, TextStyle(size: self.unit * 0.9, isBold: true, isCentred: false), width: nameBox.width)
        let value = self.canvas.lay(
            line.value, TextStyle(size: self.unit * 0.9, colour: Palette.detail, linesMax: 2, isCentred: false),
            width: valueBox.width)
        let colour = line.isGood ? Palette.good : Palette.alarm
        return (
            max(name.height, value.height),
            { y in
                self.canvas.inSquare(at: dotBox.x + self.unit / 2, y + name.height / 2, size: self.unit * 0.8) { pen in
                    // Not by its colour alone: what is wrong is a cross.
                    if line.isGood {
                        pen.circle(0, 0, 0.8)
                        pen.fill(colour)
                    } else {
                        pen.move(-0.7, -0.7)
                        pen.line(0.7, 0.7)
                        pen.stroke(colour, width: 0.4)
                        pen.move(0.7, -0.7)
                        pen.line(-0.7, 0.7)
                        pen.stroke(colour, width: 0.4)
                    }
                }
                self.canvas.draw(name, x: self.leading(name, in: nameBox), y: y)
                self.canvas.draw(value, x: self.leading(value, in: valueBox), y: y)
            }
        )
    }
}
