// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Calls from outside.
extension KioskMachine {
    enum OnIncoming: Equatable {
        /// Let it ring, if its media fit: then tell `alerted`. Either the person decides, or it is answered by itself
        /// once it was heard and seen here.
        case alert(isAnswered: Bool)
        /// It takes the place of the call at hand. Answer, if its media fit: then tell `replaced`.
        case replace
        case refuse(StatusCode)
    }

    /// Decides; the state stays. `treatment` is what the file says of this caller.
    func incoming(_ treatment: CallSettings.Incoming, replaces former: CallHandle?) -> OnIncoming {
        if let former { return self.replacing(former) }
        switch self.state {
        case .idle, .outcome:
            switch treatment {
            case .refuse: return .refuse(.temporarilyUnavailable)
            case .ring: return .alert(isAnswered: false)
            case .answer: return .alert(isAnswered: true)
            }
        case .lookingUp, .calling, .ringing, .early, .alerting, .connected, .ending:
            switch treatment {
            case .refuse: return .refuse(.temporarilyUnavailable)
            case .ring, .answer: return .refuse(.busyHere)
            }
        case .stopping:
            return .refuse(.temporarilyUnavailable)
        }
    }

    /// Only the call at hand can be replaced; another one of ours is over (RFC 3891 section 3).
    private func replacing(_ former: CallHandle) -> OnIncoming {
        switch self.state {
        case .calling, .ringing, .early, .connected:
            return self.state.handle == former ? .replace : .refuse(.decline)
        case .idle, .lookingUp, .alerting, .ending, .outcome, .stopping:
            return .refuse(.decline)
        }
    }

    enum OnAlerted: Equatable {
        /// Tell the caller that it rings here.
        case tell
        case ignore
    }

    mutating func alerted(
        _ handle: CallHandle, _ facts: CallFacts, isAnswered: Bool, now: Instant
    ) -> OnAlerted {
        switch self.state {
        case .idle, .outcome:
            var state = KioskState.Alerting(facts: facts, handle: handle, deadline: now + self.ringTimeout)
            if isAnswered { state.answersAt = now + .milliseconds(KioskTimes.announcedMs) }
            self.move(to: .alerting(state))
            return .tell
        case .lookingUp, .calling, .ringing, .early, .alerting, .connected, .ending, .stopping:
            return .ignore
        }
    }

    enum OnPickUp: Equatable {
        /// Answer the call that alerts, if its media fit: then tell `accepted`.
        case answer(CallHandle)
        case ignore
    }

    /// The person answers; the state stays.
    func pickUp() -> OnPickUp {
        switch self.state {
        case .alerting(let state): return .answer(state.handle)
        case .idle, .lookingUp, .calling, .ringing, .early, .connected, .ending, .outcome, .stopping: return .ignore
        }
    }

    enum OnAccepted: Equatable {
        case startMedia(Wishes)
        case ignore
    }

    /// The 200 to the call that alerts is on its way.
    mutating func accepted(_ handle: CallHandle, _ shape: MediaShape, now: Instant) -> OnAccepted {
        switch self.state {
        case .alerting(let state):
            guard state.handle == handle else { return .ignore }
            self.move(to: .connected(self.connected(state.facts, handle, shape, now: now)))
            return .startMedia(state.facts.wishes)
        case .idle, .lookingUp, .calling, .ringing, .early, .connected, .ending, .outcome, .stopping:
            return .ignore
        }
    }

    enum OnReplaced: Equatable {
        /// The media of the former call end, these begin.
        /// Whoever was to take over otherwise is no longer wanted.
        case startMedia(Wishes, dropping: CallHandle?)
        case ignore
    }

    /// The 200 to a call that takes the place of the one at hand is on its way: for the person here the call goes on.
    mutating func replaced(
        by handle: CallHandle, _ facts: CallFacts, _ shape: MediaShape, now: Instant
    ) -> OnReplaced {
        guard var kept = self.state.facts else { return .ignore }
        kept.peer = facts.peer
        kept.name = facts.name
        let dropped = self.state.transferHandle
        switch self.state {
        case .calling, .ringing, .early:
            self.move(to: .connected(self.connected(kept, handle, shape, now: now)))
        case .connected(let former):
            var state = self.connected(kept, handle, shape, now: now)
            state.answered = former.answered
            self.move(to: .connected(state))
        case .idle, .lookingUp, .alerting, .ending, .outcome, .stopping:
            return .ignore
        }
        return .startMedia(kept.wishes, dropping: dropped)
    }
}
