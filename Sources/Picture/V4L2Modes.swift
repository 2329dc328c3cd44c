// SPDX-License-Identifier: Apache-2.0

import CV4L2

/// Asks a camera what it can do (V4L2, "VIDIOC_ENUM_FMT", "VIDIOC_ENUM_FRAMESIZES", "VIDIOC_ENUM_FRAMEINTERVALS").
struct V4L2Modes {
    private let fd: Int32
    private let bufferType: UInt32
    private let wish: CameraWish

    /// Drivers list a few dozen; one that never ends its list is cut short.
    private static let formatsMax: UInt32 = 128
    private static let sizesMax: UInt32 = 128
    private static let ratesMax: UInt32 = 64

    init(fd: Int32, bufferType: UInt32, wish: CameraWish) {
        self.fd = fd
        self.bufferType = bufferType
        self.wish = wish
    }

    /// Every mode in one of our formats; of a continuous range only the nearest to the wish.
    func all() -> [CameraMode] {
        var modes: [CameraMode] = []
        for index in 0..<Self.formatsMax {
            var code: UInt32 = 0
            guard callbox_v4l2_format_at(self.fd, self.bufferType, index, &code) == 0 else { break }
            guard let format = CameraFormat(fourCC: code) else { continue }
            for size in self.sizes(code) {
                modes.append(contentsOf: self.modes(format, code, size))
            }
        }
        return modes
    }

    private struct Size {
        let width: UInt32
        let height: UInt32
    }

    /// A driver that lists no sizes is asked for the wish itself, and may answer with another.
    private func sizes(_ code: UInt32) -> [Size] {
        var sizes: [Size] = []
        for index in 0..<Self.sizesMax {
            var answer = v4l2_frmsizeenum()
            guard callbox_v4l2_size_at(self.fd, index, code, &answer) == 0 else { break }
            guard answer.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue else {
                return [self.nearest(in: answer.stepwise)]
            }
            sizes.append(Size(width: answer.discrete.width, height: answer.discrete.height))
        }
        return sizes.isEmpty ? [Size(width: UInt32(self.wish.width), height: UInt32(self.wish.height))] : sizes
    }

    private func nearest(in range: v4l2_frmsize_stepwise) -> Size {
        let widths = SteppedRange(min: range.min_width, max: range.max_width, step: range.step_width)
        let heights = SteppedRange(min: range.min_height, max: range.max_height, step: range.step_height)
        return Size(
            width: UInt32(widths.nearest(to: self.wish.width)), height: UInt32(heights.nearest(to: self.wish.height)))
    }

    private func modes(_ format: CameraFormat, _ code: UInt32, _ size: Size) -> [CameraMode] {
        guard size.width <= UInt32(PictureLimits.widthMax), size.height <= UInt32(PictureLimits.heightMax) else {
            return []
        }
        let mode = { (rate: FrameRate?) in
            CameraMode(format: format, width: Int(size.width), height: Int(size.height), rate: rate)
        }
        var modes: [CameraMode] = []
        for index in 0..<Self.ratesMax {
            var answer = v4l2_frmivalenum()
            guard callbox_v4l2_interval_at(self.fd, index, code, size.width, size.height, &answer) == 0 else { break }
            guard answer.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue else {
                return [mode(self.nearestRate(in: answer.stepwise))]
            }
            modes.append(mode(Self.rate(answer.discrete)))
        }
        return modes.isEmpty ? [mode(nil)] : modes
    }

    /// Within a range of intervals the wanted rate, or the end that is nearer to it.
    private func nearestRate(in range: v4l2_frmival_stepwise) -> FrameRate {
        let fastest = Self.rate(range.min)
        let slowest = Self.rate(range.max)
        if self.wish.rate.milliHertz > fastest.milliHertz { return fastest }
        return self.wish.rate.milliHertz < slowest.milliHertz ? slowest : self.wish.rate
    }

    /// V4L2 counts seconds a frame; we count frames a second.
    private static func rate(_ interval: v4l2_fract) -> FrameRate {
        FrameRate(Int(clamping: interval.denominator), over: Int(clamping: interval.numerator))
    }
}

extension SteppedRange {
    fileprivate init(min: UInt32, max: UInt32, step: UInt32) {
        let limit = UInt32(UInt16.max)
        self.init(
            min: Int(Swift.min(min, limit)), max: Int(Swift.min(max, limit)), step: Int(Swift.min(step, limit)))
    }
}

extension CameraFormat {
    init?(fourCC: UInt32) {
        guard let format = Self.allCases.first(where: { $0.fourCC == fourCC }) else { return nil }
        self = format
    }

    /// As `V4L2_PIX_FMT_NV12`, `_YUYV`, `_MJPEG`.
    var fourCC: UInt32 {
        switch self {
        case .nv12: return Self.code("N", "V", "1", "2")
        case .yuyv: return Self.code("Y", "U", "Y", "V")
        case .mjpeg: return Self.code("M", "J", "P", "G")
        }
    }

    private static func code(_ a: Unicode.Scalar, _ b: Unicode.Scalar, _ c: Unicode.Scalar, _ d: Unicode.Scalar)
        -> UInt32
    {
        a.value | b.value << 8 | c.value << 16 | d.value << 24
    }
}
