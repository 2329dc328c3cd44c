// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Asks the peer for a key frame until one is decoded, ever less often, and keeps pictures back meanwhile.
struct KeyFrameRequester {
    private enum State {
        /// Nothing is received.
        case off
        /// Pictures are held; the next request goes out at `nextAt`.
        case asking(nextAt: Instant, interval: Duration)
        /// A key frame is with the decoder; unless it becomes a picture, asking begins again at `nextAt`.
        case delivered(nextAt: Instant)
        /// Pictures flow.
        case satisfied
    }

    private static let first = Duration.milliseconds(MediaLimits.pictureLossFirstMs)
    private static let last = Duration.milliseconds(MediaLimits.pictureLossLastMs)

    private var state = State.off
    private var askedAt: Instant?

    /// Whether pictures that are not key frames may go to the decoder.
    var isOpen: Bool {
        switch self.state {
        case .off, .asking: return false
        case .delivered, .satisfied: return true
        }
    }

    /// When `expire` may ask.
    var deadline: Instant? {
        switch self.state {
        case .off, .satisfied: return nil
        case .asking(let nextAt, _), .delivered(let nextAt): return nextAt
        }
    }

    /// What comes is of no use without a key frame: ask, first after `grace`, then more and more slowly.
    mutating func need(after grace: Duration = .zero, now: Instant) {
        switch self.state {
        case .asking: break
        case .off, .delivered, .satisfied:
            let soonest = self.askedAt.map { $0 + Self.first } ?? now
            self.state = .asking(nextAt: max(now + grace, soonest), interval: Self.first)
        }
    }

    /// The decoder failed. While it still owes a picture of a key frame, this is news of something older, or else the
    /// key frame is asked for again when its time is over.
    mutating func broken(now: Instant) {
        switch self.state {
        case .off, .asking, .delivered: break
        case .satisfied: self.need(now: now)
        }
    }

    mutating func stop() {
        self.state = .off
    }

    mutating func keyFrameDelivered(now: Instant) {
        switch self.state {
        case .off, .satisfied: break
        case .asking, .delivered:
            self.state = .delivered(nextAt: now + Duration.milliseconds(MediaLimits.decodeGraceMs))
        }
    }

    /// A picture came out of the key frame. While asking this is news of an older one, before the loss.
    mutating func keyFrameDecoded() {
        switch self.state {
        case .delivered: self.state = .satisfied
        case .off, .asking, .satisfied: break
        }
    }

    /// Whether a request goes out now.
    mutating func expire(now: Instant) -> Bool {
        guard let deadline = self.deadline, deadline <= now else { return false }
        self.askedAt = now
        switch self.state {
        case .off, .satisfied: return false
        case .asking(_, let interval):
            self.state = .asking(nextAt: now + interval, interval: min(interval * 2, Self.last))
        case .delivered:
            // The gate stays open: the decoder may only be slow to report.
            self.state = .delivered(nextAt: now + Self.last)
        }
        return true
    }
}
