// SPDX-License-Identifier: Apache-2.0

import Bytes
import CCodec

/// Which of a decoder's formats its pictures come in, by the same rule for both kinds of decoders.
extension V4L2Device {
    /// The layout of the pictures in the device's present stream, all of the buffer visible: in a format that was
    /// wished for, where the device has it for this stream; else in a plain one, which software can read as well.
    ///
    /// - Parameter formats: the best first.
    /// - Throws: where the device does not tell, or lays pictures out in a way that nobody here knows.
    func pictureLayout(_ formats: [SharedFormat]) throws(HardwareCodecError) -> V4L2Layout {
        var format = callbox_codec_format()
        let got = callbox_codec_get_format(self.fd, self.capture, &format)
        guard got == 0 else { throw HardwareCodecError(.noFormat, "does not tell of its pictures", code: got) }
        if let choice = self.choice(of: formats, instead: format), choice.v4l2 != format.pixelformat {
            var wish = format
            wish.pixelformat = choice.v4l2
            wish.plane_count = choice.memoryCount
            wish.size.at0 = 0
            // Where it refuses, its own choice stands.
            if callbox_codec_set_format(self.fd, self.capture, &wish) == 0 { format = wish }
        }
        guard let layout = V4L2Layout(format) else {
            throw HardwareCodecError(.noFormat, "gives pictures of a kind that nobody here knows", code: 0)
        }
        return layout
    }

    private func choice(of formats: [SharedFormat], instead own: callbox_codec_format) -> V4L2RawFormat? {
        let offered = self.rawFormats(self.capture)
        for wish in formats {
            // Of columns the display names no height: any will do.
            let found = offered.first { $0.fourCC == wish.fourCC && $0.fits(wish.modifier) }
            if let found { return found }
        }
        // What the device has chosen for this stream is what it does best.
        if let known = V4L2RawFormat.named(own.pixelformat), known.modifier == .linear { return known }
        return V4L2RawFormat.all.first { known in
            known.modifier == .linear && offered.contains { $0.v4l2 == known.v4l2 }
        }
    }
}

extension V4L2RawFormat {
    func fits(_ modifier: UInt64) -> Bool {
        switch self.modifier {
        case .linear: return modifier == 0
        case .fixed(let value): return modifier == value
        case .sand128: return modifier & ~0x00FF_FFFF_FFFF_FF00 == 7 << 56 | 4
        }
    }
}
