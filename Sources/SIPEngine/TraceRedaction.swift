// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Takes out of a message what nobody may read in a trace: credentials and challenges, keys of media, passwords in
/// URIs, and what people said or typed (texts, digits).
///
/// It works on raw lines, so that a faulty message is no way around it, and copies what stays in pieces as large as
/// possible, for every message goes through it.
struct Redaction {
    private static let mark: ByteString = "***"
    private static let secretHeaders: [ByteString] = [
        "authorization", "proxy-authorization", "www-authenticate", "proxy-authenticate", "authentication-info",
        "proxy-authentication-info",
    ]
    private static let secretPrefix: ByteString = "p-access"
    private static let secretPart: ByteString = "token"
    private static let secretLines: [ByteString] = ["a=crypto:", "a=key-mgmt:", "a=ice-pwd:", "k="]
    private static let schemes: [ByteString] = ["sip:", "sips:", "http:", "https:"]

    /// `message` up to the last whole line within `bytesMax`: in one that is cut nobody can tell what is secret.
    static func redacted(_ message: [UInt8], bytesMax: Int) -> [UInt8] {
        var end = min(message.count, bytesMax)
        if end < message.count { end = (message[..<end].lastIndex(of: ASCII.lineFeed) ?? -1) + 1 }
        var redaction = Redaction(message, end: end)
        redaction.takeHead()
        redaction.takeBody()
        return redaction.text
    }

    private let bytes: [UInt8]
    private let end: Int
    private var position = 0
    private var text: [UInt8] = []
    /// Bytes from here to where we are stay, and were not copied yet.
    private var kept = 0

    private init(_ bytes: [UInt8], end: Int) {
        self.bytes = bytes
        self.end = end
        self.text.reserveCapacity(end)
    }

    /// Puts the mark in place of `range`.
    private mutating func hide(_ range: Range<Int>) {
        self.drop(range)
        self.text += Self.mark.bytes
    }

    private mutating func drop(_ range: Range<Int>) {
        self.text += self.bytes[self.kept..<range.lowerBound]
        self.kept = range.upperBound
    }

    /// The next line without its end, which is passed over.
    private mutating func takeLine() -> Range<Int> {
        let start = self.position
        var index = start
        while index < self.end, self.bytes[index] != ASCII.lineFeed { index += 1 }
        self.position = min(index + 1, self.end)
        return start..<(index > start && self.bytes[index - 1] == ASCII.carriageReturn ? index - 1 : index)
    }

    // MARK: - Head

    private mutating func takeHead() {
        while self.position < self.end,
            self.bytes[self.position] == ASCII.carriageReturn
                || self.bytes[self.position] == ASCII.lineFeed
        {
            self.position += 1
        }
        self.kept = self.position
        var isSecret = false
        while self.position < self.end {
            let line = self.takeLine()
            guard let first = self.bytes[line].first else { return }
            // What continues a line belongs to it.
            let isContinuation = first == ASCII.space || first == ASCII.tab
            if !isContinuation {
                let colon = self.secretColon(line)
                isSecret = colon != nil
                if let colon { self.hideValue(colon + 1..<line.upperBound) }
            } else if isSecret {
                self.drop(line.lowerBound..<self.position)
            }
            if !isSecret { self.hidePasswords(line) }
        }
    }

    /// Where the name of a field ends that is secret; nil for any other line.
    private func secretColon(_ line: Range<Int>) -> Int? {
        guard let colon = self.colon(in: line) else { return nil }
        var end = colon
        while end > line.lowerBound, ASCII.isBlank(self.bytes[end - 1]) { end -= 1 }
        let name = line.lowerBound..<end
        let isSecret =
            Self.secretHeaders.contains { $0.count == name.count && self.begins(name, with: $0) }
            || self.begins(name, with: Self.secretPrefix)
            || name.contains { self.begins($0..<end, with: Self.secretPart) }
        return isSecret ? colon : nil
    }

    /// - Parameter text: in lower case.
    private func begins(_ range: Range<Int>, with text: ByteString) -> Bool {
        guard range.count >= text.count else { return false }
        for offset in 0..<text.count
        where ASCII.lowercased(self.bytes[range.lowerBound + offset]) != text.bytes[offset] {
            return false
        }
        return true
    }

    private func colon(in range: Range<Int>) -> Int? {
        var index = range.lowerBound
        while index < range.upperBound {
            if self.bytes[index] == ASCII.colon { return index }
            index += 1
        }
        return nil
    }

    /// The scheme (`Digest`) stays.
    private mutating func hideValue(_ value: Range<Int>) {
        var start = value.lowerBound
        while start < value.upperBound, ASCII.isBlank(self.bytes[start]) { start += 1 }
        let space = self.bytes[start..<value.upperBound].firstIndex(of: ASCII.space)
        self.hide((space.map { $0 + 1 } ?? start)..<value.upperBound)
    }

    /// `scheme:user:password@` loses its password.
    private mutating func hidePasswords(_ line: Range<Int>) {
        var word = line.lowerBound
        for index in line {
            let byte = self.bytes[index]
            if byte == ASCII.at, let first = self.colon(in: word..<index),
                let second = self.colon(in: first + 1..<index), self.isScheme(word..<first + 1)
            {
                self.hide(second + 1..<index)
                word = index
            } else if ASCII.isBlank(byte) || byte == ASCII.less || byte == ASCII.quote {
                word = index + 1
            }
        }
    }

    private func isScheme(_ range: Range<Int>) -> Bool {
        Self.schemes.contains { $0.count == range.count && self.begins(range, with: $0) }
    }

    // MARK: - Body

    private mutating func takeBody() {
        guard self.position < self.end else { return self.drop(self.end..<self.end) }
        guard self.showsBody else {
            // Not even its length: it would tell a digit from a word.
            return self.hide(self.position..<self.end)
        }
        while self.position < self.end {
            let line = self.takeLine()
            if let secret = Self.secretLines.first(where: { self.begins(line, with: $0) }) {
                self.hide(line.lowerBound + secret.count..<line.upperBound)
            }
        }
        self.drop(self.end..<self.end)
    }

    /// Session descriptions, pieces of messages and orders about pictures are shown; whatever else may be what people
    /// said.
    private var showsBody: Bool {
        guard let field = HeadScan.value(of: "content-type", compact: UInt8(ascii: "c"), in: self.bytes) else {
            return false
        }
        let type = ByteString(field)
        let shown: [ByteString] = ["application/sdp", "message/sipfrag", "application/media_control+xml"]
        if shown.contains(where: { type.hasPrefixIgnoringCase($0) }) { return true }
        guard type.hasPrefixIgnoringCase("multipart/") else { return false }
        let talk: [ByteString] = ["MESSAGE ", "INFO "]
        let start = ByteString(self.bytes.drop { ASCII.isBlank($0) }.prefix(8))
        return !talk.contains { start.hasPrefix($0) }
    }
}
