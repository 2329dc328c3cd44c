// SPDX-License-Identifier: Apache-2.0

import Bytes
import Loop
import Picture

/// Decodes a file of one JPEG picture five times, as a camera's; says who did it, and how many came.
func decodeJPEG(_ path: ByteString, width: Int, height: Int) {
    do throws(CodecError) {
        let decoder = try CameraJPEGDecoder(width: width, height: height, clock: Clock.now)
        let bytes = Clip.read(path)
        var pictures = 0
        for _ in 0..<5 {
            let picture = bytes.withUnsafeBytes { decoder.decode($0, captured: Clock.now()) }
            if let picture, picture.width == width, picture.height == height { pictures += 1 }
        }
        say("pictures " + word(pictures) + " " + decoder.words)
    } catch {
        say("error " + error.text)
    }
}
