// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Readers of how the help point names itself and where it stands.
extension ConfigurationValue {
    static let displayTextBytesMax = 200

    private static func displayText(_ value: ByteString) throws(BadValue) -> ByteString {
        guard value.count <= self.displayTextBytesMax else {
            throw BadValue("longer than " + ByteString(decimal: self.displayTextBytesMax) + " bytes")
        }
        return value
    }

    /// `auto` is nil: what the program knows. `none` is empty.
    static func textOrAuto(_ value: ByteString) throws(BadValue) -> ByteString? {
        value.equalsIgnoringCase("auto") ? nil : try self.textOrNone(value)
    }

    /// `none` is empty.
    static func textOrNone(_ value: ByteString) throws(BadValue) -> ByteString {
        value.equalsIgnoringCase("none") ? ByteString() : try self.displayText(value)
    }

    static func uriOrNone(_ value: ByteString) throws(BadValue) -> SIPURI? {
        value.equalsIgnoringCase("none") ? nil : try self.uri(value)
    }

    /// Values of RFC 3323 and RFC 3325 with commas or semicolons between them; `none` asks for nothing.
    static func privacy(_ value: ByteString) throws(BadValue) -> ByteString {
        let known: [(ByteString, ByteString)] = [
            ("none", ""), ("id", "id"), ("header", "header"), ("session", "session"), ("user", "user"),
            ("critical", "critical"),
        ]
        var words: [ByteString] = []
        for part in value.bytes.split(whereSeparator: { $0 == ASCII.comma || $0 == ASCII.semicolon }) {
            words.append(try self.choice(ByteString(part).trimmed(), known))
        }
        words.removeAll { $0.isEmpty }
        guard let first = words.first else { return ByteString() }
        return words.dropFirst().reduce(first) { $0 + ";" + $1 }
    }

    // MARK: - Location

    /// A decimal number of degrees from `-max` to `max`, kept as it is written; `none` is empty.
    static func degrees(_ value: ByteString, max: UInt64) throws(BadValue) -> ByteString {
        if value.equalsIgnoringCase("none") { return ByteString() }
        let digits = value.bytes.first == ASCII.minus ? value.slice(1..<value.count) : value
        let parts = digits.split(on: ASCII.dot)
        guard parts.count <= 2, let whole = parts[0].decimal(max: max), parts[0].count <= 3,
            parts.count == 1 || !parts[1].isEmpty && parts[1].bytes.allSatisfy(ASCII.isDigit) && parts[1].count <= 9,
            whole < max || parts.count == 1 || parts[1].bytes.allSatisfy({ $0 == ASCII.zero })
        else {
            throw BadValue(
                self.quoted(value) + " is not a number of degrees up to " + ByteString(decimal: max)
                    + ", as in 52.5163")
        }
        return value
    }

    /// Whole metres; `none` is nil.
    static func uncertainty(_ value: ByteString) throws(BadValue) -> Int? {
        value.equalsIgnoringCase("none") ? nil : try self.number(value, 1...100_000, unit: "metres")
    }

    /// An address at which the location can be asked for; `none` is empty.
    static func locationURI(_ value: ByteString) throws(BadValue) -> ByteString {
        if value.equalsIgnoringCase("none") { return ByteString() }
        let known: [ByteString] = ["https:", "http:", "pres:", "sip:", "sips:"]
        guard known.contains(where: { value.hasPrefixIgnoringCase($0) }), URI(value) != nil,
            value.count <= self.displayTextBytesMax
        else { throw BadValue(self.quoted(value) + " is not an https:, http:, pres:, sip: or sips: address") }
        return value
    }
}
