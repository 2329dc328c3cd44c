// SPDX-License-Identifier: Apache-2.0

/// Width and height in pixels, of a screen, a buffer or a picture.
public struct PixelSize: Hashable, Sendable {
    public var width: Int
    public var height: Int

    public init(_ width: Int, _ height: Int) {
        self.width = width
        self.height = height
    }

    var area: Int64 { Int64(self.width) * Int64(self.height) }
}

/// A rectangle in pixels; `x` and `y` are its upper left corner.
public struct Rectangle: Hashable, Sendable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int

    public init(_ x: Int, _ y: Int, _ width: Int, _ height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// All of something of that size.
    public init(_ size: PixelSize) {
        self.init(0, 0, size.width, size.height)
    }

    public var size: PixelSize { PixelSize(self.width, self.height) }
    public var isEmpty: Bool { self.width <= 0 || self.height <= 0 }
    public var right: Int { self.x + self.width }
    public var bottom: Int { self.y + self.height }

    /// What both cover; empty where they do not meet.
    public func intersection(_ other: Rectangle) -> Rectangle {
        let left = max(self.x, other.x)
        let top = max(self.y, other.y)
        let width = min(self.right, other.right) - left
        let height = min(self.bottom, other.bottom) - top
        return width > 0 && height > 0 ? Rectangle(left, top, width, height) : Rectangle(0, 0, 0, 0)
    }

    public func contains(_ other: Rectangle) -> Bool {
        self.intersection(other) == other
    }
}

/// The shape of one sample, width to height. Square where a stream says nothing or nonsense.
public struct SampleAspect: Hashable, Sendable {
    public let width: Int
    public let height: Int

    public static let square = SampleAspect(1, 1)

    /// Ratios beyond 16:1 and numbers that are not positive count as square.
    public init(_ width: Int, _ height: Int) {
        let sane = width > 0 && height > 0 && width <= 1 << 20 && height <= 1 << 20
        let isNear = sane && width <= height * 16 && height <= width * 16
        self.width = isNear ? width : 1
        self.height = isNear ? height : 1
    }
}

/// How a picture is put into an area of another shape.
public enum PictureFit: Sendable {
    /// All of the picture, with black bars.
    case fit
    /// All of the area; what stands over is cut off, the same on both sides.
    case fill
}

/// Which part of a picture is shown, and where.
public struct PicturePlace: Equatable, Sendable {
    /// In samples of the picture. Even on all sides, for the sake of chroma.
    public var source: Rectangle
    /// In pixels of the screen.
    public var destination: Rectangle
}

extension PictureFit {
    /// Bars of fewer pixels than this (both together) are not worth showing: the picture takes the whole area.
    static let barsMinPixels = 4

    /// Where a picture of `size` goes in `area`.
    ///
    /// `fit` rounds like this: the side that touches the area has its length, the other one is computed from the aspect
    /// and rounded down to an even number; the rectangle is centred and its corner rounded down to even numbers. All is
    /// even so that the place does not depend on the format that a plane happens to want.
    public func place(_ size: PixelSize, _ aspect: SampleAspect, in area: Rectangle) -> PicturePlace {
        // On a 32-bit board Int would overflow here.
        let width = Int64(size.width) * Int64(aspect.width)
        let height = Int64(size.height) * Int64(aspect.height)
        guard width > 0, height > 0, area.width >= 2, area.height >= 2 else {
            return PicturePlace(source: Rectangle(size), destination: Rectangle(0, 0, 0, 0))
        }
        switch self {
        case .fit:
            return PicturePlace(source: Self.even(Rectangle(size)), destination: Self.fit(width, height, area))
        case .fill:
            return PicturePlace(
                source: Self.crop(size, width, height, area), destination: Self.even(area))
        }
    }

    private static func fit(_ width: Int64, _ height: Int64, _ area: Rectangle) -> Rectangle {
        var fitted = area.size
        if width * Int64(area.height) >= height * Int64(area.width) {
            fitted.height = Int(height * Int64(area.width) / width)
        } else {
            fitted.width = Int(width * Int64(area.height) / height)
        }
        if area.width - fitted.width < self.barsMinPixels { fitted.width = area.width }
        if area.height - fitted.height < self.barsMinPixels { fitted.height = area.height }
        fitted = PixelSize(max(2, fitted.width & ~1), max(2, fitted.height & ~1))
        return Rectangle(
            (area.x + (area.width - fitted.width) / 2) & ~1, (area.y + (area.height - fitted.height) / 2) & ~1,
            fitted.width, fitted.height)
    }

    private static func crop(_ size: PixelSize, _ width: Int64, _ height: Int64, _ area: Rectangle) -> Rectangle {
        var kept = size
        if width * Int64(area.height) >= height * Int64(area.width) {
            kept.width = Int(Int64(size.width) * height * Int64(area.width) / (width * Int64(area.height)))
        } else {
            kept.height = Int(Int64(size.height) * width * Int64(area.height) / (height * Int64(area.width)))
        }
        kept = PixelSize(max(2, kept.width), max(2, kept.height))
        let (left, top) = ((size.width - kept.width) / 2, (size.height - kept.height) / 2)
        return self.even(Rectangle(left, top, kept.width, kept.height))
    }

    private static func even(_ rectangle: Rectangle) -> Rectangle {
        Rectangle(rectangle.x & ~1, rectangle.y & ~1, max(2, rectangle.width & ~1), max(2, rectangle.height & ~1))
    }
}
