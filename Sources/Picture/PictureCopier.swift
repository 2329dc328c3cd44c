// SPDX-License-Identifier: Apache-2.0

/// Lays a picture into the buffers of an encoder, in the one pass that it takes at least.
enum PictureCopier {
    /// Where one plane of samples goes.
    struct Target {
        var bytes: UnsafeMutablePointer<UInt8>
        var stride: Int
        /// That there are from `bytes` on.
        var room: Int
    }

    /// Copies a picture of an even size; the targets are those of its own format or of the other one of the two. False
    /// where a target is too small.
    static func copy(_ frame: VideoFrame, to targets: [Target]) -> Bool {
        let planes = frame.planes
        let (width, height) = (frame.width, frame.height)
        let (columns, rows) = ((width + 1) / 2, (height + 1) / 2)
        guard targets.count == 2 || targets.count == 3, self.fits(targets[0], width, height),
            let luma = planes.0.bytes, let first = planes.1.bytes
        else { return false }
        let isPaired = targets.count == 2
        for target in targets[1...] where !self.fits(target, isPaired ? columns * 2 : columns, rows) { return false }
        self.copyRows(luma, planes.0.stride, to: targets[0], width, height)
        switch (frame.format, isPaired) {
        case (.nv12, true):
            self.copyRows(first, planes.1.stride, to: targets[1], columns * 2, rows)
        case (.nv12, false):
            self.part(first, planes.1.stride, to: targets[1], targets[2], columns, rows)
        case (.i420, true):
            guard let second = planes.2.bytes else { return false }
            self.pair((first, planes.1.stride), (second, planes.2.stride), to: targets[1], columns, rows)
        case (.i420, false):
            guard let second = planes.2.bytes else { return false }
            self.copyRows(first, planes.1.stride, to: targets[1], columns, rows)
            self.copyRows(second, planes.2.stride, to: targets[2], columns, rows)
        }
        return true
    }

    private static func fits(_ target: Target, _ bytes: Int, _ rows: Int) -> Bool {
        target.stride >= bytes && target.room >= target.stride * (rows - 1) + bytes
    }

    static func copyRows(_ from: UnsafePointer<UInt8>, _ stride: Int, to target: Target, _ bytes: Int, _ rows: Int) {
        for row in 0..<rows {
            (target.bytes + row * target.stride).update(from: from + row * stride, count: bytes)
        }
    }

    /// U and V in turns of what lay apart.
    private static func pair(
        _ blue: (UnsafePointer<UInt8>, Int), _ red: (UnsafePointer<UInt8>, Int), to target: Target, _ columns: Int,
        _ rows: Int
    ) {
        for row in 0..<rows {
            let (blues, reds) = (blue.0 + row * blue.1, red.0 + row * red.1)
            let out = target.bytes + row * target.stride
            for column in 0..<columns {
                out[2 * column] = blues[column]
                out[2 * column + 1] = reds[column]
            }
        }
    }

    private static func part(
        _ from: UnsafePointer<UInt8>, _ stride: Int, to blue: Target, _ red: Target, _ columns: Int, _ rows: Int
    ) {
        for row in 0..<rows {
            let pairs = from + row * stride
            let (blues, reds) = (blue.bytes + row * blue.stride, red.bytes + row * red.stride)
            for column in 0..<columns {
                blues[column] = pairs[2 * column]
                reds[column] = pairs[2 * column + 1]
            }
        }
    }
}
