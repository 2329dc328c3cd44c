// SPDX-License-Identifier: Apache-2.0

/// How the samples of a shared picture lie, by the kernel's numbers (drm_fourcc.h). Modifier 0 is linear.
public struct SharedKind: Hashable, Sendable {
    public var fourCC: UInt32
    public var modifier: UInt64

    public init(_ fourCC: UInt32, modifier: UInt64 = 0) {
        self.fourCC = fourCC
        self.modifier = modifier
    }

    /// Whether a plane that names `offered` takes this: the columns of Broadcom's codecs carry their height in the
    /// modifier, which planes name without it.
    func isTaken(as offered: SharedKind) -> Bool {
        guard self.fourCC == offered.fourCC else { return false }
        if self.modifier == offered.modifier { return true }
        let (vendor, kind) = (self.modifier >> 56, self.modifier & 0xFF)
        return vendor == 7 && (2...5).contains(kind) && offered.modifier == vendor << 56 | kind
    }
}

/// What a plane has to take to show pictures of one codec as they lie.
public struct DirectPicture: Hashable, Sendable {
    public var kind: SharedKind
    /// Of the buffer, in samples.
    public var coded: PixelSize
    /// The part of it that is to be seen.
    public var visible: Rectangle

    public init(_ kind: SharedKind, coded: PixelSize, visible: Rectangle) {
        self.kind = kind
        self.coded = coded
        self.visible = visible
    }
}

/// One plane of samples: the dma-buf that it lies in, where it begins there, and from one row to the next, in bytes.
public struct SharedImagePlane {
    public var dmaBuf: Int32
    public var offset: UInt32
    public var pitch: UInt32

    public init(_ dmaBuf: Int32, offset: UInt32, pitch: UInt32) {
        self.dmaBuf = dmaBuf
        self.offset = offset
        self.pitch = pitch
    }
}

/// A picture in memory that a codec or a camera shares with the display. The display keeps the object as long as the
/// controller may read the memory; whoever made it has the memory back when the object goes.
public final class SharedImage {
    /// Names the memory: no two memories have the same.
    public let buffer: UInt64
    /// Names the memories that come and go with this one.
    public let pool: UInt64
    public let direct: DirectPicture
    public let planes: [SharedImagePlane]
    public let aspect: SampleAspect
    public let colours: PictureColours
    /// What `read` gives.
    public let format: PixelFormat
    private let reader: ((PictureView) -> Void) -> Bool

    /// - Parameter reader: lets software read the picture, in `format`; false where that cannot be. It keeps the
    ///   memory: its life is that of this object.
    public init(
        buffer: UInt64, pool: UInt64, _ direct: DirectPicture, planes: [SharedImagePlane],
        aspect: SampleAspect = .square, colours: PictureColours = PictureColours(), format: PixelFormat,
        reader: @escaping ((PictureView) -> Void) -> Bool
    ) {
        self.buffer = buffer
        self.pool = pool
        self.direct = direct
        self.planes = planes
        self.aspect = aspect
        self.colours = colours
        self.format = format
        self.reader = reader
    }

    var size: PixelSize { self.direct.visible.size }

    /// Whether sizes make sense; a picture that does not is not shown.
    var isSane: Bool {
        let sides = 2...PictureView.sideMax
        let (coded, visible) = (self.direct.coded, self.direct.visible)
        return sides.contains(coded.width) && sides.contains(coded.height) && sides.contains(visible.width)
            && sides.contains(visible.height) && visible.x >= 0 && visible.y >= 0
            && visible.x <= coded.width - visible.width && visible.y <= coded.height - visible.height
            && (1...4).contains(self.planes.count)
    }

    /// Hands the picture to software; false where it cannot be read, or what is read makes no sense.
    public func read(_ body: (PictureView) -> Bool) -> Bool {
        var isDone = false
        let isRead = withoutActuallyEscaping(body) { body in
            self.reader { view in
                isDone = view.isSane && view.size == self.size && body(view)
            }
        }
        return isRead && isDone
    }
}

/// What of a picture decides how it is shown.
struct PictureShape: Equatable {
    var size: PixelSize
    var aspect: SampleAspect
    var format: PixelFormat
    /// nil for a picture in memory of our own.
    var direct: DirectPicture?

    init(_ view: PictureView) {
        self.size = view.size
        self.aspect = view.aspect
        self.format = view.format
    }

    init(_ image: SharedImage) {
        self.size = image.size
        self.aspect = image.aspect
        self.format = image.format
        self.direct = image.direct
    }
}
