// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV

/// Why a codec could not be opened or refused its input; `text` is a sentence for a log.
public struct CodecError: Error {
    public let text: ByteString

    init(_ text: ByteString) {
        self.text = text
    }

    /// With FFmpeg's own words for `code`.
    init(_ what: ByteString, code: Int32) {
        var words = [CChar](repeating: 0, count: 128)
        let known = words.withUnsafeMutableBufferPointer { av_strerror(code, $0.baseAddress, $0.count) } == 0
        self.text = what + ": " + (known ? ByteString(cString: words) : ByteString(decimal: code))
    }
}
