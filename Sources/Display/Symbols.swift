// SPDX-License-Identifier: Apache-2.0

import KioskEngine

/// Signs that are understood without reading. Each is drawn in a square from -1 to 1.
enum Sign {
    case handset
    /// The handset laid down.
    case handsetDown
    /// Waves go out from the handset.
    case calling
    /// A bell.
    case ringing
    case connecting
    case talking
    case pause
    /// The handset crossed out.
    case refused
    case warning
    case microphone(isCrossed: Bool)
    case camera(isCrossed: Bool)
    case keypad
    case globe

    /// The large sign of a card; nil for none.
    init?(_ symbol: Symbol) {
        switch symbol {
        case .none: return nil
        case .handset: self = .handset
        case .calling: self = .calling
        case .ringing: self = .ringing
        case .connecting: self = .connecting
        case .talking: self = .talking
        case .hold: self = .pause
        case .ended: self = .handsetDown
        case .busy: self = .refused
        case .warning: self = .warning
        }
    }

    /// The small sign of a button in the legend.
    init(_ button: ButtonName, isOn: Bool) {
        switch button {
        case .call, .further: self = .handset
        case .hook: self = .handsetDown
        case .mute: self = .microphone(isCrossed: isOn)
        case .video: self = .camera(isCrossed: isOn)
        case .keypad: self = .keypad
        case .language: self = .globe
        }
    }

    /// `ground` is the colour behind the sign.
    func draw(_ pen: Pen, _ colour: Colour, on ground: Colour) {
        switch self {
        case .handset: Self.handset(pen, colour, turn: -45)
        case .handsetDown: Self.handset(pen, colour, turn: 90)
        case .calling:
            Self.handset(pen, colour, turn: -45)
            Self.waves(pen, colour)
        case .ringing: Self.bell(pen, colour)
        case .connecting: Self.dots(pen, colour)
        case .talking: Self.bubble(pen, colour, on: ground)
        case .pause: Self.pause(pen, colour)
        case .refused:
            Self.handset(pen, colour, turn: 90)
            Self.cross(pen, colour, on: ground)
        case .warning: Self.warning(pen, colour, on: ground)
        case .microphone(let isCrossed):
            Self.microphone(pen, colour)
            if isCrossed { Self.cross(pen, colour, on: ground) }
        case .camera(let isCrossed):
            Self.camera(pen, colour)
            if isCrossed { Self.cross(pen, colour, on: ground) }
        case .keypad: Self.keypad(pen, colour)
        case .globe: Self.globe(pen, colour)
        }
    }
}

// MARK: - Drawings

extension Sign {
    /// A grip bent to the left with ear piece and mouthpiece at its ends, turned by `turn` degrees.
    private static func handset(_ pen: Pen, _ colour: Colour, turn: Double) {
        let angle = turn * .pi / 180
        pen.turned(angle) {
            pen.arc(0.62, 0, 0.98, 138, 222)
            pen.stroke(colour, width: 0.3)
            pen.plate(0.02, -0.62, 0.5, 0.36, radius: 0.1, turn: 0.22)
            pen.fill(colour)
            pen.plate(0.02, 0.62, 0.5, 0.36, radius: 0.1, turn: -0.22)
            pen.fill(colour)
        }
    }

    private static func waves(_ pen: Pen, _ colour: Colour) {
        for radius in [0.42, 0.72] {
            pen.arc(0.12, -0.12, radius, -80, -10)
            pen.stroke(colour, width: 0.13)
        }
    }

    private static func bell(_ pen: Pen, _ colour: Colour) {
        pen.arc(0, -0.22, 0.5, 180, 360)
        pen.line(0.5, 0.24)
        pen.line(0.72, 0.5)
        pen.line(-0.72, 0.5)
        pen.line(-0.5, 0.24)
        pen.close()
        pen.fill(colour)
        pen.move(-0.66, 0.5)
        pen.line(0.66, 0.5)
        pen.stroke(colour, width: 0.14)
        pen.arc(0, 0.64, 0.2, 0, 180)
        pen.fill(colour)
        pen.circle(0, -0.74, 0.12)
        pen.fill(colour)
        for start in [-58.0, 188] {
            pen.arc(0, -0.12, 0.92, start, start + 50)
            pen.stroke(colour, width: 0.12)
        }
    }

    private static func dots(_ pen: Pen, _ colour: Colour) {
        for x in [-0.62, 0, 0.62] {
            pen.circle(x, 0, 0.2)
            pen.fill(colour)
        }
    }

    private static func bubble(_ pen: Pen, _ colour: Colour, on ground: Colour) {
        pen.plate(0, -0.14, 1.7, 1.2, radius: 0.28)
        pen.fill(colour)
        pen.move(-0.5, 0.4)
        pen.line(-0.5, 0.92)
        pen.line(0.05, 0.4)
        pen.close()
        pen.fill(colour)
        for x in [-0.42, 0, 0.42] {
            pen.circle(x, -0.14, 0.12)
            pen.fill(ground)
        }
    }

    private static func pause(_ pen: Pen, _ colour: Colour) {
        for x in [-0.34, 0.34] {
            pen.plate(x, 0, 0.38, 1.4, radius: 0.1)
            pen.fill(colour)
        }
    }

    private static func warning(_ pen: Pen, _ colour: Colour, on ground: Colour) {
        pen.move(0, -0.72)
        pen.line(0.84, 0.68)
        pen.line(-0.84, 0.68)
        pen.close()
        pen.fill(colour)
        pen.move(0, -0.72)
        pen.line(0.84, 0.68)
        pen.line(-0.84, 0.68)
        pen.close()
        pen.stroke(colour, width: 0.24)
        pen.move(0, -0.26)
        pen.line(0, 0.2)
        pen.stroke(ground, width: 0.2)
        pen.circle(0, 0.5, 0.115)
        pen.fill(ground)
    }

    private static func microphone(_ pen: Pen, _ colour: Colour) {
        pen.plate(0, -0.36, 0.56, 1.08, radius: 0.28)
        pen.fill(colour)
        pen.arc(0, -0.1, 0.56, 0, 180)
        pen.stroke(colour, width: 0.15)
        pen.move(0, 0.46)
        pen.line(0, 0.84)
        pen.stroke(colour, width: 0.15)
        pen.move(-0.34, 0.86)
        pen.line(0.34, 0.86)
        pen.stroke(colour, width: 0.15)
    }

    private static func camera(_ pen: Pen, _ colour: Colour) {
        pen.plate(-0.25, 0, 1.2, 1.06, radius: 0.2)
        pen.fill(colour)
        pen.move(0.48, -0.08)
        pen.line(0.84, -0.4)
        pen.line(0.84, 0.4)
        pen.line(0.48, 0.08)
        pen.close()
        pen.fill(colour)
        pen.move(0.48, -0.08)
        pen.line(0.84, -0.4)
        pen.line(0.84, 0.4)
        pen.line(0.48, 0.08)
        pen.close()
        pen.stroke(colour, width: 0.12)
    }

    /// Three rows of three keys, and one below them.
    private static func keypad(_ pen: Pen, _ colour: Colour) {
        for key in 0..<9 {
            pen.circle(Double(key % 3 - 1) * 0.56, Double(key / 3) * 0.5 - 0.75, 0.17)
            pen.fill(colour)
        }
        pen.circle(0, 0.75, 0.17)
        pen.fill(colour)
    }

    /// With its equator and three meridians: arcs through the poles.
    private static func globe(_ pen: Pen, _ colour: Colour) {
        let (radius, bulge) = (0.86, 0.4)
        pen.circle(0, 0, radius)
        pen.stroke(colour, width: 0.14)
        let wide = (radius * radius + bulge * bulge) / (2 * bulge)
        pen.arc(bulge - wide, 0, wide, -49.9, 49.9)
        pen.stroke(colour, width: 0.12)
        pen.arc(wide - bulge, 0, wide, 130.1, 229.9)
        pen.stroke(colour, width: 0.12)
        for (x, y) in [(radius, 0.0), (0.0, radius)] {
            pen.move(-x, -y)
            pen.line(x, y)
            pen.stroke(colour, width: 0.12)
        }
    }

    /// A stroke from the upper left to the lower right, with air around it.
    private static func cross(_ pen: Pen, _ colour: Colour, on ground: Colour) {
        pen.move(-0.78, -0.78)
        pen.line(0.78, 0.78)
        pen.stroke(ground, width: 0.44)
        pen.move(-0.78, -0.78)
        pen.line(0.78, 0.78)
        pen.stroke(colour, width: 0.17)
    }
}
