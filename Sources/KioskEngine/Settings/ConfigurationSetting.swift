// SPDX-License-Identifier: Apache-2.0
import Bytes

/// A key of `callbox.conf`. The rows of this folder are the only place that knows which there are: the parser reads by
/// them, and `docs/configuration.md` and the sample file are made from them (`board/document`).
struct ConfigurationSetting {
    typealias Reader<Value> = (ByteString) throws(BadValue) -> Value

    /// Without brackets; given by the section that the row stands in.
    var section = ByteString()
    var key: ByteString
    /// The default, as one would write it; empty where there is none.
    var standard: ByteString
    /// In place of `standard` in "… is used", where that would be no sentence.
    var instead: ByteString?
    /// What the sample file shows where there is no default.
    var example: ByteString
    /// A sentence or two for whoever writes the file. Line ends are blanks; names and values stand in backticks.
    var meaning: StaticString
    var apply: (ByteString, inout Configuration) throws(BadValue) -> Void

    init<Value>(
        _ key: ByteString, _ standard: ByteString, _ read: @escaping Reader<Value>, _ meaning: StaticString,
        instead: ByteString? = nil, example: ByteString? = nil,
        _ store: @escaping (inout Configuration, Value) -> Void
    ) {
        self.key = key
        self.standard = standard
        self.instead = instead
        self.example = example ?? standard
        self.meaning = meaning
        self.apply = { (value, configuration) throws(BadValue) in
            store(&configuration, try read(value))
        }
    }

    /// Whether a line without a value is right: a password that was moved leaves one.
    var mayBeEmpty: Bool {
        if Self.isPassword(self.key, in: self.section) { return true }
        switch self.section {
        case "sip": return self.key == "auth_user"
        case "ice": return self.key == "turn_user"
        case "network": return self.key == "auth_identity"
        default: return false
        }
    }

    /// Whether the value of that key is moved to the secrets file.
    static func isPassword(_ key: ByteString, in section: ByteString) -> Bool {
        switch section {
        case "sip": return key == "password"
        case "ice": return key == "turn_password"
        case "network": return key == "wifi_password" || key == "auth_password"
        default: return false
        }
    }

    static let all: [ConfigurationSetting] = ConfigurationSection.all.flatMap { $0.settings }

    /// In the order of the table, each once.
    static let sections: [ByteString] = ConfigurationSection.all.map { $0.name }
}

/// A `[section]` of `callbox.conf`.
struct ConfigurationSection {
    /// Without brackets.
    var name: ByteString
    /// What the section is about; written as `ConfigurationSetting.meaning`.
    var meaning: StaticString
    /// The section that tells what the keys mean, where this one only repeats them.
    var like: ByteString?
    var settings: [ConfigurationSetting]

    init(_ name: ByteString, like: ByteString? = nil, _ meaning: StaticString, _ settings: [ConfigurationSetting]) {
        self.name = name
        self.meaning = meaning
        self.like = like
        self.settings = settings.map { setting in
            var setting = setting
            setting.section = name
            return setting
        }
    }

    /// In the order of the document and of the sample file.
    static let all: [ConfigurationSection] =
        [Self.call, Self.autoCall, Self.sip, Self.servers] + Self.accounts + [Self.tls] + Self.buttons
        + Self.inputs + [Self.keypad, Self.panel] + Self.lamps + Self.relays
        + [Self.display, Self.screen] + Self.screens + [Self.language]
        + [Self.camera, Self.audio, Self.sound, Self.video, Self.media, Self.rtp, Self.ice, Self.network]
        + [Self.identity, Self.location, Self.update, Self.log]
}

// MARK: - Readers with their bounds

extension ConfigurationSection {
    static func number(_ range: ClosedRange<Int>, _ unit: ByteString = "") -> ConfigurationSetting.Reader<Int> {
        { (value) throws(BadValue) in try ConfigurationValue.number(value, range, unit: unit) }
    }

    static func degrees(max: UInt64) -> ConfigurationSetting.Reader<ByteString> {
        { (value) throws(BadValue) in try ConfigurationValue.degrees(value, max: max) }
    }

    static func choice<Choice>(_ choices: [(ByteString, Choice)]) -> ConfigurationSetting.Reader<Choice> {
        { (value) throws(BadValue) in try ConfigurationValue.choice(value, choices) }
    }
}
