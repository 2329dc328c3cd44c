// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// Sends key presses as telephone events (RFC 4733 section 2.5.1): updates every 20 ms, three closing packets, then a
/// pause, whatever the packet time of the sound.
struct DigitSender {
    private enum State {
        case idle
        /// The key is down. All packets carry the timestamp of its start.
        case pressed(Press, nextAt: Instant)
        /// Closing packets go out.
        case closing(Press, left: Int, nextAt: Instant)
        case pausing(until: Instant)
    }

    private struct Press {
        var event: UInt8
        var length: Duration
        var started: Instant
    }

    /// What to send.
    struct Packet {
        var payload: TelephoneEvent
        /// When the event began: its RTP timestamp.
        var started: Instant
        var marker: Bool
    }

    private static let volume: UInt8 = 10

    private let rate: UInt32
    private var state = State.idle
    private var queue = BoundedQueue<(event: UInt8, length: Duration)>(capacity: MediaLimits.digitsQueuedMax)

    init(rate: UInt32) {
        self.rate = rate
    }

    /// Sound is left out while a key is down.
    var isBusy: Bool {
        switch self.state {
        case .idle, .pausing: return false
        case .pressed, .closing: return true
        }
    }

    var deadline: Instant? {
        switch self.state {
        case .idle: return nil
        case .pressed(_, let nextAt), .closing(_, _, let nextAt): return nextAt
        case .pausing(let until): return until
        }
    }

    mutating func push(key: UInt8, durationMs: Int, now: Instant) {
        guard let event = TelephoneEvent.event(ofKey: key) else { return }
        let bounded = min(MediaLimits.digitMsMax, max(MediaLimits.digitMsMin, durationMs))
        self.queue.push((event, Duration.milliseconds(bounded)))
        if case .idle = self.state { self.begin(now: now) }
    }

    private mutating func begin(now: Instant) {
        guard let next = self.queue.pop() else {
            self.state = .idle
            return
        }
        let press = Press(event: next.event, length: next.length, started: now)
        self.state = .pressed(press, nextAt: now)
    }

    /// The packet that is due, if any. Ask again until there is none.
    mutating func expire(now: Instant) -> Packet? {
        guard let deadline = self.deadline, deadline <= now else { return nil }
        switch self.state {
        case .idle: return nil
        case .pressed(let press, _): return self.update(press, now: now)
        case .closing(let press, let left, _): return self.close(press, left: left, now: now)
        case .pausing:
            self.begin(now: now)
            return self.expire(now: now)
        }
    }

    private mutating func update(_ press: Press, now: Instant) -> Packet {
        let elapsed = now - press.started
        guard elapsed < press.length else {
            return self.close(press, left: MediaLimits.digitEndPackets, now: now)
        }
        let step = Duration.milliseconds(MediaLimits.digitUpdateMs)
        self.state = .pressed(press, nextAt: now + min(step, press.length - elapsed))
        // The first packet says a little more than has passed: some servers take a duration of zero for an error.
        let said = max(elapsed, Duration.milliseconds(MediaLimits.digitEndSpacingMs))
        return self.packet(press, duration: said, isEnd: false, marker: elapsed == .zero)
    }

    private mutating func close(_ press: Press, left: Int, now: Instant) -> Packet {
        if left > 1 {
            let next = now + Duration.milliseconds(MediaLimits.digitEndSpacingMs)
            self.state = .closing(press, left: left - 1, nextAt: next)
        } else {
            self.state = .pausing(until: now + Duration.milliseconds(MediaLimits.digitPauseMs))
        }
        return self.packet(press, duration: press.length, isEnd: true, marker: false)
    }

    private func packet(_ press: Press, duration: Duration, isEnd: Bool, marker: Bool) -> Packet {
        let units = min(MediaClock.units(duration, rate: self.rate), UInt32(UInt16.max))
        let event = TelephoneEvent(event: press.event, isEnd: isEnd, volume: Self.volume, duration: UInt16(units))
        return Packet(payload: event, started: press.started, marker: marker)
    }
}
