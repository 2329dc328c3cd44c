// SPDX-License-Identifier: Apache-2.0

import KioskEngine

/// Where things are on a screen of a given size. All measures hang on one unit, so that a small panel and a large
/// monitor look alike.
public struct ScreenLayout: Equatable, Sendable {
    public let screen: PixelSize
    /// A twenty-fourth of the shorter side, in pixels; at least 8.
    let unit: Int

    public init(_ screen: PixelSize) {
        self.screen = screen
        self.unit = max(8, min(screen.width, screen.height) / 24)
    }

    /// The strip at the lower edge that belongs to the legend.
    var callBar: Rectangle {
        Rectangle(0, self.screen.height - 3 * self.unit, self.screen.width, 3 * self.unit)
    }

    /// The strip at the upper edge that belongs to faults, when there is one.
    var banner: Rectangle {
        Rectangle(0, 0, self.screen.width, 5 * self.unit / 2)
    }

    /// Above the legend: what stands under the own camera's picture while that is large.
    var mirrorTitle: Rectangle {
        Rectangle(0, self.screen.height - 6 * self.unit, self.screen.width, 3 * self.unit)
    }

    /// Where the own camera's picture goes while nobody calls and it is all that is shown.
    public func mirror(_ size: PixelSize, _ aspect: SampleAspect) -> PicturePlace {
        let top = self.banner.bottom & ~1
        let area = Rectangle(0, top, self.screen.width, max(2, self.mirrorTitle.y - top))
        return PictureFit.fit.place(size, aspect, in: area)
    }

    /// Where the far end's picture goes: the whole screen, or the first half of its longer side.
    public func remote(_ size: PixelSize, _ aspect: SampleAspect, _ settings: DisplaySettings) -> PicturePlace {
        let area = settings.layout == .sideBySide ? self.halves.first : Rectangle(self.screen)
        switch settings.remote {
        case .fit: return PictureFit.fit.place(size, aspect, in: area)
        case .fill: return PictureFit.fill.place(size, aspect, in: area)
        }
    }

    /// The two halves in which pictures stand beside each other, or one above the other where the screen is upright.
    var halves: (first: Rectangle, second: Rectangle) {
        let (width, height) = (self.screen.width, self.screen.height)
        if width >= height {
            let middle = width / 2 & ~1
            return (Rectangle(0, 0, middle, height), Rectangle(middle, 0, width - middle, height))
        }
        let middle = height / 2 & ~1
        return (Rectangle(0, 0, width, middle), Rectangle(0, middle, width, height - middle))
    }

    /// Where the own picture goes while it stands beside the far end's.
    public func beside(_ size: PixelSize, _ aspect: SampleAspect) -> PicturePlace {
        PictureFit.fit.place(size, aspect, in: self.halves.second)
    }

    /// Where the own picture goes: whole, in a part of the screen's width and height, in a corner between the strips.
    public func selfView(
        _ size: PixelSize, _ aspect: SampleAspect, _ settings: DisplaySettings
    ) -> PicturePlace {
        let percent = settings.selfViewPercent
        let box = Rectangle(0, 0, self.screen.width * percent / 100, self.screen.height * percent / 100)
        var place = PictureFit.fit.place(size, aspect, in: box)
        let shown = place.destination.size
        let left = self.unit & ~1
        let right = max(0, self.screen.width - self.unit - shown.width) & ~1
        let top = (self.banner.bottom + self.unit / 2) & ~1
        let bottom = max(0, self.callBar.y - self.unit / 2 - shown.height) & ~1
        switch settings.selfViewCorner {
        case .topLeft: (place.destination.x, place.destination.y) = (left, top)
        case .topRight: (place.destination.x, place.destination.y) = (right, top)
        case .bottomLeft: (place.destination.x, place.destination.y) = (left, bottom)
        case .bottomRight: (place.destination.x, place.destination.y) = (right, bottom)
        }
        return place
    }
}
