// SPDX-License-Identifier: Apache-2.0

/// The pixel formats that the display can make; the raw value is the kernel's code (drm_fourcc.h).
public enum PixelFormat: UInt32, Sendable {
    /// One word a pixel: blue in the lowest byte, the highest unused.
    case xrgb8888 = 0x3432_5258
    /// The same with alpha in the highest byte; colours are premultiplied.
    case argb8888 = 0x3432_5241
    /// Planes Y and UV; chroma of half the size both ways.
    case nv12 = 0x3231_564E
    /// Planes Y, U and V; chroma of half the size both ways.
    case yuv420 = 0x3231_5559
    /// Packed Y0 U Y1 V; chroma of half the width.
    case yuyv = 0x5659_5559

    public static let all: [PixelFormat] = [.xrgb8888, .argb8888, .nv12, .yuv420, .yuyv]

    public var isYUV: Bool {
        switch self {
        case .xrgb8888, .argb8888: return false
        case .nv12, .yuv420, .yuyv: return true
        }
    }

    /// Bits a pixel, all planes together.
    var bitsPerPixel: Int {
        switch self {
        case .xrgb8888, .argb8888: return 32
        case .nv12, .yuv420: return 12
        case .yuyv: return 16
        }
    }
}

/// Formats as a set, the kernel's modifier always being linear.
public struct PixelFormats: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public init(_ formats: [PixelFormat]) {
        self.init()
        for format in formats { self.insert(Self.bit(format)) }
    }

    public func contains(_ format: PixelFormat) -> Bool {
        self.contains(Self.bit(format))
    }

    private static func bit(_ format: PixelFormat) -> PixelFormats {
        switch format {
        case .xrgb8888: return PixelFormats(rawValue: 1)
        case .argb8888: return PixelFormats(rawValue: 2)
        case .nv12: return PixelFormats(rawValue: 4)
        case .yuv420: return PixelFormats(rawValue: 8)
        case .yuyv: return PixelFormats(rawValue: 16)
        }
    }
}

/// Where one plane of a buffer lies in it, in bytes.
struct PlaneLayout: Equatable {
    var offset: Int
    var pitch: Int
    var rows: Int
}

/// How a buffer of a format is laid out in one dumb buffer.
struct BufferLayout: Equatable {
    let format: PixelFormat
    let size: PixelSize

    /// Rows begin at multiples of this many pixels: enough for every controller's rules about pitches.
    private static let widthStep = 64

    /// What to ask of DRM_IOCTL_MODE_CREATE_DUMB: width and height in units of `bitsPerUnit` bits.
    var dumb: (width: Int, height: Int, bitsPerUnit: Int) {
        let width = (self.size.width + Self.widthStep - 1) / Self.widthStep * Self.widthStep
        switch self.format {
        case .xrgb8888, .argb8888: return (width, self.size.height, 32)
        case .yuyv: return (width, self.size.height, 16)
        case .nv12, .yuv420: return (width, self.size.height + (self.size.height + 1) / 2, 8)
        }
    }

    /// The planes, given the pitch that the kernel chose.
    func planes(pitch: Int) -> [PlaneLayout] {
        let rows = self.size.height
        let luma = PlaneLayout(offset: 0, pitch: pitch, rows: rows)
        let chromaRows = (rows + 1) / 2
        switch self.format {
        case .xrgb8888, .argb8888, .yuyv:
            return [luma]
        case .nv12:
            return [luma, PlaneLayout(offset: pitch * rows, pitch: pitch, rows: chromaRows)]
        case .yuv420:
            let blue = PlaneLayout(offset: pitch * rows, pitch: pitch / 2, rows: chromaRows)
            let red = PlaneLayout(offset: blue.offset + blue.pitch * chromaRows, pitch: pitch / 2, rows: chromaRows)
            return [luma, blue, red]
        }
    }

    /// The byte, within plane `index`, at which pixel (`x`, `y`) begins; `x` and `y` even where chroma is halved.
    func byteOffset(plane index: Int, x: Int, y: Int, pitch: Int) -> Int {
        switch self.format {
        case .xrgb8888, .argb8888: return y * pitch + x * 4
        case .yuyv: return y * pitch + x * 2
        case .nv12: return index == 0 ? y * pitch + x : y / 2 * pitch + x
        case .yuv420: return index == 0 ? y * pitch + x : y / 2 * pitch + x / 2
        }
    }
}
