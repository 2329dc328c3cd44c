// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The text of the secrets file: `REALM USER PASSWORD`, a line each. `*` is every realm; a realm or user with blanks
/// stands in quotes. The password is the rest of the line, in quotes where it begins or ends with a blank. A line that
/// begins with `#` is a comment. What is said of a fault never has the line in it.
public enum SecretsText {
    public static let fileBytesMax = 64 * 1024
    public static let wordBytesMax = 256
    static let credentialsMax = 16

    public static func parse(_ file: [UInt8]) -> (credentials: [Credential], problems: [ByteString]) {
        var credentials: [Credential] = []
        var problems: [ByteString] = []
        for (index, line) in ConfigurationText.lines(Array(file.prefix(self.fileBytesMax))).enumerated() {
            guard let first = line.bytes.first, first != ASCII.hash else { continue }
            let place: ByteString = "line " + ByteString(decimal: index + 1) + " of the secrets file "
            guard let credential = self.credential(line) else {
                problems.append(place + "is not REALM USER PASSWORD and is not read")
                continue
            }
            guard credentials.count < self.credentialsMax else {
                problems.append(place + "and the rest are too many and are not read")
                break
            }
            credentials.append(credential)
        }
        return (credentials, problems)
    }

    private static func credential(_ line: ByteString) -> Credential? {
        guard ConfigurationText.isText(line), let (realm, afterRealm) = self.word(line),
            let (user, password) = self.word(afterRealm), !password.isEmpty, password.count <= self.wordBytesMax
        else { return nil }
        return Credential(
            username: user, password: self.isQuoted(password) ? password.slice(1..<password.count - 1) : password,
            realm: realm == "*" ? ByteString() : realm)
    }

    /// The first word, without its quotes, and the rest.
    private static func word(_ text: ByteString) -> (ByteString, rest: ByteString)? {
        let isQuoted = text.bytes.first == ASCII.quote
        let start = isQuoted ? 1 : 0
        let end = text.bytes[min(start, text.count)...].firstIndex { isQuoted ? $0 == ASCII.quote : ASCII.isBlank($0) }
        guard let end, end > start, end - start <= self.wordBytesMax else { return nil }
        let rest = text.slice(end + 1..<max(end + 1, text.count))
        return (text.slice(start..<end), rest.trimmed())
    }

    private static func isQuoted(_ text: ByteString) -> Bool {
        text.count > 2 && text.bytes.first == ASCII.quote && text.bytes.last == ASCII.quote
    }

    /// The file with this credential on top, in place of one of the same realm and user.
    public static func adding(_ credential: Credential, to file: [UInt8]) -> [UInt8] {
        let quote: ByteString = "\""
        let needsQuotes =
            credential.password != credential.password.trimmed() || credential.password.bytes.first == ASCII.quote
        let password = needsQuotes ? quote + credential.password + quote : credential.password
        var text: ByteString = credential.realm.isEmpty ? "*" : quote + credential.realm + quote
        text += " " + quote + credential.username + quote + " " + password + "\n"
        for line in ConfigurationText.lines(file) {
            if let other = self.credential(line), other.realm == credential.realm, other.username == credential.username
            {
                continue
            }
            text += line + "\n"
        }
        return text.bytes
    }
}

extension Configuration {
    /// The file without its passwords, all else byte for byte; nil where there is none, or where it cannot be taken out
    /// so that we could read the file afterwards (UTF-16).
    /// - Parameter place: where they are now, for a comment.
    public static func withoutPassword(_ file: [UInt8], movedTo place: ByteString) -> [UInt8]? {
        var text: [UInt8] = []
        var hasFound = false
        var section = ByteString()
        var start = 0
        while start < file.count {
            let isEnd = { (byte: UInt8) in byte == ASCII.lineFeed || byte == ASCII.carriageReturn }
            let end = file[start...].firstIndex(where: isEnd) ?? file.count
            let next = file[end...].firstIndex { !isEnd($0) } ?? file.count
            let line = ConfigurationText.trimmed(file[start..<end])
            if let name = ConfigurationText.sectionName(of: line) { section = name }
            if let key = self.passwordKey(of: line, in: section) {
                let ends = file[end..<next].isEmpty ? [ASCII.lineFeed] : Array(file[end..<min(next, end + 2)])
                let lineEnd = ends == [ASCII.carriageReturn, ASCII.lineFeed] ? ends : Array(ends.prefix(1))
                if !hasFound { text += ("# The password is in " + place + " now.").bytes + lineEnd }
                text += (key + " =").bytes
                hasFound = true
            } else {
                text += file[start..<end]
            }
            text += file[end..<next]
            start = next
        }
        return hasFound && self.parse(text).0.credentials.isEmpty ? text : nil
    }

    /// The key of a line that has a password; nil for any other.
    private static func passwordKey(of line: ByteString, in section: ByteString) -> ByteString? {
        guard let first = line.bytes.first, first != ASCII.hash, first != ASCII.semicolon,
            let equals = line.firstIndex(of: ASCII.equals)
        else { return nil }
        let key = ConfigurationText.key(of: line, equals: equals)
        let value = ConfigurationText.value(line.slice(equals + 1..<line.count))
        return ConfigurationSetting.isPassword(key, in: section) && !value.isEmpty ? key : nil
    }
}
