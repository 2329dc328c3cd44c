// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Finds header fields in the raw bytes of a message that nobody has read yet: one pass over the head, no copies.
///
/// For what must cost next to nothing (a flood from strangers) and for what may be faulty or cut (the trace). It judges
/// nothing: a field that is found here need not be one that `SIPMessage.parse` would accept.
enum HeadScan {
    /// The rest of the line of the first field of this name, without the blanks around it; nil where there is none in
    /// the first `bytesMax` bytes. A value that begins on the next line (folded) is found there.
    /// - Parameters:
    ///   - name: in lower case.
    ///   - compact: the one-letter form, in lower case.
    static func value(
        of name: ByteString, compact: UInt8? = nil, in bytes: [UInt8], bytesMax: Int = .max
    ) -> ArraySlice<UInt8>? {
        let end = min(bytes.count, bytesMax)
        let initial = name.bytes[0]
        var index = 0
        // Line ends may stand before a message.
        while index < end, self.isLineEnd(bytes[index]) { index += 1 }
        while true {
            while index < end, bytes[index] != ASCII.lineFeed { index += 1 }
            index += 1
            guard index < end, !self.isLineEnd(bytes[index]) else { return nil }
            let first = ASCII.lowercased(bytes[index])
            guard first == initial || first == compact else { continue }
            let long = self.colon(in: bytes, index + name.count, end)
            if let long, self.begins(bytes, index, with: name) { return self.value(in: bytes, long + 1, end) }
            if first == compact, let short = self.colon(in: bytes, index + 1, end) {
                return self.value(in: bytes, short + 1, end)
            }
        }
    }

    private static func value(in bytes: [UInt8], _ start: Int, _ end: Int) -> ArraySlice<UInt8> {
        var start = start
        while start < end, ASCII.isBlank(bytes[start]) { start += 1 }
        var stop = start
        while stop < end, !self.isLineEnd(bytes[stop]) { stop += 1 }
        while stop > start, ASCII.isBlank(bytes[stop - 1]) { stop -= 1 }
        return bytes[start..<stop]
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool {
        byte == ASCII.lineFeed || byte == ASCII.carriageReturn
    }

    /// There is a colon after it, so that `name` lies within the bytes.
    private static func begins(_ bytes: [UInt8], _ start: Int, with name: ByteString) -> Bool {
        for offset in 0..<name.count where ASCII.lowercased(bytes[start + offset]) != name.bytes[offset] {
            return false
        }
        return true
    }

    /// Where a colon is, with nothing but blanks before it.
    private static func colon(in bytes: [UInt8], _ start: Int, _ end: Int) -> Int? {
        var index = start
        while index < end, bytes[index] == ASCII.space || bytes[index] == ASCII.tab { index += 1 }
        return index < end && bytes[index] == ASCII.colon ? index : nil
    }
}
