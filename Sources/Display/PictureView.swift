// SPDX-License-Identifier: Apache-2.0

/// Which matrix makes RGB of Y, U and V (ITU-T H.273, table 4).
public enum PictureMatrix: Sendable {
    case bt601
    case bt709
}

/// How the numbers of a YUV picture are to be read.
public struct PictureColours: Equatable, Sendable {
    public var matrix: PictureMatrix
    /// Y from 0 to 255 rather than from 16 to 235.
    public var isFullRange: Bool

    public init(_ matrix: PictureMatrix = .bt601, isFullRange: Bool = false) {
        self.matrix = matrix
        self.isFullRange = isFullRange
    }
}

/// One plane of a picture: where its first visible sample is, and the bytes from one row to the next.
public struct PicturePlane {
    public var bytes: UnsafePointer<UInt8>?
    public var stride: Int

    public init(_ bytes: UnsafePointer<UInt8>?, stride: Int) {
        self.bytes = bytes
        self.stride = stride
    }

    public static let none = PicturePlane(nil, stride: 0)
}

/// A picture in memory of the caller, who keeps it alive and unchanged during the call that it is given to.
public struct PictureView {
    /// The largest picture that is shown.
    public static let sideMax = 8192

    /// The visible part, which begins at the first sample of each plane.
    public var size: PixelSize
    public var aspect: SampleAspect
    public var format: PixelFormat
    /// As many as the format has; the others have no bytes.
    public var planes: (PicturePlane, PicturePlane, PicturePlane)
    public var colours: PictureColours

    public init(
        _ size: PixelSize, aspect: SampleAspect = .square, format: PixelFormat,
        planes: (PicturePlane, PicturePlane, PicturePlane), colours: PictureColours = PictureColours()
    ) {
        self.size = size
        self.aspect = aspect
        self.format = format
        self.planes = planes
        self.colours = colours
    }

    /// Whether sizes and strides make sense; a picture that does not is not shown.
    var isSane: Bool {
        let isSized = (2...Self.sideMax).contains(self.size.width) && (2...Self.sideMax).contains(self.size.height)
        guard isSized else { return false }
        let rowBytes = PictureRows(self.format, self.size)
        return self.fits(self.planes.0, rowBytes.bytes(0)) && self.fits(self.planes.1, rowBytes.bytes(1))
            && self.fits(self.planes.2, rowBytes.bytes(2))
    }

    private func fits(_ plane: PicturePlane, _ bytes: Int) -> Bool {
        bytes == 0 || plane.bytes != nil && plane.stride >= bytes
    }
}

/// How many bytes and rows each plane of a picture has.
struct PictureRows {
    private let format: PixelFormat
    private let size: PixelSize

    init(_ format: PixelFormat, _ size: PixelSize) {
        self.format = format
        self.size = size
    }

    /// Of one row of plane `index`; 0 where the format has no such plane.
    func bytes(_ index: Int) -> Int {
        let half = (self.size.width + 1) / 2
        switch self.format {
        case .xrgb8888, .argb8888: return index == 0 ? self.size.width * 4 : 0
        case .yuyv: return index == 0 ? half * 4 : 0
        case .nv12: return index == 0 ? self.size.width : index == 1 ? half * 2 : 0
        case .yuv420: return index == 0 ? self.size.width : half
        }
    }

    func count(_ index: Int) -> Int {
        switch self.format {
        case .xrgb8888, .argb8888, .yuyv: return index == 0 ? self.size.height : 0
        case .nv12: return index == 0 ? self.size.height : index == 1 ? (self.size.height + 1) / 2 : 0
        case .yuv420: return index == 0 ? self.size.height : (self.size.height + 1) / 2
        }
    }
}

/// A picture that is kept until there is a place on the screen for it: a copy, or one in shared memory.
final class HeldPicture {
    let shape: PictureShape
    let shared: SharedImage?
    /// Without bytes for a picture in shared memory.
    let view: PictureView
    private let memory: UnsafeMutablePointer<UInt8>?

    init(_ image: SharedImage) {
        self.shape = PictureShape(image)
        self.shared = image
        self.view = PictureView(image.size, format: image.format, planes: (.none, .none, .none))
        self.memory = nil
    }

    /// False where it cannot be read, or is not taken.
    func read(_ body: (PictureView) -> Bool) -> Bool {
        self.shared?.read(body) ?? body(self.view)
    }

    /// Copies `picture`, which makes sense.
    init(_ picture: PictureView) {
        let rows = PictureRows(picture.format, picture.size)
        let counts = (0..<3).map { rows.bytes($0) * rows.count($0) }
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: counts[0] + counts[1] + counts[2])
        var at = memory
        let sources = [picture.planes.0, picture.planes.1, picture.planes.2]
        var copies = [PicturePlane](repeating: .none, count: 3)
        for index in 0..<3 where counts[index] > 0 {
            copies[index] = PicturePlane(UnsafePointer(at), stride: rows.bytes(index))
            for row in 0..<rows.count(index) {
                guard let source = sources[index].bytes else { break }
                at.update(from: source + row * sources[index].stride, count: rows.bytes(index))
                at += rows.bytes(index)
            }
        }
        self.memory = memory
        self.shape = PictureShape(picture)
        self.shared = nil
        var view = picture
        view.planes = (copies[0], copies[1], copies[2])
        self.view = view
    }

    deinit {
        self.memory?.deallocate()
    }
}
