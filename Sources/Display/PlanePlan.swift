// SPDX-License-Identifier: Apache-2.0

/// What the screen is made of, from the bottom to the top.
public enum Layer: Int, Sendable {
    /// The far end's picture.
    case remote
    /// The own camera.
    case selfView
    /// Text, symbols and the legend.
    case words
}

/// What the kernel calls the type of a plane (drm_plane_type).
public enum PlaneKind: Sendable {
    case primary
    case overlay
    case cursor
}

/// Where a plane can stand in the stack: the "zpos" property, or its place in the order of ids without one.
public struct PlaneOrder: Hashable, Sendable {
    public var lowest: Int
    public var highest: Int
    /// False where the property is immutable or missing.
    public var isSettable: Bool

    public init(_ range: ClosedRange<Int>) {
        self.lowest = range.lowerBound
        self.highest = range.upperBound
        self.isSettable = true
    }

    public init(fixed position: Int) {
        self.lowest = position
        self.highest = position
        self.isSettable = false
    }
}

/// What a plane says that it can do. Nothing tells what it scales, how it may be placed or what it shares with other
/// planes: that is asked by DRM_MODE_ATOMIC_TEST_ONLY.
public struct PlaneCapability: Hashable, Sendable {
    public var id: UInt32
    public var kind: PlaneKind
    /// Those it takes with a linear layout.
    public var formats: PixelFormats
    /// All that it takes, as the kernel names it; for pictures that are shown as they lie.
    public var shared: [SharedKind]
    public var order: PlaneOrder
    /// "rotation" has reflect-x.
    public var reflectsX: Bool
    /// The quarter turns clockwise that "rotation" has, none among them.
    public var quarters: [Int]

    public init(
        _ id: UInt32, _ kind: PlaneKind, _ formats: PixelFormats, _ order: PlaneOrder, reflectsX: Bool = false,
        quarters: [Int] = [0], shared: [SharedKind] = []
    ) {
        self.id = id
        self.kind = kind
        self.formats = formats
        self.shared = shared
        self.order = order
        self.reflectsX = reflectsX
        self.quarters = quarters
    }

    func takes(_ orientation: Orientation) -> Bool {
        self.quarters.contains(orientation.quarters) && (!orientation.isMirrored || self.reflectsX)
    }

    func takes(_ kind: SharedKind) -> Bool {
        self.shared.contains { kind.isTaken(as: $0) }
    }
}

/// One picture that is to be on the screen.
public struct PictureWish: Equatable, Sendable {
    /// The format in which pictures come, or software reads them.
    public var format: PixelFormat
    public var place: PicturePlace
    public var orientation: Orientation
    /// What a plane has to take to show them as they lie; nil for pictures in memory of our own.
    public var direct: DirectPicture?

    public init(
        _ format: PixelFormat, _ place: PicturePlace, _ orientation: Orientation = .upright,
        direct: DirectPicture? = nil
    ) {
        self.format = format
        self.place = place
        self.orientation = orientation
        self.direct = direct
    }
}

/// What is to be on the screen. The words are always there, as large as the screen, the pictures below them.
public struct PlanRequest: Equatable, Sendable {
    public var screen: PixelSize
    public var remote: PictureWish?
    public var selfView: PictureWish?

    public init(screen: PixelSize, remote: PictureWish? = nil, selfView: PictureWish? = nil) {
        self.screen = screen
        self.remote = remote
        self.selfView = selfView
    }

    /// The layers in use, from the bottom to the top.
    var layers: [Layer] {
        (self.remote == nil ? [] : [.remote]) + (self.selfView == nil ? [] : [.selfView]) + [.words]
    }

    func picture(_ layer: Layer) -> PictureWish? {
        switch layer {
        case .remote: return self.remote
        case .selfView: return self.selfView
        case .words: return nil
        }
    }
}

/// One layer in a buffer.
public struct Placement: Equatable, Sendable {
    public var layer: Layer
    /// What is taken, in samples of the picture; for words, in pixels of the screen.
    public var source: Rectangle
    /// Where it goes, in pixels of the buffer. Of another size than `source` where software scales.
    public var target: Rectangle
    /// How software turns it.
    public var orientation: Orientation

    /// The size of what is turned, before that.
    var uprightSize: PixelSize { self.orientation.turned(self.target.size) }
    public var isScaled: Bool { self.source.size != self.uprightSize }
}

/// One plane with the buffer that it scans out.
public struct SurfacePlan: Equatable, Sendable {
    public var plane: UInt32
    /// The value for "zpos"; nil where it cannot be set.
    public var position: Int?
    public var format: PixelFormat
    /// All of the buffer is shown: it is the plane's source rectangle.
    public var buffer: PixelSize
    /// The plane's destination rectangle. Of another size than `buffer`, turned, where the plane scales.
    public var destination: Rectangle
    /// How the plane turns the buffer.
    public var orientation: Orientation
    /// From the bottom to the top. Several are composed in software; outside of them the buffer is black (or, in
    /// ARGB8888, transparent).
    public var placements: [Placement]
    /// The pictures of a codec are shown as they lie in its memory: nothing is drawn.
    public var direct: DirectPicture?

    /// The part of the buffer that is shown.
    var source: Rectangle {
        guard let direct = self.direct, let placement = self.placements.first else { return Rectangle(self.buffer) }
        let part = placement.source
        return Rectangle(
            direct.visible.x + part.x, direct.visible.y + part.y, part.width, part.height)
    }

    public var isComposed: Bool { self.placements.count > 1 }
}

/// One way of putting everything on the screen.
public struct Arrangement: Equatable, Sendable {
    /// From the bottom to the top.
    public var surfaces: [SurfacePlan]
    /// What it costs to show one new picture of each layer, roughly in bytes that the processor touches.
    public var cost: Int64
}
