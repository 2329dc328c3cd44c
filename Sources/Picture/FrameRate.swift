// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Frames a second, as a fraction.
public struct FrameRate: Equatable, Sendable {
    public let numerator: Int
    public let denominator: Int

    /// Both at least 1 and at most a million, which holds every camera's rate.
    public init(_ numerator: Int, over denominator: Int = 1) {
        self.numerator = min(max(numerator, 1), 1_000_000)
        self.denominator = min(max(denominator, 1), 1_000_000)
    }

    /// Rounded up; at most 240, more than any camera or display does.
    public var framesPerSecond: Int {
        min((self.numerator + self.denominator - 1) / self.denominator, 240)
    }

    /// From one frame to the next.
    public var interval: Duration {
        Duration(nanoseconds: 1_000_000_000 * Int64(self.denominator) / Int64(self.numerator))
    }

    /// In thousandths of a frame a second, which fits 32 bits.
    var milliHertz: Int { self.numerator * 1000 / self.denominator }
}

/// Lets through as many pictures as a rate allows, from a source that may be faster. Pure.
struct FramePacer {
    private let interval: Duration
    /// When the picture before was taken, and when the next is due.
    private var beat: (previous: Instant, due: Instant)?

    init(rate: FrameRate) {
        self.interval = rate.interval
    }

    /// Whether the picture taken at `captured` goes through.
    mutating func admits(_ captured: Instant) -> Bool {
        guard let beat = self.beat, captured > beat.previous, captured + self.interval * 4 > beat.due else {
            self.beat = (captured, captured + self.interval)
            return true
        }
        self.beat?.previous = captured
        // Cameras are never quite as fast as they say: a tenth above the rate is let through, because a picture left
        // out now and then would be seen.
        if (captured - beat.previous).nanoseconds >= self.interval.nanoseconds / 10 * 9 {
            self.beat?.due = captured + self.interval
            return true
        }
        // Early by half an interval is in time, so that an unsteady camera of the same rate loses nothing.
        guard captured + Duration(nanoseconds: self.interval.nanoseconds / 2) >= beat.due else { return false }
        self.beat?.due = beat.due + self.interval
        return true
    }
}
