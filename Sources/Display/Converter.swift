// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV

/// Where converted samples go: up to three planes.
struct TargetPlanes {
    private(set) var bytes: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?)
    private(set) var strides: (Int, Int, Int)

    init() {
        self.bytes = (nil, nil, nil)
        self.strides = (0, 0, 0)
    }

    /// One plane of 32-bit pixels.
    init(_ image: PixelImage) {
        self.init()
        image.pixels.withMemoryRebound(to: UInt8.self, capacity: image.rowPixels * image.size.height * 4) {
            self.set(0, $0, stride: image.rowPixels * 4)
        }
    }

    func plane(_ index: Int) -> (UnsafeMutablePointer<UInt8>?, stride: Int) {
        switch index {
        case 0: return (self.bytes.0, self.strides.0)
        case 1: return (self.bytes.1, self.strides.1)
        default: return (self.bytes.2, self.strides.2)
        }
    }

    mutating func set(_ index: Int, _ bytes: UnsafeMutablePointer<UInt8>, stride: Int) {
        switch index {
        case 0: (self.bytes.0, self.strides.0) = (bytes, stride)
        case 1: (self.bytes.1, self.strides.1) = (bytes, stride)
        default: (self.bytes.2, self.strides.2) = (bytes, stride)
        }
    }
}

/// Memory beside the screen, with room at the end of each row for what vector units write too much.
private final class Aside {
    /// libswscale writes whole groups of 16 pixels; twice that, for processors to come.
    static let widthStep = 32

    let layout: BufferLayout
    private let memory: UnsafeMutablePointer<UInt8>
    private let pitch: Int

    init(_ layout: BufferLayout) {
        let dumb = layout.dumb
        self.layout = layout
        self.pitch = dumb.width * dumb.bitsPerUnit / 8
        self.memory = UnsafeMutablePointer<UInt8>.allocate(capacity: self.pitch * dumb.height)
    }

    deinit {
        self.memory.deallocate()
    }

    var planes: TargetPlanes {
        var planes = TargetPlanes()
        for (index, plane) in self.layout.planes(pitch: self.pitch).enumerated() {
            planes.set(index, self.memory + plane.offset, stride: plane.pitch)
        }
        return planes
    }

    func copy(to target: TargetPlanes) {
        let rows = PictureRows(self.layout.format, self.layout.size)
        for (index, plane) in self.layout.planes(pitch: self.pitch).enumerated() {
            let (bytes, stride) = target.plane(index)
            for row in 0..<rows.count(index) {
                bytes?.advanced(by: row * stride).update(
                    from: self.memory + plane.offset + row * plane.pitch, count: rows.bytes(index))
            }
        }
    }
}

/// Scales and converts pictures by libswscale, into whatever memory they are wanted in.
final class Converter {
    /// What a scaler was made for.
    private struct Job: Equatable {
        var from: PixelFormat
        var fromSize: PixelSize
        var to: PixelFormat
        var toSize: PixelSize
        var colours: PictureColours
        var toFullRange: Bool

        /// Of NV12 as it is libswscale copies luma alone.
        var isCopyOfPairs: Bool {
            self.from == .nv12 && self.to == .nv12 && self.fromSize == self.toSize
                && self.colours.isFullRange == self.toFullRange
        }
    }

    private var job: Job?
    private var scaler: OpaquePointer?
    private var aside: Aside?
    // libswscale wants arrays of four.
    private let sources = UnsafeMutablePointer<UnsafePointer<UInt8>?>.allocate(capacity: 4)
    private let targets = UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>.allocate(capacity: 4)
    private let sourceStrides = UnsafeMutablePointer<Int32>.allocate(capacity: 4)
    private let targetStrides = UnsafeMutablePointer<Int32>.allocate(capacity: 4)

    init() {
        self.sources.initialize(repeating: nil, count: 4)
        self.targets.initialize(repeating: nil, count: 4)
        self.sourceStrides.initialize(repeating: 0, count: 4)
        self.targetStrides.initialize(repeating: 0, count: 4)
    }

    deinit {
        sws_freeContext(self.scaler)
        self.sources.deallocate()
        self.targets.deallocate()
        self.sourceStrides.deallocate()
        self.targetStrides.deallocate()
    }

    /// Writes the part `source` of `picture` (even corner) as `size` pixels of `format`. False where libswscale
    /// refuses.
    ///
    /// Rows may be written up to the next multiple of 16 pixels, unless `keepsInside`: that costs a copy for widths
    /// which are not such a multiple.
    func convert(
        _ picture: PictureView, _ source: Rectangle, to format: PixelFormat, _ size: PixelSize, _ planes: TargetPlanes,
        isFullRange: Bool, keepsInside: Bool = false
    ) -> Bool {
        guard keepsInside, size.width % Aside.widthStep != 0 else {
            return self.convert(picture, source, to: format, size, planes, isFullRange: isFullRange)
        }
        let layout = BufferLayout(format: format, size: size)
        let aside = self.aside?.layout == layout ? self.aside! : Aside(layout)
        self.aside = aside
        guard self.convert(picture, source, to: format, size, aside.planes, isFullRange: isFullRange) else {
            return false
        }
        aside.copy(to: planes)
        return true
    }

    private func convert(
        _ picture: PictureView, _ source: Rectangle, to format: PixelFormat, _ size: PixelSize, _ planes: TargetPlanes,
        isFullRange: Bool
    ) -> Bool {
        let job = Job(
            from: picture.format, fromSize: source.size, to: format, toSize: size, colours: picture.colours,
            toFullRange: isFullRange)
        if job.isCopyOfPairs { return self.copyPairs(picture, source, planes) }
        guard self.prepare(job) else { return false }
        self.point(at: picture, source)
        (self.targets[0], self.targets[1], self.targets[2]) = planes.bytes
        self.targetStrides[0] = Int32(planes.strides.0)
        self.targetStrides[1] = Int32(planes.strides.1)
        self.targetStrides[2] = Int32(planes.strides.2)
        let rows = sws_scale(
            self.scaler, self.sources, self.sourceStrides, 0, Int32(source.height), self.targets, self.targetStrides)
        return Int(rows) == size.height
    }

    private func copyPairs(_ picture: PictureView, _ source: Rectangle, _ planes: TargetPlanes) -> Bool {
        let rows = PictureRows(.nv12, source.size)
        self.point(at: picture, source)
        for index in 0..<2 {
            let (target, stride) = planes.plane(index)
            guard let target, let start = self.sources[index] else { return false }
            for row in 0..<rows.count(index) {
                (target + row * stride).update(
                    from: start + row * Int(self.sourceStrides[index]), count: rows.bytes(index))
            }
        }
        return true
    }

    /// Makes the scaler fit; it is kept as long as the job stays the same.
    private func prepare(_ job: Job) -> Bool {
        if self.job == job { return self.scaler != nil }
        sws_freeContext(self.scaler)
        self.job = job
        self.scaler = Self.scaler(job)
        guard let scaler = self.scaler else { return false }
        // SWS_CS_ITU709 and SWS_CS_ITU601.
        let table = sws_getCoefficients(job.colours.matrix == .bt709 ? 1 : 5)
        // Refused where both formats are RGB, which then need no matrix.
        _ = sws_setColorspaceDetails(
            scaler, table, job.colours.isFullRange ? 1 : 0, table, job.toFullRange ? 1 : 0, 0, 1 << 16, 1 << 16)
        return true
    }

    private static func scaler(_ job: Job) -> OpaquePointer? {
        guard let scaler = sws_alloc_context() else { return nil }
        let options: [(StaticString, Int)] = [
            ("srcw", job.fromSize.width), ("srch", job.fromSize.height), ("src_format", Self.code(job.from)),
            ("dstw", job.toSize.width), ("dsth", job.toSize.height), ("dst_format", Self.code(job.to)),
            // Set here already, for else a mere change of range would be taken for a copy.
            ("src_range", job.colours.isFullRange ? 1 : 0), ("dst_range", job.toFullRange ? 1 : 0),
            ("sws_flags", Int(job.fromSize == job.toSize ? SWS_POINT : SWS_BILINEAR)),
        ]
        for (name, value) in options {
            _ = ByteString(name).withCString {
                av_opt_set_int(UnsafeMutableRawPointer(scaler), $0, Int64(value), 0)
            }
        }
        if sws_init_context(scaler, nil, nil) >= 0 { return scaler }
        sws_freeContext(scaler)
        return nil
    }

    private func point(at picture: PictureView, _ source: Rectangle) {
        let layout = BufferLayout(format: picture.format, size: picture.size)
        let planes = [picture.planes.0, picture.planes.1, picture.planes.2]
        for index in 0..<3 {
            let offset = layout.byteOffset(plane: index, x: source.x, y: source.y, pitch: planes[index].stride)
            self.sources[index] = planes[index].bytes.map { $0 + offset }
            self.sourceStrides[index] = Int32(clamping: planes[index].stride)
        }
    }

    /// FFmpeg's number for a format.
    private static func code(_ format: PixelFormat) -> Int {
        let code: AVPixelFormat
        switch format {
        // Little-endian words: blue comes first.
        case .xrgb8888, .argb8888: code = AV_PIX_FMT_BGRA
        case .nv12: code = AV_PIX_FMT_NV12
        case .yuv420: code = AV_PIX_FMT_YUV420P
        case .yuyv: code = AV_PIX_FMT_YUYV422
        }
        return Int(code.rawValue)
    }
}
