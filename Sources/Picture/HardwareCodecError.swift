// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// Why a codec in hardware could not be opened, or gave up; `text` is a sentence for a log. Whoever gets one stops the
/// codec and goes on with another.
public struct HardwareCodecError: Error {
    public enum Kind: Equatable, Sendable {
        /// No device here codes or decodes this.
        case missing
        /// It did not give the buffers that it needs.
        case noBuffers
        /// Its pictures cannot be shared with the display.
        case noSharing
        /// Its pictures lie in memory in a way that nobody here knows, or it refused a size.
        case noFormat
        /// It refused to begin, or an order.
        case refused
        /// It reported a fault of its own.
        case failed
        /// The device is gone.
        case vanished
        /// Nothing has come for too long.
        case stuck
        /// A picture came out of nowhere: it belongs to nothing that was put in.
        case wrongStamp
        /// It gave a picture of fewer bytes than a picture has.
        case shortPicture
        /// What is to be decoded does not fit the device's buffers.
        case tooLarge
        /// It is a stream of a kind that the device does not take.
        case notTaken
    }

    public let kind: Kind
    public let text: ByteString

    init(_ kind: Kind, _ text: ByteString) {
        self.kind = kind
        self.text = text
    }

    /// With the kernel's refusal of what was wanted: `code` is 0 or a negative errno.
    init(_ kind: Kind, _ what: ByteString, code: Int32) {
        switch -code {
        case ENODEV, ENXIO: self.init(.vanished, "The video codec is gone.")
        case let number:
            self.init(kind, "The video codec " + what + " (errno " + ByteString(decimal: Int(number)) + ").")
        }
    }

    /// For whoever has waited in vain for so long.
    public static func stuck(afterMs waited: Int) -> HardwareCodecError {
        HardwareCodecError(
            .stuck, "The video codec has given nothing for " + ByteString(decimal: waited) + " ms.")
    }

    /// For pictures that nobody can read.
    public static let notShown = HardwareCodecError(
        .noFormat, "The display does not show the pictures of the video codec, and software cannot read them.")
}

extension HardwareCodecError.Kind {
    /// One word, for logs and programs.
    public var name: ByteString {
        switch self {
        case .missing: return "missing"
        case .noBuffers: return "no-buffers"
        case .noSharing: return "no-sharing"
        case .noFormat: return "no-format"
        case .refused: return "refused"
        case .failed: return "failed"
        case .vanished: return "vanished"
        case .stuck: return "stuck"
        case .wrongStamp: return "wrong-stamp"
        case .shortPicture: return "short-picture"
        case .tooLarge: return "too-large"
        case .notTaken: return "not-taken"
        }
    }
}
