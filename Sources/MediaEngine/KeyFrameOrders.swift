// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Turns the peer's requests into orders to our encoder: never two within `keyFrameSpacingMs`, and none lost.
struct KeyFrameOrders {
    private enum State {
        /// No order is open; the last key frame went out then.
        case idle(lastSent: Instant?)
        /// The encoder was told; what it makes answers all requests until it is sent.
        case ordered(at: Instant)
        /// A request came too soon after the last key frame.
        case deferred(until: Instant)
    }

    private static let spacing = Duration.milliseconds(MediaLimits.keyFrameSpacingMs)

    private var state = State.idle(lastSent: nil)

    var deadline: Instant? {
        switch self.state {
        case .idle, .ordered: return nil
        case .deferred(let until): return until
        }
    }

    /// Whether to order a key frame now.
    mutating func request(now: Instant) -> Bool {
        switch self.state {
        case .idle(let lastSent):
            if let lastSent, lastSent + Self.spacing > now {
                self.state = .deferred(until: lastSent + Self.spacing)
                return false
            }
        case .ordered(let at):
            // An order that brought nothing in this time was lost on its way to the encoder.
            if at + Self.spacing > now { return false }
        case .deferred: return false
        }
        self.state = .ordered(at: now)
        return true
    }

    /// Our key frame went out: whoever asked before has what it asked for.
    mutating func keyFrameSent(now: Instant) {
        self.state = .idle(lastSent: now)
    }

    /// Whether to order now what was put off.
    mutating func expire(now: Instant) -> Bool {
        guard case .deferred(let until) = self.state, until <= now else { return false }
        self.state = .ordered(at: now)
        return true
    }
}
