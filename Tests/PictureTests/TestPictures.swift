// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import XCTest

@testable import Picture

/// Pictures whose every sample is known: slanted gradients and a bright square that move with `step`.
enum TestPictures {
    static func luma(_ x: Int, _ y: Int, _ step: Int) -> UInt8 {
        let left = 20 + step * 4 % 120
        if x >= left && x < left + 48 && y >= 24 && y < 72 { return 220 }
        return UInt8(40 + (x + 2 * y + 3 * step) % 320 / 2)
    }

    static func blue(_ x: Int, _ y: Int, _ step: Int) -> UInt8 {
        UInt8(96 + (x + step) % 128 / 2)
    }

    static func red(_ x: Int, _ y: Int, _ step: Int) -> UInt8 {
        UInt8(96 + (y + step) % 128 / 2)
    }

    static func frame(
        _ width: Int, _ height: Int, step: Int = 0, format: PictureFormat = .i420, fullRange: Bool = false
    ) -> VideoFrame {
        let pixelFormat = format == .nv12 ? AV_PIX_FMT_NV12 : AV_PIX_FMT_YUV420P
        let picture = FramePool(width: width, height: height, format: pixelFormat).take()!
        picture.pointee.color_range = fullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        let data = picture.pointee.data
        let strides = picture.pointee.linesize
        for y in 0..<height {
            for x in 0..<width { data.0![y * Int(strides.0) + x] = self.luma(x, y, step) }
        }
        for y in 0..<(height + 1) / 2 {
            for x in 0..<(width + 1) / 2 {
                switch format {
                case .i420:
                    data.1![y * Int(strides.1) + x] = self.blue(x, y, step)
                    data.2![y * Int(strides.2) + x] = self.red(x, y, step)
                case .nv12:
                    data.1![y * Int(strides.1) + 2 * x] = self.blue(x, y, step)
                    data.1![y * Int(strides.1) + 2 * x + 1] = self.red(x, y, step)
                }
            }
        }
        return VideoFrame(taking: picture, captured: Instant(nanoseconds: UInt64(step) * 33_000_000))!
    }

    /// Peak signal to noise of Y and of both chroma planes together, in dB, against the test picture `step`.
    static func psnr(_ frame: VideoFrame, step: Int) -> (luma: Double, chroma: Double) {
        let planes = frame.planes
        var luma = 0.0
        for y in 0..<frame.height {
            for x in 0..<frame.width {
                luma += square(planes.0.bytes![y * planes.0.stride + x], self.luma(x, y, step))
            }
        }
        var chroma = 0.0
        for y in 0..<frame.height / 2 {
            for x in 0..<frame.width / 2 {
                chroma += square(planes.1.bytes![y * planes.1.stride + x], self.blue(x, y, step))
                chroma += square(planes.2.bytes![y * planes.2.stride + x], self.red(x, y, step))
            }
        }
        let samples = Double(frame.width * frame.height)
        return (self.decibel(luma / samples), self.decibel(chroma / (samples / 2)))
    }

    private static func square(_ a: UInt8, _ b: UInt8) -> Double {
        let difference = Double(Int(a) - Int(b))
        return difference * difference
    }

    private static func decibel(_ meanSquare: Double) -> Double {
        meanSquare == 0 ? 99 : 10 * log10(255 * 255 / meanSquare)
    }
}
