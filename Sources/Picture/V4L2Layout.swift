// SPDX-License-Identifier: Apache-2.0

import CAV
import CCodec
import CV4L2

/// How the pictures of a codec's queue lie in their buffers, checked against what the driver says of their length.
struct V4L2Layout {
    /// One plane of samples.
    struct Plane {
        /// Which of the buffer's memories it lies in.
        var memory: Int
        var offset: Int
        var stride: Int
        var rows: Int
        /// Bytes of one step to the right, and how many columns and rows of the picture a step takes.
        var step: (bytes: Int, columns: Int, rows: Int)

        func bytes(toColumn column: Int, row: Int) -> Int {
            row / self.step.rows * self.stride + column / self.step.columns * self.step.bytes
        }
    }

    let format: SharedFormat
    let pixels: AVPixelFormat?
    /// Of the buffer, in samples.
    let width: Int
    let height: Int
    private(set) var visible: VisiblePart
    let planes: [Plane]
    /// Bytes that a whole picture takes of each memory.
    let needed: [Int]
    let matrix: ColourMatrix
    let isFullRange: Bool

    var isLinear: Bool { self.format.modifier == 0 }

    private static let strideMax = 65_536

    /// nil where the format is none of ours, or its numbers contradict each other.
    init?(_ format: callbox_codec_format) {
        let (width, height) = (Int(clamping: format.width), Int(clamping: format.height))
        guard let raw = V4L2RawFormat.named(format.pixelformat),
            PictureLimits.allows(width: width, height: height)
        else { return nil }
        guard let planes = Self.planes(raw, format, width, height) else { return nil }
        let sizes = [format.size.at0, format.size.at1, format.size.at2, format.size.at3]
        let memories = raw.isSplit ? planes.count : 1
        guard Int(format.plane_count) == memories else { return nil }
        var needed: [Int] = []
        for memory in 0..<memories {
            let ends = planes.filter { $0.memory == memory }.map { $0.offset + $0.stride * $0.rows }
            needed.append(raw.modifier == .linear ? ends.max() ?? 0 : Int(clamping: sizes[memory]))
            guard needed[memory] > 0, Int(clamping: sizes[memory]) >= needed[memory] else { return nil }
        }
        self.format = SharedFormat(fourCC: raw.fourCC, modifier: Self.modifier(raw, format))
        self.pixels = raw.pixels
        self.width = width
        self.height = height
        self.visible = VisiblePart(x: 0, y: 0, width: width, height: height)
        self.planes = planes
        self.needed = needed
        self.matrix = format.is_bt709 != 0 ? .bt709 : .bt601
        self.isFullRange = format.is_full_range != 0
    }

    /// Takes the rectangle that the driver gives; one that makes no sense is passed over, and all is seen.
    mutating func show(_ part: v4l2_rect) {
        let found = VisiblePart(
            x: Int(clamping: part.left), y: Int(clamping: part.top), width: Int(clamping: part.width),
            height: Int(clamping: part.height))
        guard found.x >= 0, found.y >= 0, found.x <= self.width, found.y <= self.height,
            found.width <= self.width - found.x, found.height <= self.height - found.y,
            PictureLimits.allows(width: found.width, height: found.height)
        else { return }
        // Chroma begins at even places only.
        guard found.x % 2 == 0, found.y % 2 == 0 else { return }
        self.visible = found
    }

    private static func modifier(_ raw: V4L2RawFormat, _ format: callbox_codec_format) -> UInt64 {
        switch raw.modifier {
        case .linear: return 0
        case .fixed(let value): return value
        // fourcc_mod_broadcom_code(4, height): vendor 7, the height above the lowest byte.
        case .sand128: return 7 << 56 | UInt64(format.stride.at0) << 8 | 4
        }
    }

    private static func planes(
        _ raw: V4L2RawFormat, _ format: callbox_codec_format, _ width: Int, _ height: Int
    ) -> [Plane]? {
        let given = [format.stride.at0, format.stride.at1, format.stride.at2].map { Int(clamping: $0) }
        let tight = Self.tightStride(raw.shape, width)
        let isTiled = raw.modifier != .linear
        // Of columns the driver tells the height instead.
        let stride = raw.modifier == .sand128 ? (width + 127) / 128 * 128 : given[0] == 0 ? tight : given[0]
        guard stride >= tight, stride <= Self.strideMax, raw.modifier != .sand128 || given[0] > 0 else { return nil }
        var planes: [Plane] = []
        func add(_ stride: Int, rows: Int, step: (bytes: Int, columns: Int, rows: Int)) {
            let memory = raw.isSplit ? planes.count : 0
            let isOwn = raw.isSplit && given[memory] > 0 && given[memory] <= Self.strideMax
            let before = planes.last.map { $0.offset + $0.stride * $0.rows } ?? 0
            planes.append(
                Plane(
                    memory: memory, offset: raw.isSplit ? 0 : before, stride: isOwn ? given[memory] : stride,
                    rows: rows, step: step))
        }
        switch raw.shape {
        case .packed(let bytes, let pair):
            add(stride, rows: height, step: pair ? (bytes * 2, 2, 1) : (bytes, 1, 1))
        case .semiPlanar(let across, let down):
            add(stride, rows: height, step: (1, 1, 1))
            add(stride * 2 / across, rows: (height + down - 1) / down, step: (2, across, down))
        case .planar(let across, let down):
            add(stride, rows: height, step: (1, 1, 1))
            for _ in 0..<2 {
                add(stride / across, rows: (height + down - 1) / down, step: (1, across, down))
            }
        }
        if isTiled, !raw.isSplit { planes[1].offset = Self.tiledChroma(raw, stride, height) }
        return planes.contains { $0.stride < Self.tightStride($0, width) && !isTiled } ? nil : planes
    }

    /// Where chroma begins in a buffer of tiles: in columns of 128 bytes it follows luma within each column; elsewhere
    /// after all of luma, whose rows are filled up to whole tiles of 32.
    private static func tiledChroma(_ raw: V4L2RawFormat, _ stride: Int, _ height: Int) -> Int {
        raw.modifier == .sand128 ? 128 * height : stride * ((height + 31) / 32 * 32)
    }

    private static func tightStride(_ shape: V4L2RawFormat.Shape, _ width: Int) -> Int {
        if case .packed(let bytes, let pair) = shape { return bytes * (pair ? (width + 1) / 2 * 2 : width) }
        return width
    }

    private static func tightStride(_ plane: Plane, _ width: Int) -> Int {
        (width + plane.step.columns - 1) / plane.step.columns * plane.step.bytes
    }
}
