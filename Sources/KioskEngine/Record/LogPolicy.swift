// SPDX-License-Identifier: Apache-2.0
import Bytes

/// How much goes into the log.
public enum LogLevel: UInt8, Comparable, Sendable {
    /// What keeps calls from being made.
    case error
    /// What is wrong and does not.
    case warning
    /// What happens.
    case info
    /// What is counted each second, and each message of SIP.
    case debug

    static let all: [(ByteString, LogLevel)] = [
        ("error", .error), ("warning", .warning), ("info", .info), ("debug", .debug),
    ]

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// What an event is about.
public enum LogPart: UInt8, Sendable {
    case calls
    case media
    case servers
    case devices
    case panel
    case settings
    /// The messages of calls, registrations and all else.
    case sip

    static let all: [(ByteString, LogPart)] = [
        ("calls", .calls), ("media", .media), ("servers", .servers), ("devices", .devices), ("panel", .panel),
        ("settings", .settings), ("sip", .sip),
    ]
}

/// Which lines the log files keep, and without what.
public struct LogPolicy: Equatable, Sendable {
    /// By `LogPart.rawValue`.
    private var levels: [LogLevel]
    /// Whether the keys that people press are kept: they may be somebody's code.
    public var keepsDigits: Bool

    public init(_ level: LogLevel = .info, keepsDigits: Bool = false) {
        self.levels = [LogLevel](repeating: level, count: LogPart.all.count)
        self.keepsDigits = keepsDigits
    }

    /// - Parameter part: nil for all of them.
    public mutating func set(_ level: LogLevel, of part: LogPart?) {
        for index in self.levels.indices where part.map({ Int($0.rawValue) == index }) ?? true {
            self.levels[index] = level
        }
    }

    public func keeps(_ level: LogLevel, of part: LogPart) -> Bool { level <= self.levels[Int(part.rawValue)] }

    /// The line as it is kept; nil where it is not.
    /// - Parameter line: an event, or a sentence of the program's own, which is always kept.
    public func kept(_ line: ByteString) -> ByteString? {
        guard let event = Self.event(of: line) else { return line.withoutSecrets }
        let (part, level) = Self.rank(event, line)
        guard self.keeps(level, of: part) else { return nil }
        return (event == "digit" && !self.keepsDigits ? Self.masked(line) : line).withoutSecrets
    }

    /// The name that every event begins with.
    private static func event(of line: ByteString) -> ByteString? {
        let start: ByteString = "{\"event\":\""
        guard line.hasPrefix(start) else { return nil }
        return ByteString(line.bytes[start.count...].prefix { $0 != ASCII.quote })
    }

    private static let ranks: [(ByteString, LogPart, LogLevel)] = [
        ("stats", .media, .debug), ("fault", .devices, .error), ("restored", .devices, .warning),
        ("problem", .settings, .warning), ("reload", .settings, .info), ("ready", .settings, .warning),
        ("registration", .servers, .info), ("server", .servers, .info), ("failover", .servers, .warning),
        ("password_refused", .servers, .error), ("certificate", .servers, .warning), ("tls", .servers, .error),
        ("button", .panel, .info), ("lamp", .panel, .info), ("long_press", .panel, .info), ("chord", .panel, .info),
        ("input", .panel, .info), ("key", .panel, .info), ("keypad", .panel, .info), ("relay", .panel, .info),
        ("relay_refused", .panel, .warning), ("edges", .panel, .debug), ("sip", .sip, .debug),
        ("camera", .media, .info), ("first_frame", .media, .info), ("first_sound", .media, .info),
        ("decoder", .media, .warning), ("secured", .media, .info), ("not_secured", .media, .error),
    ]

    /// What is not listed is about calls. An event with a code is a warning at least.
    private static func rank(_ event: ByteString, _ line: ByteString) -> (LogPart, LogLevel) {
        let row = self.ranks.first { $0.0 == event }
        let level = row?.2 ?? .info
        let hasCode = line.offset(of: self.codeMember) != nil
        return (row?.1 ?? .calls, hasCode ? min(level, .warning) : level)
    }

    private static let codeMember: ByteString = "\"fault_code\":"

    /// Without the key of a `digit` event.
    private static func masked(_ line: ByteString) -> ByteString {
        let member: ByteString = "\"key\":\""
        guard let start = line.offset(of: member).map({ $0 + member.count }) else { return line }
        let end = line.bytes[start...].firstIndex(of: ASCII.quote) ?? line.count
        return line.slice(0..<start) + "hidden" + line.slice(end..<line.count)
    }
}

extension ByteString {
    /// Where `part` begins.
    fileprivate func offset(of part: ByteString) -> Int? {
        guard self.count >= part.count else { return nil }
        return (0...self.count - part.count).first { self.bytes[$0...].starts(with: part.bytes) }
    }
}

extension LogPolicy {
    /// `LEVEL` or `LEVEL PART`.
    static func parse(_ argument: ByteString) throws(BadValue) -> (LogLevel, LogPart?) {
        let words = argument.split(on: ASCII.space).filter { !$0.isEmpty }
        guard let first = words.first, words.count <= 2 else {
            throw BadValue("log takes a level and, where it is for one part only, the part")
        }
        let level = try ConfigurationValue.choice(first, LogLevel.all)
        guard words.count == 2 else { return (level, nil) }
        return (level, try ConfigurationValue.choice(words[1], LogPart.all))
    }
}
