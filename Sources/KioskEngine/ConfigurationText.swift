// SPDX-License-Identifier: Apache-2.0
import Bytes

/// The bytes of a configuration file as lines, whatever editor and system wrote them.
enum ConfigurationText {
    static let fileBytesMax = 64 * 1024
    static let lineBytesMax = 1024

    /// Lines without their ends (LF, CR LF or CR), trimmed. The number of a line is its index plus one.
    static func lines(_ file: [UInt8]) -> [ByteString] {
        var lines: [ByteString] = []
        let bytes = self.utf8(file)
        var start = 0
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte == ASCII.lineFeed || byte == ASCII.carriageReturn else { continue }
            lines.append(self.trimmed(bytes[start..<index - 1]))
            if byte == ASCII.carriageReturn, index < bytes.count, bytes[index] == ASCII.lineFeed { index += 1 }
            start = index
        }
        if start < bytes.count { lines.append(self.trimmed(bytes[start...])) }
        return lines
    }

    /// Whether a line is text: UTF-8 without control characters but tabs.
    static func isText(_ line: ByteString) -> Bool {
        var rest = line.bytes[...]
        while let first = rest.first {
            let length = UTF8Text.characterLength(rest)
            guard length > 0, first >= 0x20 && first != 0x7F || first == ASCII.tab else { return false }
            rest = rest.dropFirst(length)
        }
        return true
    }

    /// The name between the brackets, in lower case; nil where there are none.
    static func sectionName(of line: ByteString) -> ByteString? {
        let header = self.withoutComment(line)
        guard header.count > 2, header.bytes.first == ASCII.openBracket, header.bytes.last == ASCII.closeBracket else {
            return nil
        }
        return self.trimmed(header.bytes[1..<header.count - 1]).lowercasedASCII()
    }

    /// What stands left of `=`, in lower case.
    static func key(of line: ByteString, equals: Int) -> ByteString {
        self.trimmed(line.bytes[..<equals]).lowercasedASCII()
    }

    // MARK: - Encodings

    /// Without a byte order mark, which Notepad writes; UTF-16, which it also writes, is recognised by its mark.
    private static func utf8(_ file: [UInt8]) -> ArraySlice<UInt8> {
        if file.starts(with: [0xEF, 0xBB, 0xBF]) { return self.rebased(file[3...]) }
        if file.starts(with: [0xFF, 0xFE]) { return self.fromUTF16(file[2...], low: 0)[...] }
        if file.starts(with: [0xFE, 0xFF]) { return self.fromUTF16(file[2...], low: 1)[...] }
        return file[...]
    }

    private static func rebased(_ slice: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        Array(slice)[...]
    }

    /// `low` is the offset of the low byte in each unit. A lone surrogate becomes U+FFFD.
    private static func fromUTF16(_ bytes: ArraySlice<UInt8>, low: Int) -> [UInt8] {
        var units: [UInt16] = []
        var index = bytes.startIndex
        while index + 1 < bytes.endIndex {
            units.append(UInt16(bytes[index + 1 - low]) << 8 | UInt16(bytes[index + low]))
            index += 2
        }
        var text: [UInt8] = []
        var position = 0
        while position < units.count {
            var scalar = UInt32(units[position])
            position += 1
            if scalar & 0xFC00 == 0xD800, position < units.count, units[position] & 0xFC00 == 0xDC00 {
                scalar = 0x10000 + (scalar & 0x3FF) << 10 + UInt32(units[position] & 0x3FF)
                position += 1
            } else if scalar & 0xF800 == 0xD800 {
                scalar = 0xFFFD
            }
            self.append(scalar, to: &text)
        }
        return text
    }

    private static func append(_ scalar: UInt32, to text: inout [UInt8]) {
        func put(_ bits: UInt32, _ mark: UInt8) { text.append(UInt8(truncatingIfNeeded: bits) | mark) }
        if scalar < 0x80 {
            put(scalar, 0)
        } else if scalar < 0x800 {
            put(scalar >> 6, 0xC0)
            put(scalar & 0x3F, 0x80)
        } else if scalar < 0x10000 {
            put(scalar >> 12, 0xE0)
            put(scalar >> 6 & 0x3F, 0x80)
            put(scalar & 0x3F, 0x80)
        } else {
            put(scalar >> 18, 0xF0)
            put(scalar >> 12 & 0x3F, 0x80)
            put(scalar >> 6 & 0x3F, 0x80)
            put(scalar & 0x3F, 0x80)
        }
    }

    // MARK: - Blanks and quotes

    /// What web pages and word processors put where a blank should be: no-break space, zero-width space, a mark of byte
    /// order in mid-file.
    private static let wideBlanks: [[UInt8]] = [[0xC2, 0xA0], [0xE2, 0x80, 0x8B], [0xEF, 0xBB, 0xBF]]

    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ByteString {
        var rest = bytes
        while let count = self.blankLength(rest, { rest.starts(with: $0) }, rest.first) { rest = rest.dropFirst(count) }
        while let count = self.blankLength(rest, { rest.suffix($0.count).elementsEqual($0) }, rest.last) {
            rest = rest.dropLast(count)
        }
        return ByteString(rest)
    }

    private static func blankLength(
        _ rest: ArraySlice<UInt8>, _ has: ([UInt8]) -> Bool, _ end: UInt8?
    ) -> Int? {
        guard let end else { return nil }
        if ASCII.isBlank(end) { return 1 }
        return self.wideBlanks.first(where: has)?.count
    }

    /// `"`, `'`, and the curved ones that editors make of them.
    private static let quotes: [[UInt8]] = [
        [ASCII.quote], [0x27], [0xE2, 0x80, 0x9C], [0xE2, 0x80, 0x9D], [0xE2, 0x80, 0x9E], [0xE2, 0x80, 0x98],
        [0xE2, 0x80, 0x99],
    ]

    private static func quoteLength(_ bytes: ArraySlice<UInt8>) -> Int? {
        self.quotes.first { bytes.starts(with: $0) }?.count
    }

    /// What stands right of `=`, without quotes and without a comment. A comment begins with `#` after a blank, so that
    /// a `#` inside a word is kept; inside quotes everything is.
    static func value(_ text: ByteString) -> ByteString {
        let bytes = self.trimmed(text.bytes[...]).bytes
        if let opening = self.quoteLength(bytes[...]) {
            var index = opening
            while index < bytes.count {
                if let closing = self.quoteLength(bytes[index...]) {
                    let rest = self.trimmed(bytes[(index + closing)...])
                    if rest.isEmpty || rest.bytes[0] == ASCII.hash { return ByteString(bytes[opening..<index]) }
                }
                index += 1
            }
        }
        return self.withoutComment(ByteString(bytes))
    }

    static func withoutComment(_ text: ByteString) -> ByteString {
        for index in 0..<text.count where text.bytes[index] == ASCII.hash {
            if index == 0 || ASCII.isBlank(text.bytes[index - 1]) { return self.trimmed(text.bytes[..<index]) }
        }
        return text
    }
}
