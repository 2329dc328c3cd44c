// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// The only reader of the clocks.
public enum Clock {
    /// CLOCK_MONOTONIC: never steps, so every timer of the product hangs on it.
    public static func now() -> Instant {
        Instant(nanoseconds: self.read(CLOCK_MONOTONIC))
    }

    /// The NTP time (32.32 fixed point, RFC 3550 section 4) that belongs to `Instant.zero`.
    public static func ntpAtZero() -> UInt64 {
        let sinceEpoch = self.read(CLOCK_REALTIME) &- self.read(CLOCK_MONOTONIC)
        let ntpEpochOffsetSeconds: UInt64 = 2_208_988_800
        let seconds = sinceEpoch / 1_000_000_000 &+ ntpEpochOffsetSeconds
        let fraction = ((sinceEpoch % 1_000_000_000) << 32) / 1_000_000_000
        return (seconds << 32) | fraction
    }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
