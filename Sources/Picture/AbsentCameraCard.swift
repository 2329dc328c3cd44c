// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV

/// The picture that is sent while there is none of the camera: a crossed-out camera, which needs no language. The call
/// goes on, and whoever looks knows that the picture is meant to be so.
public enum AbsentCameraCard {
    /// Pictures a second: it stands still, but a far end that lost one should soon have the next.
    public static let framesPerSecond = 2

    // Luma in limited range; chroma is neutral.
    private static let ground: UInt8 = 40
    private static let ink: UInt8 = 200
    private static let neutral: UInt8 = 128

    /// Nil for a size that is none of a picture, or without memory.
    public static func frame(width: Int, height: Int, at now: Instant) -> VideoFrame? {
        guard PictureLimits.allows(width: width, height: height),
            let picture = FramePool(width: width, height: height).take(), let luma = picture.pointee.data.0,
            let u = picture.pointee.data.1, let v = picture.pointee.data.2
        else { return nil }
        let unit = min(width, height) / 12
        let (middleX, middleY) = (width / 2, height / 2)
        for y in 0..<height {
            let row = luma + y * Int(picture.pointee.linesize.0)
            for x in 0..<width {
                row[x] = self.isInk((x - middleX), (y - middleY), unit) ? self.ink : self.ground
            }
        }
        for y in 0..<(height + 1) / 2 {
            (u + y * Int(picture.pointee.linesize.1)).update(repeating: self.neutral, count: (width + 1) / 2)
            (v + y * Int(picture.pointee.linesize.2)).update(repeating: self.neutral, count: (width + 1) / 2)
        }
        picture.pointee.color_range = AVCOL_RANGE_MPEG
        picture.pointee.colorspace = AVCOL_SPC_SMPTE170M
        return VideoFrame(taking: picture, captured: now)
    }

    /// A camera of six by four units with its lens to the right, and a bar across both, seen from the middle.
    private static func isInk(_ x: Int, _ y: Int, _ unit: Int) -> Bool {
        // The bar is twice as wide as it looks: its rim is of the ground, so that it stands out from the body.
        let fromBar = abs(3 * x - 4 * y)
        let isAlong = abs(x) <= 4 * unit && abs(y) <= 3 * unit
        if isAlong, fromBar <= 2 * unit { return true }
        if isAlong, fromBar <= 4 * unit { return false }
        let isBody = x >= -4 * unit && x <= 1 * unit && abs(y) <= 2 * unit
        let isLens = x > 1 * unit && x <= 4 * unit && 2 * abs(y) <= x
        return isBody || isLens
    }
}
