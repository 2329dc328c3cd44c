// SPDX-License-Identifier: Apache-2.0
import Bytes

/// `[auto_call]`: calls that nobody places.
public struct AutoCallSettings: Equatable, Sendable {
    /// Nothing of this section counts without it.
    public var isAllowed = false
    /// Counted from the start of the help point; nil for none.
    public var afterMs: Int?
    public var times: [DayTime] = []
    /// Whom; empty: whom `[call]` names.
    public var steps: [CallStep] = []
    public var countdownMs = 10_000
    /// As the C library reads `TZ`; empty for that of the system.
    public var zone = ByteString()
}

/// A time of day, on some days of the week.
public struct DayTime: Equatable, Sendable {
    public var minute: Int
    /// Bit 0 is Monday.
    public var days: UInt8

    static let minutesADay = 1440
    static let everyDay: UInt8 = 0x7F
}

/// What a clock on the wall shows here.
public struct LocalTime: Equatable, Sendable {
    public var secondOfDay: Int
    /// 0 is Monday.
    public var weekday: Int

    public init(secondOfDay: Int, weekday: Int) {
        self.secondOfDay = secondOfDay
        self.weekday = weekday
    }
}

/// When the help point is to call by itself, and the countdown before it. Times of day need a clock that somebody
/// vouches for: it is read now and then, so that one that is set or turned back is followed.
struct AutoCall: Equatable {
    enum Reason: Equatable {
        case start
        case time

        var text: ByteString {
            switch self {
            case .start: return "start"
            case .time: return "time"
            }
        }
    }

    /// What is due.
    enum Event: Equatable {
        case nothing
        /// Tell `clock`.
        case readClock
        /// It calls in a while: tell the person.
        case count(Reason, until: Instant)
        case call(Reason)
        /// There is a call already.
        case skip(Reason)
    }

    private struct Due: Equatable {
        var reason: Reason
        var at: Instant
    }

    private let settings: AutoCallSettings
    private var due: [Due] = []
    private var asksAt: Instant?
    /// The one whose countdown runs.
    private var counted: Due?

    /// Between two looks at the clock.
    static let periodMs = 600_000
    /// While nobody knows the time; and after a call, so that its minute is over.
    static let retryMs = 60_000

    init(_ settings: AutoCallSettings, isStart: Bool, now: Instant) {
        self.settings = settings
        guard settings.isAllowed else { return }
        if isStart, let after = settings.afterMs {
            self.due.append(Due(reason: .start, at: now + .milliseconds(after)))
        }
        if !settings.times.isEmpty { self.asksAt = now }
    }

    var countsUntil: Instant? { self.counted?.at }

    var wakesAt: Instant? {
        if let counted = self.counted { return counted.at }
        let begin = self.due.map { self.countdownBegin($0) }.min()
        guard let asks = self.asksAt else { return begin }
        return begin.map { min($0, asks) } ?? asks
    }

    private func countdownBegin(_ due: Due) -> Instant {
        let ms = UInt64(self.settings.countdownMs) * 1_000_000
        return Instant(nanoseconds: due.at.nanoseconds > ms ? due.at.nanoseconds - ms : 0)
    }

    /// The answer to `readClock`; nil where nobody vouches for the time.
    mutating func clock(_ time: LocalTime?, now: Instant) {
        self.due.removeAll { $0.reason == .time }
        guard let time else {
            self.asksAt = now + .milliseconds(Self.retryMs)
            return
        }
        self.asksAt = now + .milliseconds(Self.periodMs)
        guard let seconds = self.settings.times.compactMap({ $0.seconds(from: time) }).min(),
            seconds * 1000 <= Self.periodMs + self.settings.countdownMs
        else { return }
        self.due.append(Due(reason: .time, at: now + .seconds(seconds)))
        self.asksAt = now + .milliseconds(seconds * 1000 + Self.retryMs)
    }

    /// Somebody pressed a button. Gives whose countdown ran, which is over.
    mutating func cancel() -> Reason? {
        defer { self.counted = nil }
        return self.counted?.reason
    }

    mutating func timePassed(isFree: Bool, now: Instant) -> Event {
        if let counted = self.counted {
            guard now >= counted.at || !isFree else { return .nothing }
            self.counted = nil
            return isFree ? .call(counted.reason) : .skip(counted.reason)
        }
        if let index = self.due.firstIndex(where: { now >= self.countdownBegin($0) }) {
            let due = self.due.remove(at: index)
            guard isFree else { return .skip(due.reason) }
            self.counted = due
            return .count(due.reason, until: due.at)
        }
        if let asks = self.asksAt, now >= asks {
            self.asksAt = now + .milliseconds(Self.retryMs)
            return .readClock
        }
        return .nothing
    }
}

extension DayTime {
    /// From a time of the week until this one comes next; nil where it has no days.
    func seconds(from time: LocalTime) -> Int? {
        let secondsADay = Self.minutesADay * 60
        for ahead in 0...7 where self.days >> UInt8((time.weekday + ahead) % 7) & 1 == 1 {
            let seconds = ahead * secondsADay + self.minute * 60 - time.secondOfDay
            if seconds > 0 { return seconds }
        }
        return nil
    }
}
