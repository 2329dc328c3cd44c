// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine

/// What a page shows that is not in its state, because it changes by itself.
struct PageMoment: Equatable {
    /// The time of day, as in `14:05`; empty where nobody knows it.
    var clock = ByteString()
    /// How long the call has lasted.
    var timerSeconds: Int?
    /// Until the thing that is counted down to happens.
    var countdownSeconds: Int?
}

/// Draws a `ScreenState` as it is: a card or a list that fills the screen, or, while the far end's picture is shown,
/// only the legend, a caption and faults over it.
///
/// In a language that is written from right to left everything changes sides but signs, pictures and digits.
struct Page {
    let state: ScreenState
    let moment: PageMoment
    let picture: OwnPicture?
    let canvas: Canvas
    let layout: ScreenLayout
    let unit: Double
    /// Where the own picture lies.
    let hole: Rectangle?
    private var ink: [Rectangle] = []

    /// Draws on `words`, which is as large as the screen. `hole` stays transparent on cards.
    static func draw(
        _ state: ScreenState, _ moment: PageMoment = PageMoment(), picture: OwnPicture? = nil, on words: LayerImage,
        around hole: Rectangle?
    ) {
        guard let canvas = Canvas(words.image, state.language) else { return }
        var page = Page(state, moment, picture, canvas, ScreenLayout(words.image.size), hole)
        page.draw()
        words.ink = page.ink
        words.touch()
    }

    private init(
        _ state: ScreenState, _ moment: PageMoment, _ picture: OwnPicture?, _ canvas: Canvas, _ layout: ScreenLayout,
        _ hole: Rectangle?
    ) {
        self.state = state
        self.moment = moment
        self.picture = picture
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
            self.drawGround()
            if let hole = self.hole { self.canvas.clear(hole) }
            guard self.state.page != .dark else { return }
            self.drawContent()
            self.drawStatus()
        case .shown:
            self.drawStatus()
            self.drawCaption()
            if self.state.keypad != nil { self.drawKeypad(in: self.content) }
        }
        self.drawBanner()
        if self.state.page != .black { self.drawCallBar() }
        self.drawChips()
    }

    private func drawGround() {
        switch self.state.page {
        case .black, .dark, .image: self.canvas.fill(Palette.black)
        case .card, .clock, .mirror, .problems, .health: self.canvas.fill(Palette.background)
        }
    }

    private mutating func drawContent() {
        if self.state.keypad != nil { return self.drawKeypadCard() }
        switch self.state.page {
        case .card: self.drawCard()
        case .clock: self.drawCard()
        case .image: self.drawPicture()
        case .mirror: self.drawMirrorTitle()
        case .problems: self.drawProblems()
        case .health: self.drawHealth()
        case .black, .dark: break
        }
    }

    /// Notes that `box` is drawn on.
    mutating func cover(_ box: Box) {
        if self.state.remote == .shown { self.ink.append(box.pixels.intersection(Rectangle(self.layout.screen))) }
    }
}

// MARK: - Places

extension Page {
    var isRightToLeft: Bool { self.state.language.isRightToLeft }

    /// A place that is meant for a language that is written from left to right.
    func sided(_ box: Box) -> Box {
        guard self.isRightToLeft else { return box }
        var sided = box
        sided.x = self.canvas.width - box.x - box.width
        return sided
    }

    /// Where a text begins that stands at the first side of `box`, which is sided already.
    func leading(_ text: TextBlock, in box: Box) -> Double {
        self.isRightToLeft ? box.x + box.width - text.width : box.x
    }

    func centred(_ text: TextBlock, in box: Box) -> Double {
        box.x + (box.width - text.width) / 2
    }

    /// The part of the screen between the strips, and clear of the own picture.
    var content: Box {
        var top = self.unit
        var bottom = self.canvas.height - self.unit
        if !self.state.banner.isEmpty { top = Double(self.layout.banner.bottom) + self.unit / 2 }
        if !self.state.callBar.isEmpty { bottom = Double(self.layout.callBar.y) - self.unit / 2 }
        return Box(
            x: self.unit * 2, y: top, width: self.canvas.width - self.unit * 4, height: max(self.unit, bottom - top))
    }

    /// The same clear of the own picture.
    var clearContent: Box {
        var box = self.content
        guard let hole = self.hole else { return box }
        if hole.y > self.layout.screen.height / 2 {
            box.height = min(box.height, Double(hole.y) - self.unit / 2 - box.y)
        } else {
            let top = max(box.y, Double(hole.bottom) + self.unit / 2)
            box.height -= top - box.y
            box.y = top
        }
        box.height = max(self.unit, box.height)
        return box
    }
}
