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

    /// Where the far end's picture goes: the whole screen.
    public func remote(_ size: PixelSize, _ aspect: SampleAspect, _ fit: DisplaySettings.Fit) -> PicturePlace {
        let area = Rectangle(self.screen)
        switch fit {
        case .fit: return PictureFit.fit.place(size, aspect, in: area)
        case .fill: return PictureFit.fill.place(size, aspect, in: area)
        }
    }

    /// Where the own picture goes: whole, in a quarter of the screen's width and height at most, in a corner between
    /// the strips.
    public func selfView(
        _ size: PixelSize, _ aspect: SampleAspect, _ corner: DisplaySettings.Corner
    ) -> PicturePlace {
        let box = Rectangle(0, 0, self.screen.width / 4, self.screen.height / 4)
        var place = PictureFit.fit.place(size, aspect, in: box)
        let shown = place.destination.size
        let left = self.unit & ~1
        let right = max(0, self.screen.width - self.unit - shown.width) & ~1
        let top = (self.banner.bottom + self.unit / 2) & ~1
        let bottom = max(0, self.callBar.y - self.unit / 2 - shown.height) & ~1
        switch corner {
        case .topLeft: (place.destination.x, place.destination.y) = (left, top)
        case .topRight: (place.destination.x, place.destination.y) = (right, top)
        case .bottomLeft: (place.destination.x, place.destination.y) = (left, bottom)
        case .bottomRight: (place.destination.x, place.destination.y) = (right, bottom)
        }
        return place
    }
}
