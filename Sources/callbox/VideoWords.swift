// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Picture

/// The way of the own pictures in words, for `callbox doctor video`.
extension CameraMode {
    var words: ByteString {
        let size = ByteString(decimal: self.width) + "x" + ByteString(decimal: self.height)
        let rate = self.rate.map { " at " + ByteString(decimal: $0.framesPerSecond) + " pictures a second" } ?? ""
        switch self.format {
        case .nv12: return "NV12 " + size + rate + ", taken as it is"
        case .yuyv: return "YUYV " + size + rate + ", converted by software: the camera has no NV12"
        case .mjpeg: return "Motion JPEG " + size + rate + ", decoded by software: the camera has nothing else so large"
        }
    }
}

extension EncoderPlan {
    func words(from format: PictureFormat) -> ByteString {
        let size = ByteString(decimal: self.size.width) + "x" + ByteString(decimal: self.size.height)
        let source: ByteString = format == .nv12 ? "NV12" : "I420"
        return "software (libx264) from " + source + ", " + size + " at " + ByteString(decimal: self.fps)
            + " pictures a second, " + ByteString(decimal: self.bitrateKbps) + " kbit/s"
    }
}
