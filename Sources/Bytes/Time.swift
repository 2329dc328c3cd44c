// SPDX-License-Identifier: Apache-2.0

/// A point on the monotonic clock, in nanoseconds since an arbitrary start (CLOCK_MONOTONIC on the boards).
public struct Instant: Hashable, Comparable, Sendable {
    public var nanoseconds: UInt64

    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    public static let zero = Instant(nanoseconds: 0)

    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Later by `duration`; stays at the end of time rather than wrap.
    public static func + (left: Instant, right: Duration) -> Instant {
        if right.nanoseconds >= 0 {
            let (sum, overflowed) = left.nanoseconds.addingReportingOverflow(UInt64(right.nanoseconds))
            return Instant(nanoseconds: overflowed ? UInt64.max : sum)
        }
        let back = right.nanoseconds.magnitude
        return Instant(nanoseconds: left.nanoseconds > back ? left.nanoseconds - back : 0)
    }

    /// The time from `right` to `left`, negative when `left` is earlier; the longest there is rather than wrap.
    public static func - (left: Instant, right: Instant) -> Duration {
        left < right
            ? Duration(nanoseconds: 0 - Int64(clamping: right.nanoseconds - left.nanoseconds))
            : Duration(nanoseconds: Int64(clamping: left.nanoseconds - right.nanoseconds))
    }
}

/// A length of time, in nanoseconds, signed.
public struct Duration: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    public static let zero = Duration(nanoseconds: 0)

    public static func milliseconds(_ value: Int) -> Duration {
        Duration(nanoseconds: Int64(clamping: value).multipliedClamping(by: 1_000_000))
    }

    public static func seconds(_ value: Int) -> Duration {
        Duration(nanoseconds: Int64(clamping: value).multipliedClamping(by: 1_000_000_000))
    }

    /// Whole milliseconds, rounded toward zero.
    public var milliseconds: Int { Int(clamping: self.nanoseconds / 1_000_000) }

    public static func < (left: Duration, right: Duration) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    public static func + (left: Duration, right: Duration) -> Duration {
        let (sum, overflowed) = left.nanoseconds.addingReportingOverflow(right.nanoseconds)
        return overflowed ? Duration(nanoseconds: left.nanoseconds < 0 ? .min : .max) : Duration(nanoseconds: sum)
    }

    public static func - (left: Duration, right: Duration) -> Duration {
        let (difference, overflowed) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        return overflowed
            ? Duration(nanoseconds: left.nanoseconds < 0 ? .min : .max) : Duration(nanoseconds: difference)
    }

    public static func * (left: Duration, right: Int) -> Duration {
        Duration(nanoseconds: left.nanoseconds.multipliedClamping(by: Int64(clamping: right)))
    }
}

extension Int64 {
    fileprivate func multipliedClamping(by other: Int64) -> Int64 {
        let (product, overflowed) = self.multipliedReportingOverflow(by: other)
        return overflowed ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
