// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Readers of what concerns the panel.
extension ConfigurationValue {
    /// A pattern's name, or `LIT/DARK` in milliseconds.
    static func lampPattern(_ value: ByteString) throws(BadValue) -> LampPattern {
        let word = value.lowercasedASCII()
        if let found = LampPattern.named.first(where: { $0.0 == word }) { return found.1 }
        let parts = value.split(on: ASCII.slash).map { $0.trimmed() }
        let range = LampPattern.phaseMsMin...LampPattern.phaseMsMax
        guard parts.count == 2, let lit = parts[0].decimal(max: UInt64(range.upperBound)),
            let dark = parts[1].decimal(max: UInt64(range.upperBound)), range.contains(Int(lit)),
            range.contains(Int(dark))
        else {
            throw BadValue(
                self.quoted(value) + " is not one of " + self.joined(LampPattern.named.map { $0.0 })
                    + ", nor milliseconds lit and dark as in 300/700, 20 to 60000 each")
        }
        guard lit + dark >= UInt64(LampPattern.periodMsMin) else {
            throw BadValue("blinks more than three times a second, which some people must not see")
        }
        return .blink(onMs: Int(lit), offMs: Int(dark))
    }

    static func lampPatternOrNone(_ value: ByteString) throws(BadValue) -> LampPattern? {
        value.equalsIgnoringCase("none") ? nil : try self.lampPattern(value)
    }

    /// Words of `Signal` with commas between; `none` for none.
    static func signals(_ value: ByteString) throws(BadValue) -> [Signal] {
        if value.equalsIgnoringCase("none") { return [] }
        let known = Signal.all.map { ($0.text, $0) }
        var signals: [Signal] = []
        for word in value.split(on: ASCII.comma).map({ $0.trimmed() }) {
            let signal = try self.choice(word, known)
            if !signals.contains(signal) { signals.append(signal) }
        }
        return signals
    }

    /// A secret: it is never quoted.
    static func relayCode(_ value: ByteString) throws(BadValue) -> ByteString {
        if value.equalsIgnoringCase("none") { return ByteString() }
        let keys = value.bytes.map { (0x61...0x64).contains($0) ? $0 - 0x20 : $0 }
        guard (RelaySettings.codeBytesMin...Relays.codeBytesMax).contains(keys.count),
            keys.allSatisfy({ ASCII.isDigit($0) || $0 == ASCII.star || (0x41...0x44).contains($0) })
        else { throw BadValue("is not a code of 4 to 16 of the keys 0 to 9, * and A to D") }
        return ByteString(keys)
    }

    static let relayAddressesMax = 8

    static func relayAllowed(_ value: ByteString) throws(BadValue) -> RelaySettings.Allowed {
        if value.equalsIgnoringCase("called") { return .called }
        var addresses: [SIPURI] = []
        for word in value.split(on: ASCII.comma) { addresses.append(try self.uri(word.trimmed())) }
        guard addresses.count <= self.relayAddressesMax else {
            throw BadValue("names more than " + ByteString(decimal: self.relayAddressesMax) + " addresses")
        }
        return .listed(addresses)
    }

    // MARK: - Keypad

    /// A path whose name does not change from start to start, or `evdev:NAME`.
    static func keypadDevice(_ value: ByteString) throws(BadValue) -> ByteString {
        if value.equalsIgnoringCase("none") { return ByteString() }
        let isNamed = value.hasPrefix("evdev:") && value.count > 6
        guard value.count <= self.deviceNameBytesMax,
            isNamed || value.hasPrefix("/dev/input/by-id/") || value.hasPrefix("/dev/input/by-path/")
        else {
            throw BadValue(
                self.quoted(value) + " is neither a path below /dev/input/by-id or /dev/input/by-path nor evdev:NAME; "
                    + "devices are numbered anew at each start")
        }
        return value
    }

    static let keypadLinesMax = 8

    static func keypadLines(_ value: ByteString) throws(BadValue) -> [LineName] {
        if value.equalsIgnoringCase("none") { return [] }
        var lines: [LineName] = []
        for word in value.split(on: ASCII.comma).map({ $0.trimmed() }) {
            guard let line = try self.line(word) else { throw BadValue("names no line") }
            if lines.contains(line) { throw BadValue(self.quoted(word) + " is listed twice") }
            lines.append(line)
        }
        guard lines.count <= self.keypadLinesMax else {
            throw BadValue("names more than " + ByteString(decimal: self.keypadLinesMax) + " lines")
        }
        return lines
    }

    static func keypadKeys(_ value: ByteString) throws(BadValue) -> ByteString {
        let keys = value.bytes.map { (0x61...0x64).contains($0) ? $0 - 0x20 : $0 }
        let areKeys = keys.allSatisfy {
            ASCII.isDigit($0) || $0 == ASCII.star || $0 == ASCII.hash || $0 == ASCII.minus || (0x41...0x44).contains($0)
        }
        guard areKeys, keys.count <= self.keypadLinesMax * self.keypadLinesMax else {
            throw BadValue(self.quoted(value) + " has other keys than 0 to 9, *, #, A to D and -, or too many")
        }
        return ByteString(keys)
    }

    /// Two buttons; `none` for no chord.
    static func chord(_ value: ByteString) throws(BadValue) -> [ButtonName] {
        if value.equalsIgnoringCase("none") { return [] }
        let known = ButtonName.all.map { ($0.text, $0) }
        var buttons: [ButtonName] = []
        for word in value.split(on: ASCII.comma).map({ $0.trimmed() }) {
            buttons.append(try self.choice(word, known))
        }
        guard buttons.count == 2, buttons[0] != buttons[1] else {
            throw BadValue(self.quoted(value) + " is not two buttons, as in hook, mute")
        }
        return buttons
    }
}
