// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Writes one JSON object (RFC 8259) on one line, members in the order they are put.
///
/// Whatever bytes come in, what goes out is valid: control characters are escaped, and bytes that are not UTF-8 become
/// U+FFFD.
public struct JSON {
    private var members = ByteString()

    public init() {}

    public static func object(_ fill: (inout JSON) -> Void) -> ByteString {
        var json = JSON()
        fill(&json)
        return json.text
    }

    /// The whole object.
    public var text: ByteString { "{" + self.members + "}" }

    public mutating func put(_ name: ByteString, _ value: ByteString) {
        self.begin(name)
        self.append(quoted: value)
    }

    public mutating func put(_ name: ByteString, _ value: Bool) {
        self.begin(name)
        self.members.append(value ? "true" : "false")
    }

    public mutating func put(_ name: ByteString, _ value: some FixedWidthInteger) {
        self.begin(name)
        self.members.append(decimal: value)
    }

    /// Milliseconds with three decimals.
    public mutating func put(_ name: ByteString, msOf nanoseconds: UInt64) {
        self.begin(name)
        self.members.append(decimal: nanoseconds / 1_000_000)
        self.members.append(byte: ASCII.dot)
        let micros = nanoseconds / 1000 % 1000
        if micros < 100 { self.members.append(byte: ASCII.zero) }
        if micros < 10 { self.members.append(byte: ASCII.zero) }
        self.members.append(decimal: micros)
    }

    /// Milliseconds with three decimals; 0 for a negative length.
    public mutating func put(_ name: ByteString, msOf duration: Duration) {
        self.put(name, msOf: UInt64(max(0, duration.nanoseconds)))
    }

    public mutating func put(_ name: ByteString, _ lines: [ByteString]) {
        self.begin(name)
        self.members.append("[")
        for (index, line) in lines.enumerated() {
            if index > 0 { self.members.append(byte: ASCII.comma) }
            self.append(quoted: line)
        }
        self.members.append("]")
    }

    public mutating func put(_ name: ByteString, object: JSON) {
        self.begin(name)
        self.members.append(object.text)
    }

    public mutating func putNull(_ name: ByteString) {
        self.begin(name)
        self.members.append("null")
    }

    private mutating func begin(_ name: ByteString) {
        if !self.members.isEmpty { self.members.append(byte: ASCII.comma) }
        self.append(quoted: name)
        self.members.append(byte: ASCII.colon)
    }

    private mutating func append(quoted value: ByteString) {
        self.members.append(byte: ASCII.quote)
        var rest = value.bytes[...]
        while let first = rest.first {
            let length = UTF8Text.characterLength(rest)
            if length == 0 {
                self.members.append("\\ufffd")
                rest = rest.dropFirst()
            } else if length == 1 {
                self.append(escaped: first)
                rest = rest.dropFirst()
            } else {
                self.members.bytes.append(contentsOf: rest.prefix(length))
                rest = rest.dropFirst(length)
            }
        }
        self.members.append(byte: ASCII.quote)
    }

    private mutating func append(escaped byte: UInt8) {
        switch byte {
        case ASCII.quote, ASCII.backslash:
            self.members.append(byte: ASCII.backslash)
            self.members.append(byte: byte)
        case ASCII.lineFeed: self.members.append("\\n")
        case ASCII.carriageReturn: self.members.append("\\r")
        case ASCII.tab: self.members.append("\\t")
        case 0..<0x20, 0x7F:
            self.members.append("\\u")
            self.members.append(hex: UInt64(byte), width: 4)
        default: self.members.append(byte: byte)
        }
    }
}
