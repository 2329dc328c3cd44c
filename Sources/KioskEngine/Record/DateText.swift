// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Seconds since 1970 as a date of RFC 3339 in UTC.
public enum DateText {
    /// `2026-01-31T12:00:00Z`; what is before 1970 or after 9999 counts as the nearest that is not.
    public static func utc(_ secondsSince1970: Int64) -> ByteString {
        let seconds = min(max(0, secondsSince1970), 253_402_300_799)
        let date = self.date(days: seconds / 86_400)
        var text = ByteString(reserving: 20)
        self.append(date.year, 4, "-", to: &text)
        self.append(date.month, 2, "-", to: &text)
        self.append(date.day, 2, "T", to: &text)
        self.append(seconds / 3600 % 24, 2, ":", to: &text)
        self.append(seconds / 60 % 60, 2, ":", to: &text)
        self.append(seconds % 60, 2, "Z", to: &text)
        return text
    }

    private static func append(_ number: Int64, _ width: Int, _ end: StaticString, to text: inout ByteString) {
        let digits = ByteString(decimal: number)
        for _ in digits.count..<max(width, digits.count) { text.append(byte: ASCII.zero) }
        text += digits
        text.append(literal: end)
    }

    /// In the Gregorian calendar. Years begin in March here, so that the day that some have is their last.
    private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let daysPerEra: Int64 = 146_097
        let sinceMarch = days + 719_468
        let era = sinceMarch / daysPerEra
        let ofEra = sinceMarch % daysPerEra
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * ofYear + 2) / 153
        let day = ofYear - (153 * month + 2) / 5 + 1
        let isNextYear = month >= 10
        return (era * 400 + yearOfEra + (isNextYear ? 1 : 0), isNextYear ? month - 9 : month + 3, day)
    }
}
