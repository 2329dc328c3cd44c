// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// Conversions between nanoseconds and RTP clocks.
enum MediaClock {
    static let videoRate: UInt32 = 90_000

    /// Clock units in `nanoseconds`, wrapping as timestamps do.
    static func units(nanoseconds: UInt64, rate: UInt32) -> UInt32 {
        let seconds = nanoseconds / 1_000_000_000
        let rest = nanoseconds % 1_000_000_000
        let units = seconds &* UInt64(rate) &+ rest * UInt64(rate) / 1_000_000_000
        return UInt32(truncatingIfNeeded: units)
    }

    /// The same for a span that may be negative.
    static func units(_ span: Duration, rate: UInt32) -> UInt32 {
        let magnitude = self.units(nanoseconds: span.nanoseconds.magnitude, rate: rate)
        return span.nanoseconds < 0 ? 0 &- magnitude : magnitude
    }

    /// Of two deadlines the earlier; nil is never.
    static func earlier(_ left: Instant?, _ right: Instant?) -> Instant? {
        guard let left else { return right }
        guard let right else { return left }
        return min(left, right)
    }
}
