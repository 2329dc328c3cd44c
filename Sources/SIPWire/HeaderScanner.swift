// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A cursor over one header value, with the small grammar that all structured fields share (RFC 3261 section 25.1).
///
/// Values were unfolded before, so white space is only spaces and tabs. Nothing here traps: a rule that does not match
/// gives nil and the caller gives up.
struct HeaderScanner {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ text: ByteString) {
        self.bytes = text.bytes
    }

    var isAtEnd: Bool { self.position >= self.bytes.count }
    var peek: UInt8? { self.isAtEnd ? nil : self.bytes[self.position] }
    var rest: ByteString { ByteString(self.bytes[self.position...]) }

    mutating func skipBlanks() {
        while let byte = self.peek, byte == ASCII.space || byte == ASCII.tab { self.position += 1 }
    }

    /// As `skipBlanks`; whether there was one.
    mutating func takeBlanks() -> Bool {
        let start = self.position
        self.skipBlanks()
        return self.position > start
    }

    /// Passes `byte` where it is next.
    mutating func take(_ byte: UInt8) -> Bool {
        guard self.peek == byte else { return false }
        self.position += 1
        return true
    }

    /// Passes `byte` with the blanks around it, as SLASH, EQUAL, SEMI and their kin allow. Moves nothing otherwise.
    mutating func takeSpaced(_ byte: UInt8) -> Bool {
        let start = self.position
        self.skipBlanks()
        guard self.take(byte) else {
            self.position = start
            return false
        }
        self.skipBlanks()
        return true
    }

    /// The longest run of bytes that `belongs` holds for; empty is allowed.
    mutating func run(_ belongs: (UInt8) -> Bool) -> ByteString {
        let start = self.position
        while let byte = self.peek, belongs(byte) { self.position += 1 }
        return ByteString(self.bytes[start..<self.position])
    }

    mutating func token() -> ByteString? {
        let token = self.run(Token.isTokenByte)
        return token.isEmpty ? nil : token
    }

    /// A quoted string with its quotes; nil (and no move) where it does not start here or never ends.
    mutating func quotedString() -> ByteString? {
        guard let end = QuotedString.end(in: self.bytes, from: self.position) else { return nil }
        defer { self.position = end }
        return ByteString(self.bytes[self.position..<end])
    }

    /// Everything before `byte`, which is passed over; nil where there is none.
    mutating func upTo(_ byte: UInt8) -> ByteString? {
        guard let end = self.bytes[self.position...].firstIndex(of: byte) else { return nil }
        defer { self.position = end + 1 }
        return ByteString(self.bytes[self.position..<end])
    }

    /// The `*(SEMI generic-param)` at the end of a value; nil for an empty parameter, too many, or anything left over.
    mutating func parameters(max: Int = SIPLimits.parameters) -> Parameters? {
        var list: [Parameters.Parameter] = []
        while self.takeSpaced(ASCII.semicolon) {
            guard list.count < max, let parameter = self.parameter() else { return nil }
            list.append(parameter)
        }
        self.skipBlanks()
        return self.isAtEnd ? Parameters(list) : nil
    }

    /// The parameters that can be read, faulty ones left out.
    mutating func readableParameters() -> Parameters {
        var list: [Parameters.Parameter] = []
        while self.takeSpaced(ASCII.semicolon), list.count < SIPLimits.parameters {
            if let parameter = self.parameter() { list.append(parameter) }
        }
        return Parameters(list)
    }

    /// `token [ EQUAL ( token / host / quoted-string ) ]`, with any visible bytes as value, for peers write base64 into
    /// branches. An empty value counts as none.
    private mutating func parameter() -> Parameters.Parameter? {
        guard let name = self.token() else { return nil }
        guard self.takeSpaced(ASCII.equals) else { return Parameters.Parameter(name) }
        if self.peek == ASCII.quote {
            guard let quoted = self.quotedString() else { return nil }
            return Parameters.Parameter(name, quoted)
        }
        let value = self.run { URI.isURIByte($0) && $0 != ASCII.semicolon && $0 != ASCII.comma }
        return Parameters.Parameter(name, value.isEmpty ? nil : value)
    }
}

/// Quoted strings, RFC 3261 section 25.1.
public enum QuotedString {
    /// The index just past the closing quote of the string that opens at `start`; nil where none opens or it never
    /// closes.
    static func end(in bytes: [UInt8], from start: Int) -> Int? {
        guard start < bytes.count, bytes[start] == ASCII.quote else { return nil }
        var index = start + 1
        while index < bytes.count {
            if bytes[index] == ASCII.quote { return index + 1 }
            index += bytes[index] == ASCII.backslash ? 2 : 1
        }
        return nil
    }

    /// The text inside the quotes, backslashes resolved; text without quotes as it is.
    public static func unquoted(_ text: ByteString) -> ByteString {
        guard self.end(in: text.bytes, from: 0) == text.count else { return text }
        var plain = ByteString()
        var index = 1
        while index < text.count - 1 {
            if text.bytes[index] == ASCII.backslash { index += 1 }
            plain.append(byte: text.bytes[index])
            index += 1
        }
        return plain
    }

    /// The text inside the quotes, byte for byte; text without quotes as it is.
    static func raw(_ text: ByteString) -> ByteString {
        self.end(in: text.bytes, from: 0) == text.count ? text.slice(1..<text.count - 1) : text
    }

    /// `text` in quotes, with a backslash before quotes and backslashes. CR and LF, which no field can hold, become
    /// spaces.
    public static func quoted(_ text: ByteString) -> ByteString {
        var quoted: ByteString = "\""
        for byte in text.bytes {
            if byte == ASCII.quote || byte == ASCII.backslash { quoted.append(byte: ASCII.backslash) }
            quoted.append(byte: byte == ASCII.carriageReturn || byte == ASCII.lineFeed ? ASCII.space : byte)
        }
        quoted.append(byte: ASCII.quote)
        return quoted
    }
}

/// Comma-separated lists, RFC 3261 section 7.3.1.
public enum HeaderList {
    /// The trimmed parts between commas that lie outside quotes and angle brackets. At most one more than
    /// `SIPLimits.listValues`, so that a caller can tell too many from enough.
    public static func split(_ value: ByteString) -> [ByteString] {
        guard value.contains(ASCII.comma) else { return [value.trimmed()] }
        let bytes = value.bytes
        var parts: [ByteString] = []
        var start = 0
        var index = 0
        var isBracketed = false
        while index < bytes.count, parts.count < SIPLimits.listValues {
            switch bytes[index] {
            case ASCII.quote where !isBracketed:
                index = QuotedString.end(in: bytes, from: index) ?? bytes.count
                continue
            case ASCII.less: isBracketed = true
            case ASCII.greater: isBracketed = false
            case ASCII.comma where !isBracketed:
                parts.append(ByteString(trimming: bytes[start..<index]))
                start = index + 1
            default: break
            }
            index += 1
        }
        parts.append(ByteString(trimming: bytes[min(start, bytes.count)...]))
        return parts
    }
}
