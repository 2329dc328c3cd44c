// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Picture

/// The way of the own pictures in words, for `callbox doctor video`.
extension CameraMode {
    /// - Parameter decoding: who decodes, in words, where pictures come coded.
    func words(decoding: ByteString?) -> ByteString {
        let size = ByteString(decimal: self.width) + "x" + ByteString(decimal: self.height)
        let rate = self.rate.map { " at " + ByteString(decimal: $0.framesPerSecond) + " pictures a second" } ?? ""
        switch self.format {
        case .nv12: return "NV12 " + size + rate + ", taken as it is"
        case .yuyv: return "YUYV " + size + rate + ", converted by software: the camera has no NV12"
        case .mjpeg:
            return "Motion JPEG " + size + rate + ", as the camera has nothing else so large; " + (decoding ?? "")
        }
    }
}

extension EncoderPlan {
    func words(from format: PictureFormat) -> ByteString {
        "software (libx264) from " + Self.name(format) + ", " + self.words
    }

    /// By the board's encoder.
    func words(by board: BoardEncoder, from format: PictureFormat) -> ByteString {
        let way = board.copyReason.map { "1 copy, for " + $0 } ?? "0 copies: it reads the camera's memory"
        return board.name + ", the board's own, from " + Self.name(format) + ", " + self.words + "; " + way
    }

    private static func name(_ format: PictureFormat) -> ByteString { format == .nv12 ? "NV12" : "I420" }

    private var words: ByteString {
        let size = ByteString(decimal: self.size.width) + "x" + ByteString(decimal: self.size.height)
        return size + " at " + ByteString(decimal: self.fps) + " pictures a second, "
            + ByteString(decimal: self.bitrateKbps) + " kbit/s"
    }
}
