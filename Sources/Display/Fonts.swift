// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine

/// What the fonts of this system can write.
public enum Fonts {
    /// Whether each character of `text` is in some font. Others would be drawn as boxes.
    public static func canWrite(_ text: ByteString, in language: Language) -> Bool {
        guard let canvas = Canvas(PixelImage(PixelSize(16, 16)), language) else { return false }
        return !canvas.lay(text, TextStyle(size: 16, linesMax: 100), width: 1000).isUnreadable
    }
}
