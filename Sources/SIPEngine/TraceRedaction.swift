// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Takes out of a message what nobody may read in a trace: credentials and challenges, keys of media, passwords in
/// URIs, and what people said or typed (texts, digits).
///
/// It works on raw lines, so that a faulty message is no way around it.
enum Redaction {
    private static let mark: ByteString = "***"
    private static let secretHeaders: [ByteString] = [
        "authorization", "proxy-authorization", "www-authenticate", "proxy-authenticate", "authentication-info",
        "proxy-authentication-info",
    ]
    private static let secretLines: [ByteString] = ["a=crypto:", "a=key-mgmt:", "a=ice-pwd:", "k="]
    private static let schemes: [ByteString] = ["sip:", "sips:", "http:", "https:"]

    static func redacted(_ message: [UInt8], bytesMax: Int) -> [UInt8] {
        var lines = Lines(message, bytesMax: bytesMax)
        var text: [UInt8] = []
        text.reserveCapacity(min(message.count, bytesMax))
        var hidesRest = false
        while let line = lines.next() {
            if line.isBlank {
                if text.isEmpty { continue }
                text += line.whole
                break
            }
            // What continues a line belongs to it.
            let isContinuation = line.text.first == ASCII.space || line.text.first == ASCII.tab
            if isContinuation && hidesRest { continue }
            let name = isContinuation ? nil : Self.secretName(line.text)
            hidesRest = name != nil
            text += name.map { Self.masked(line, afterName: $0) } ?? Self.withoutPasswords(line.whole)
        }
        if !Self.showsBody(message) {
            // Not even its length: it would tell a digit from a word.
            if !lines.isAtEnd { text += Self.mark.bytes }
            return text
        }
        while let line = lines.next() { text += Self.bodyLine(line) }
        return text
    }

    // MARK: - Head

    /// Where the name of a field ends that is secret; nil for any other line.
    private static func secretName(_ line: ArraySlice<UInt8>) -> Int? {
        guard let colon = line.firstIndex(of: ASCII.colon) else { return nil }
        let name = ByteString(line[..<colon]).trimmed().lowercasedASCII()
        let isSecret =
            self.secretHeaders.contains(name) || name.hasPrefix("p-access") || name.containsIgnoringCase("token")
        return isSecret ? colon : nil
    }

    /// The name and the scheme (`Digest`) stay.
    private static func masked(_ line: Line, afterName colon: Int) -> [UInt8] {
        let value = ByteString(line.text[(colon + 1)...]).trimmed()
        let scheme = value.slice(0..<(value.firstIndex(of: ASCII.space) ?? 0))
        let name = ByteString(line.text[...colon])
        return (name + " " + scheme + (scheme.isEmpty ? "" : " ") + self.mark + "\r\n").bytes
    }

    /// `scheme:user:password@` loses its password.
    private static func withoutPasswords(_ line: ArraySlice<UInt8>) -> [UInt8] {
        guard line.contains(ASCII.at) else { return Array(line) }
        var text: [UInt8] = []
        var wordStart = 0
        for byte in line {
            if byte == ASCII.at, let colon = self.passwordColon(text[wordStart...]) {
                text.removeLast(text.count - colon - 1)
                text += self.mark.bytes
            }
            text.append(byte)
            if ASCII.isBlank(byte) || byte == ASCII.less || byte == ASCII.quote { wordStart = text.count }
        }
        return text
    }

    /// The second colon of a word that begins like a URI.
    private static func passwordColon(_ word: ArraySlice<UInt8>) -> Int? {
        let text = ByteString(word.prefix(6))
        guard self.schemes.contains(where: { text.hasPrefixIgnoringCase($0) }),
            let first = word.firstIndex(of: ASCII.colon)
        else { return nil }
        return word[(first + 1)...].firstIndex(of: ASCII.colon)
    }

    // MARK: - Body

    /// Session descriptions, pieces of messages and orders about pictures are shown; whatever else may be what people
    /// said.
    private static func showsBody(_ message: [UInt8]) -> Bool {
        guard let field = HeadScan.value(of: "content-type", compact: UInt8(ascii: "c"), in: message) else {
            return false
        }
        let type = ByteString(field)
        let isMultipart = type.hasPrefixIgnoringCase("multipart/")
        guard !isMultipart else {
            let isText = ["MESSAGE ", "INFO "].contains { (name: ByteString) in message.starts(with: name.bytes) }
            return !isText
        }
        let shown: [ByteString] = ["application/sdp", "message/sipfrag", "application/media_control+xml"]
        return shown.contains { type.hasPrefixIgnoringCase($0) }
    }

    private static func bodyLine(_ line: Line) -> [UInt8] {
        let text = ByteString(line.text)
        guard let secret = self.secretLines.first(where: { text.hasPrefixIgnoringCase($0) }) else {
            return Array(line.whole)
        }
        return (secret + self.mark + "\r\n").bytes
    }
}

/// One line, without and with its end.
private struct Line {
    let text: ArraySlice<UInt8>
    let whole: ArraySlice<UInt8>

    var isBlank: Bool { self.text.isEmpty }
}

/// The lines of a message as far as it is kept. One that is cut there is left out, for nobody could tell what is secret
/// in it.
private struct Lines {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ message: [UInt8], bytesMax: Int) {
        let kept = message.prefix(bytesMax)
        let isCut = kept.count < message.count
        self.bytes = isCut ? kept[..<(kept.lastIndex(of: ASCII.lineFeed).map { $0 + 1 } ?? 0)] : kept
        self.position = 0
    }

    var isAtEnd: Bool { self.position >= self.bytes.endIndex }

    mutating func next() -> Line? {
        guard !self.isAtEnd else { return nil }
        let start = self.position
        let feed = self.bytes[start...].firstIndex(of: ASCII.lineFeed)
        self.position = feed.map { $0 + 1 } ?? self.bytes.endIndex
        var end = feed ?? self.bytes.endIndex
        if end > start, self.bytes[end - 1] == ASCII.carriageReturn { end -= 1 }
        return Line(text: self.bytes[start..<end], whole: self.bytes[start..<self.position])
    }
}
