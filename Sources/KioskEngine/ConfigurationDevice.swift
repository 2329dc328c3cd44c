// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Readers of device names. Numbers are refused: which device has a number changes from start to start, and a kiosk
/// that takes its neighbour's camera is worse than one that says it has none.
extension ConfigurationValue {
    private static func isNumber(_ text: ByteString) -> Bool {
        !text.isEmpty && text.bytes.allSatisfy(ASCII.isDigit)
    }

    /// `prefix` and then only digits.
    private static func isNumbered(_ text: ByteString, _ prefix: ByteString) -> Bool {
        text.hasPrefix(prefix) && self.isNumber(text.slice(prefix.count..<text.count))
    }

    private static func checkLength(_ value: ByteString) throws(BadValue) {
        guard value.count <= self.deviceNameBytesMax else {
            throw BadValue("longer than " + ByteString(decimal: self.deviceNameBytesMax) + " bytes")
        }
    }

    /// A line's name or `chip-label:offset`; `none` for a line that is not fitted.
    static func line(_ value: ByteString) throws(BadValue) -> LineName? {
        try self.checkLength(value)
        if value.equalsIgnoringCase("none") { return nil }
        let hint: ByteString = "; write the line's name, or chip-label:offset (gpioinfo lists both)"
        if self.isNumber(value) {
            throw BadValue("a bare number: GPIO numbers change with the kernel" + hint)
        }
        if value.contains(ASCII.slash) { throw BadValue(self.quoted(value) + " is a path" + hint) }
        let parts = value.split(on: ASCII.colon)
        if self.isNumbered(parts[0], "gpiochip") {
            throw BadValue(self.quoted(parts[0]) + " is a number: chips are numbered anew at each start" + hint)
        }
        if parts.count > 1, self.isNumber(parts[0]) {
            throw BadValue("the chip " + self.quoted(parts[0]) + " is a bare number" + hint)
        }
        return LineName(text: value)
    }

    static func connector(_ value: ByteString) throws(BadValue) -> DeviceName {
        try self.checkLength(value)
        if let name = self.general(value) { return name }
        let hint: ByteString = "; write the connector's name, as in HDMI-A-1"
        if self.isNumber(value) { throw BadValue("a bare number: connectors are numbered by the driver" + hint) }
        if value.contains(ASCII.slash) { throw BadValue(self.quoted(value) + " is a path" + hint) }
        if value.hasPrefix("card"), let dash = value.firstIndex(of: ASCII.minus),
            self.isNumbered(value.slice(0..<dash), "card")
        {
            throw BadValue("cards are numbered anew at each start; write only " + value.slice(dash + 1..<value.count))
        }
        return .named(value)
    }

    static func camera(_ value: ByteString) throws(BadValue) -> DeviceName {
        try self.checkLength(value)
        if let name = self.general(value) { return name }
        let hint: ByteString = "; write its name in /dev/v4l/by-path"
        if self.isNumber(value) { throw BadValue("a bare number: cameras are numbered anew at each start" + hint) }
        if self.isNumbered(value, "/dev/video") || self.isNumbered(value, "video") {
            throw BadValue(self.quoted(value) + " is a number: cameras are numbered anew at each start" + hint)
        }
        if value == "file:" { throw BadValue("file: is not followed by a path") }
        return .named(value)
    }

    /// An ALSA name; `null` is ALSA's word for none.
    static func sound(_ value: ByteString) throws(BadValue) -> DeviceName {
        try self.checkLength(value)
        if value.equalsIgnoringCase("null") { return .none }
        if value.equalsIgnoringCase("default") { return .automatic }
        if let name = self.general(value) { return name }
        let hint: ByteString = "; write the card's id, as in plughw:Headset (aplay -l lists them)"
        if self.isNumber(value) { throw BadValue("a bare number: sound cards are numbered anew at each start" + hint) }
        guard let colon = value.firstIndex(of: ASCII.colon) else { return .named(value) }
        for argument in value.slice(colon + 1..<value.count).split(on: ASCII.comma).prefix(1) {
            let card = argument.hasPrefix("CARD=") ? argument.slice(5..<argument.count) : argument
            if self.isNumber(card) {
                throw BadValue(
                    "the card of " + self.quoted(value) + " is a number: sound cards are numbered anew at each start"
                        + hint)
            }
        }
        return .named(value)
    }

    /// The words that every device knows.
    private static func general(_ value: ByteString) -> DeviceName? {
        if value.equalsIgnoringCase("none") { return DeviceName.none }
        if value.equalsIgnoringCase("auto") { return .automatic }
        return nil
    }
}
