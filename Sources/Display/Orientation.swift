// SPDX-License-Identifier: Apache-2.0

/// How a picture stands on the glass: mirrored first, left and right changing places, and then turned.
public struct Orientation: Hashable, Sendable {
    /// Quarter turns clockwise, 0 to 3.
    public let quarters: Int
    public let isMirrored: Bool

    public static let upright = Orientation()

    public init(quarters: Int = 0, isMirrored: Bool = false) {
        self.quarters = quarters & 3
        self.isMirrored = isMirrored
    }

    var isUpright: Bool { self == .upright }
    /// Width and height change places.
    var isLying: Bool { self.quarters & 1 == 1 }

    /// The size of a thing of `size` once it is turned; and back, as it is the same.
    func turned(_ size: PixelSize) -> PixelSize {
        self.isLying ? PixelSize(size.height, size.width) : size
    }

    /// Where `rectangle` of a picture of `size` is once that is turned.
    func turned(_ rectangle: Rectangle, in size: PixelSize) -> Rectangle {
        let mirrored =
            self.isMirrored
            ? Rectangle(size.width - rectangle.right, rectangle.y, rectangle.width, rectangle.height) : rectangle
        let place = self.turned(mirrored.size)
        switch self.quarters {
        case 1: return Rectangle(size.height - mirrored.bottom, mirrored.x, place.width, place.height)
        case 2: return Rectangle(size.width - mirrored.right, size.height - mirrored.bottom, place.width, place.height)
        case 3: return Rectangle(mirrored.y, size.width - mirrored.right, place.width, place.height)
        default: return mirrored
        }
    }
}
