// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The time of day, for the dates of certificates and nothing else: every timer hangs on the monotonic clock.
///
/// A board without a battery wakes in 1970. It is never earlier than when this program was built, nor than what was
/// saved by a former run; from that floor on, the monotonic clock counts. All in seconds since 1970.
public struct WallClock {
    /// A saved time that is further ahead is a mistake, or a trick: nobody may lock the help point out for ever.
    static let aheadMax: Int64 = 20 * 365 * 24 * 3600

    /// What the system says the time is.
    private let system: () -> Int64
    private let isSet: () -> Bool
    private let floor: Int64
    private let start: Instant

    /// `isSet` says whether somebody (NTP) vouches for the system's clock.
    public init(
        system: @escaping () -> Int64, isSet: @escaping () -> Bool, built: Int64, saved: Int64?, now: Instant
    ) {
        self.system = system
        self.isSet = isSet
        let saved = saved.map { $0 <= built + Self.aheadMax ? $0 : built } ?? built
        self.floor = max(built, saved)
        self.start = now
    }

    public func time(_ now: Instant) -> Int64 {
        let seconds = (now - self.start).nanoseconds / 1_000_000_000
        return max(self.system(), self.floor + seconds)
    }

    /// Whether a certificate that is not valid yet may be so because we do not know the time.
    public var isTimeKnown: Bool { self.isSet() && self.system() >= self.floor }

    /// What a later run may rely on: nil while nobody vouches for the clock.
    public var timeToSave: Int64? { self.isTimeKnown ? self.system() : nil }
}
