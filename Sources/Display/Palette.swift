// SPDX-License-Identifier: Apache-2.0

import KioskEngine

/// A colour with alpha, each part from 0 to 1, not premultiplied.
struct Colour: Equatable {
    var red: Double
    var green: Double
    var blue: Double
    var alpha: Double = 1

    /// 0xRRGGBB.
    init(_ hex: UInt32, alpha: Double = 1) {
        self.red = Double(hex >> 16 & 0xFF) / 255
        self.green = Double(hex >> 8 & 0xFF) / 255
        self.blue = Double(hex & 0xFF) / 255
        self.alpha = alpha
    }
}

/// The colours of all pages. Dark, so that the screen does not blind at night; every pair that is used for text has at
/// least the contrast of WCAG 2.2 success criterion 1.4.6 (7:1), symbols that of 1.4.11 (3:1).
enum Palette {
    static let background = Colour(0x0B1622)
    /// Where nothing but the owner's picture, or nothing at all, is to be seen.
    static let black = Colour(0x000000)
    static let text = Colour(0xFFFFFF)
    static let detail = Colour(0xD5DEE8)
    static let calm = Colour(0x4FC3F7)
    static let good = Colour(0x66E08A)
    static let attention = Colour(0xFFC947)
    static let alarm = Colour(0xFF8A80)
    /// Text and symbols on `attention`.
    static let onAttention = Colour(0x1A1200)
    /// Behind the legend and captions, over whatever the picture shows.
    static let veil = Colour(0x0B1622, alpha: 0.86)
    /// The legend on a card.
    static let button = Colour(0x24384C)

    static func accent(of symbol: Symbol) -> Colour {
        switch symbol {
        case .none, .handset, .calling, .ringing, .connecting: return self.calm
        case .talking: return self.good
        case .hold, .busy: return self.attention
        case .ended: return self.detail
        case .warning: return self.alarm
        }
    }
}
