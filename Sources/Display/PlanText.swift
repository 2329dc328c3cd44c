// SPDX-License-Identifier: Apache-2.0

import Bytes

extension SurfacePlan {
    /// One line for the log: plane, buffer, place on the screen, and what software does with each layer.
    public var text: ByteString {
        var text: ByteString = "plane "
        text.append(decimal: self.plane)
        text += ": " + (self.direct.map { $0.kind.text + " as it lies" } ?? self.format.name) + " " + self.buffer.text
        text += " at " + ByteString(decimal: self.destination.x) + "," + ByteString(decimal: self.destination.y)
        if self.destination.size != self.buffer { text += " scaled by the plane to " + self.destination.size.text }
        text += self.orientation.text + (self.orientation.isUpright ? "" : " by the plane")
        for placement in self.placements {
            text += ", " + placement.layer.name
            if placement.isScaled { text += " scaled" }
            text += placement.orientation.text
        }
        return text
    }
}

extension SharedKind {
    /// As in `NV12`, with the modifier where there is one.
    var text: ByteString {
        let letters = (0..<4).map { UInt8(truncatingIfNeeded: self.fourCC >> UInt32(8 * $0)) }
        let name = ByteString(letters.map { (0x21...0x7E).contains($0) ? $0 : 0x2E })
        guard self.modifier != 0 else { return name }
        return name + " with modifier " + ByteString(decimal: Int64(bitPattern: self.modifier))
    }
}

extension PixelSize {
    var text: ByteString { ByteString(decimal: self.width) + "x" + ByteString(decimal: self.height) }
}

extension PixelFormat {
    var name: ByteString {
        switch self {
        case .xrgb8888: return "XR24"
        case .argb8888: return "AR24"
        case .nv12: return "NV12"
        case .yuv420: return "YU12"
        case .yuyv: return "YUYV"
        }
    }
}

extension Layer {
    var name: ByteString {
        switch self {
        case .remote: return "remote"
        case .selfView: return "self view"
        case .words: return "words"
        }
    }
}

extension Orientation {
    /// For the log, with a blank before it; empty for what stands as it came.
    fileprivate var text: ByteString {
        var text: ByteString = self.isMirrored ? " mirrored" : ""
        if self.quarters > 0 { text += " turned by " + ByteString(decimal: self.quarters * 90) }
        return text
    }
}
