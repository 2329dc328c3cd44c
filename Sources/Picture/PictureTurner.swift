// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV

/// Turns the pictures of a camera that hangs on its side.
public final class PictureTurner {
    /// Quarter turns clockwise.
    private let quarters: Int
    private var pool: FramePool?

    /// - Parameter degrees: a multiple of 90, clockwise.
    public init(degrees: Int) {
        self.quarters = degrees / 90 & 3
    }

    /// The size of a picture once it is turned; nil where such a picture is none of ours.
    public func size(width: Int, height: Int) -> (width: Int, height: Int)? {
        let size = self.quarters & 1 == 1 ? (width: height, height: width) : (width: width, height: height)
        return PictureLimits.allows(width: size.width, height: size.height) ? size : nil
    }

    /// Three planes, whatever came; the picture itself where there is nothing to turn. Nil without memory.
    public func turn(_ frame: VideoFrame) -> VideoFrame? {
        guard self.quarters != 0 else { return frame }
        guard let size = self.size(width: frame.width, height: frame.height) else { return nil }
        if self.pool?.matches(width: size.width, height: size.height) != true {
            self.pool = FramePool(width: size.width, height: size.height)
        }
        guard let turned = self.pool?.take() else { return nil }
        self.copy(frame, to: turned)
        let source = frame.frame.pointee
        turned.pointee.color_range = source.color_range
        turned.pointee.colorspace = source.colorspace
        let aspect = source.sample_aspect_ratio
        turned.pointee.sample_aspect_ratio =
            self.quarters & 1 == 1 ? AVRational(num: aspect.den, den: aspect.num) : aspect
        return VideoFrame(taking: turned, captured: frame.captured)
    }

    private func copy(_ frame: VideoFrame, to turned: UnsafeMutablePointer<AVFrame>) {
        let planes = frame.planes
        let (data, strides) = (turned.pointee.data, turned.pointee.linesize)
        let chroma = ((frame.width + 1) / 2, (frame.height + 1) / 2)
        self.copy(planes.0, 0, step: 1, (frame.width, frame.height), to: data.0, Int(strides.0))
        switch frame.format {
        case .i420:
            self.copy(planes.1, 0, step: 1, chroma, to: data.1, Int(strides.1))
            self.copy(planes.2, 0, step: 1, chroma, to: data.2, Int(strides.2))
        case .nv12:
            self.copy(planes.1, 0, step: 2, chroma, to: data.1, Int(strides.1))
            self.copy(planes.1, 1, step: 2, chroma, to: data.2, Int(strides.2))
        }
    }

    /// One plane of bytes, of which each `step`th from `first` on counts.
    private func copy(
        _ plane: VideoPlane, _ first: Int, step: Int, _ size: (width: Int, height: Int),
        to target: UnsafeMutablePointer<UInt8>?, _ stride: Int
    ) {
        guard let bytes = plane.bytes, let target else { return }
        // Where the first sample goes, and how far it is from there to the next of its row and to the next row.
        let begin: Int
        let next: (right: Int, down: Int)
        switch self.quarters {
        case 1: (begin, next) = (size.height - 1, (stride, -1))
        case 2: (begin, next) = ((size.height - 1) * stride + size.width - 1, (-1, -stride))
        default: (begin, next) = ((size.width - 1) * stride, (-stride, 1))
        }
        for y in 0..<size.height {
            let row = bytes + y * plane.stride + first
            let out = target + begin + y * next.down
            for x in 0..<size.width { out[x * next.right] = row[x * step] }
        }
    }
}
