// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// What keeps the flow of a registration open: RFC 5626 section 4.4.
struct KeepAliveNeed: Equatable {
    var isStream: Bool
    /// How long the first hop says that it keeps an idle flow.
    var flowTimerSeconds: Int?
    /// The peer said that it knows of keep-alives, so that a ping without a pong means that it is gone. Many that say
    /// nothing take the ping for noise.
    var isAnswered: Bool

    /// The shortest and the longest time between two pings.
    var intervalMs: ClosedRange<Int> {
        if let seconds = self.flowTimerSeconds {
            let wholeMs = max(seconds, Limits.flowTimerSecondsMin) * 1_000
            return wholeMs * 8 / 10...wholeMs
        }
        return self.isStream ? Limits.streamPingMs : Limits.datagramPingMs
    }
}

/// The pings of one flow.
struct KeepAliveMachine {
    enum State: Hashable {
        /// Timer `ping` runs until the next one.
        case quiet
        /// A ping is out. Timer `pong` runs until its answer is too late.
        case waiting
        /// The peer is gone: the entry is to be thrown away.
        case failed
    }

    private(set) var state: State
    private(set) var timers = TimerTable()

    init(state: State = .quiet) {
        self.state = state
    }

    /// One timer that is due; nil when none is left.
    mutating func expire(now: Instant) -> SIPTimer? {
        self.timers.expire(now: now)
    }

    mutating func start(intervalMs: Int, now: Instant) {
        self.timers.set(.ping, afterMs: intervalMs, now: now)
    }

    enum OnTimer: Equatable {
        case ping
        case fail
        case doNothing
    }

    /// - Parameter intervalMs: until the next ping, where no pong is waited for.
    mutating func fired(_ timer: SIPTimer, isAnswered: Bool, intervalMs: Int, now: Instant) -> OnTimer {
        switch (self.state, timer) {
        case (.quiet, .ping):
            if isAnswered {
                self.state = .waiting
                self.timers.set(.pong, afterMs: Limits.pongMs, now: now)
            } else {
                self.timers.set(.ping, afterMs: intervalMs, now: now)
            }
            return .ping
        case (.waiting, .pong):
            self.state = .failed
            return .fail
        case (.quiet, _), (.waiting, _), (.failed, _): return .doNothing
        }
    }

    /// Something came from the peer.
    mutating func heard(intervalMs: Int, now: Instant) {
        switch self.state {
        case .waiting:
            self.state = .quiet
            self.timers.stop(.pong)
            self.timers.set(.ping, afterMs: intervalMs, now: now)
        case .quiet, .failed: break
        }
    }
}

/// One flow that carries registrations, however many.
struct KeepAliveEntry {
    let flow: Flow
    var need: KeepAliveNeed
    /// A pong came once, so that the next one may be waited for.
    var hasAnswered = false
    var machine = KeepAliveMachine()

    var isAnswered: Bool { self.need.isStream && (self.need.isAnswered || self.hasAnswered) }
}

extension SIPEngine {
    /// Begins and ends keep-alives as registrations come and go. At the end of an input.
    mutating func tendKeepAlives(now: Instant) {
        self.keepAlives.removeAll { entry in
            entry.machine.state == .failed
                || !self.registrations.contains { $0.keepAlive != nil && $0.request.flow == entry.flow }
        }
        for registration in self.registrations {
            guard let need = registration.keepAlive else { continue }
            let flow = registration.request.flow
            if let index = self.keepAlives.firstIndex(where: { $0.flow == flow }) {
                self.keepAlives[index].need = need
            } else {
                var entry = KeepAliveEntry(flow: flow, need: need)
                entry.machine.start(intervalMs: self.pingMs(need), now: now)
                self.keepAlives.append(entry)
            }
        }
    }

    private mutating func pingMs(_ need: KeepAliveNeed) -> Int {
        let range = need.intervalMs
        return range.lowerBound + Int(self.random(below: UInt64(range.upperBound - range.lowerBound) + 1))
    }

    mutating func keepAliveFired(_ timer: SIPTimer, at index: Int, now: Instant) {
        let intervalMs = self.pingMs(self.keepAlives[index].need)
        let entry = self.keepAlives[index]
        let action = self.keepAlives[index].machine.fired(
            timer, isAnswered: entry.isAnswered, intervalMs: intervalMs, now: now)
        switch action {
        case .ping:
            self.put(.send(SIPStreamFramer.ping, on: entry.flow))
            if let stream = self.streams.firstIndex(where: { $0.flow == entry.flow }) {
                self.streams[stream].framer.pingSent()
            }
        case .fail:
            self.counters.add(.pingUnanswered)
            self.close(entry.flow)
            self.flowFailed(entry.flow, now: now)
        case .doNothing: break
        }
    }

    /// Bytes came on a stream: whatever they are, the peer is there.
    mutating func heard(on flow: Flow, now: Instant) {
        guard let index = self.keepAlives.firstIndex(where: { $0.flow == flow }) else { return }
        let intervalMs = self.pingMs(self.keepAlives[index].need)
        self.keepAlives[index].machine.heard(intervalMs: intervalMs, now: now)
    }

    mutating func receivedPong(on flow: Flow) {
        guard let index = self.keepAlives.firstIndex(where: { $0.flow == flow }) else { return }
        self.keepAlives[index].hasAnswered = true
    }
}
