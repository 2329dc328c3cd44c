// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ConfigurationSection {
    static let autoCall = ConfigurationSection(
        "auto_call",
        """
        Calls that the help point places by itself, to be watched over or to be tested. A countdown is shown and heard
        before, which the press of any button ends.
        """,
        [
            .init(
                "allow", "no", ConfigurationValue.yesOrNo,
                "`yes`: the help point may call by itself. Nothing else of this section counts without it."
            ) { $0.autoCall.isAllowed = $1 },
            .init(
                "after", "none", ConfigurationValue.autoCallAfter,
                "Seconds, 10 to 86400, after the start of the help point; `none` for no call then."
            ) { $0.autoCall.afterMs = $1 },
            .init(
                "at", "none", ConfigurationValue.dayTimes,
                """
                Up to eight times of day, each with its days where it is not every day: `08:00 mon-fri, 20:15 sat sun`;
                or `none`. Nobody is called while the help point does not know the time.
                """
            ) { $0.autoCall.times = $1 },
            .init(
                "uri", "auto", ConfigurationValue.stepsOrAuto,
                "Who is called, written as in `[call]`; `auto`: the same."
            ) { $0.autoCall.steps = $1 },
            .init(
                "countdown", "10", Self.number(3...60, "seconds"), "Seconds, 3 to 60, that are counted before the call."
            ) { $0.autoCall.countdownMs = $1 * 1000 },
            .init(
                "zone", "system", ConfigurationValue.timeZone,
                """
                The time zone of all that tells the time: a rule such as `CET-1CEST,M3.5.0,M10.5.0/3`, a name such as
                `Europe/Berlin` where the system has them, or `system`.
                """
            ) { $0.autoCall.zone = $1 },
        ])
}

/// Readers of times.
extension ConfigurationValue {
    static let dayTimesMax = 8
    static let timeZoneBytesMax = 64

    /// Milliseconds; nil for `none`.
    static func autoCallAfter(_ value: ByteString) throws(BadValue) -> Int? {
        value.equalsIgnoringCase("none") ? nil : try self.number(value, 10...86_400, unit: "seconds") * 1000
    }

    /// Empty for `system`.
    static func timeZone(_ value: ByteString) throws(BadValue) -> ByteString {
        if value.equalsIgnoringCase("system") { return ByteString() }
        let known: ByteString = "/_+-,.:<>"
        let isPlain = value.bytes.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || known.contains($0) }
        // A path would name any file.
        guard isPlain, value.count <= self.timeZoneBytesMax, let first = value.bytes.first,
            ASCII.isLetter(first) || first == 0x3C
        else {
            throw BadValue(self.quoted(value) + " is not a time zone, as in CET-1CEST,M3.5.0,M10.5.0/3")
        }
        return value
    }

    /// `HH:MM`, each with days after it or none, with commas between them; `none` for an empty list.
    static func dayTimes(_ value: ByteString) throws(BadValue) -> [DayTime] {
        if value.equalsIgnoringCase("none") { return [] }
        var times: [DayTime] = []
        for part in value.split(on: ASCII.comma) { times.append(try self.dayTime(part.trimmed())) }
        guard times.count <= self.dayTimesMax else {
            throw BadValue("names more than " + ByteString(decimal: self.dayTimesMax) + " times")
        }
        return times
    }

    private static func dayTime(_ text: ByteString) throws(BadValue) -> DayTime {
        let words = text.bytes.split(whereSeparator: ASCII.isBlank).map { ByteString($0) }
        let clock = (words.first ?? ByteString()).split(on: ASCII.colon)
        guard clock.count == 2, clock[1].count == 2, let hour = clock[0].decimal(max: 23),
            let minute = clock[1].decimal(max: 59)
        else { throw BadValue(self.quoted(text) + " is not a time of day, as in 08:00 or 20:15 mon-fri") }
        var days: UInt8 = words.count > 1 ? 0 : DayTime.everyDay
        for word in words.dropFirst() { days |= try self.days(word) }
        return DayTime(minute: Int(hour) * 60 + Int(minute), days: days)
    }

    /// One day or a range of days; a range may go over Sunday.
    private static func days(_ word: ByteString) throws(BadValue) -> UInt8 {
        let names: [(ByteString, Int)] = [
            ("mon", 0), ("tue", 1), ("wed", 2), ("thu", 3), ("fri", 4), ("sat", 5), ("sun", 6),
        ]
        let ends = word.split(on: ASCII.minus)
        guard ends.count <= 2 else { throw BadValue(self.quoted(word) + " is not a range of days, as in mon-fri") }
        let first = try self.choice(ends[0], names)
        let last = try self.choice(ends[ends.count - 1], names)
        var days: UInt8 = 0
        for ahead in 0...((last - first + 7) % 7) { days |= 1 << UInt8((first + ahead) % 7) }
        return days
    }
}
