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
        var index = self.headStart(bytes, end)
        while let lineFeed = bytes[index..<end].firstIndex(of: ASCII.lineFeed) {
            index = lineFeed + 1
            guard index < end, bytes[index] != ASCII.lineFeed, bytes[index] != ASCII.carriageReturn else { return nil }
            guard let colon = self.colon(after: name, compact, bytes[index..<end]) else { continue }
            var start = colon + 1
            while start < end, ASCII.isBlank(bytes[start]) { start += 1 }
            var stop = start
            while stop < end, bytes[stop] != ASCII.lineFeed, bytes[stop] != ASCII.carriageReturn { stop += 1 }
            while stop > start, ASCII.isBlank(bytes[stop - 1]) { stop -= 1 }
            return bytes[start..<stop]
        }
        return nil
    }

    /// Past the line ends that may stand before a message.
    private static func headStart(_ bytes: [UInt8], _ end: Int) -> Int {
        var index = 0
        while index < end, bytes[index] == ASCII.lineFeed || bytes[index] == ASCII.carriageReturn { index += 1 }
        return index
    }

    /// Where the colon is, if `line` begins with the name in either form, and blanks, and a colon.
    private static func colon(after name: ByteString, _ compact: UInt8?, _ line: ArraySlice<UInt8>) -> Int? {
        guard let first = line.first.map(ASCII.lowercased) else { return nil }
        var index = line.startIndex
        if first == name.bytes[0], line.count > name.count, self.begins(line, with: name) {
            index += name.count
            if let colon = self.colon(line[index...]) { return colon }
        }
        guard first == compact else { return nil }
        return self.colon(line[(line.startIndex + 1)...])
    }

    private static func begins(_ line: ArraySlice<UInt8>, with name: ByteString) -> Bool {
        for offset in 0..<name.count where ASCII.lowercased(line[line.startIndex + offset]) != name.bytes[offset] {
            return false
        }
        return true
    }

    private static func colon(_ rest: ArraySlice<UInt8>) -> Int? {
        var index = rest.startIndex
        while index < rest.endIndex, rest[index] == ASCII.space || rest[index] == ASCII.tab { index += 1 }
        return index < rest.endIndex && rest[index] == ASCII.colon ? index : nil
    }
}
