// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine

/// How the kiosk's call is ended from this side of the line: the person hangs up, or the program must go.
extension KioskMachine {
    // MARK: - Hang up

    enum OnHangUp: Equatable {
        /// Tell the far end, and whoever it is handing us over to: CANCEL or BYE, as SIP's state asks. The end of the
        /// first comes with `ended`, or a little later anyway.
        case hangUp([CallHandle], EndedCall)
        /// A call from outside is not wanted.
        case decline(CallHandle, EndedCall)
        /// Nobody needs to be told.
        case finish(EndedCall)
        /// An outcome was on the screen.
        case dismiss
        case doNothing
    }

    mutating func hangUp(now: Instant) -> OnHangUp {
        switch self.state {
        case .lookingUp(let state):
            self.move(to: .idle)
            return .finish(EndedCall(facts: state.facts, outcome: .cancelled, ended: now))
        case .calling(let state), .ringing(let state):
            return self.hangUp(state.handle, state.facts, .cancelled, answered: nil, now: now)
        case .early(let state):
            return self.hangUp(state.handle, state.facts, .cancelled, answered: nil, now: now)
        case .alerting(let state):
            return .decline(state.handle, self.show(.declined, facts: state.facts, answered: nil, now: now))
        case .connected(let state):
            if state.confirmBy != nil {
                return self.hangUp(state.handle, state.facts, .cancelled, answered: nil, now: now)
            }
            return self.hangUp(
                state.handle, state.facts, .hungUp, answered: state.answered, also: state.transfer?.handle, now: now)
        case .outcome:
            self.move(to: .idle)
            return .dismiss
        case .idle, .ending, .stopping:
            return .doNothing
        }
    }

    private mutating func hangUp(
        _ handle: CallHandle, _ facts: CallFacts, _ outcome: CallOutcome, answered: Instant?,
        also other: CallHandle? = nil, now: Instant
    ) -> OnHangUp {
        let ended = EndedCall(facts: facts, outcome: outcome, answered: answered, ended: now)
        let deadline = now + .milliseconds(KioskTimes.endingMs)
        self.move(to: .ending(KioskState.Ending(ended: ended, handle: handle, deadline: deadline)))
        return .hangUp([handle] + (other.map { [$0] } ?? []), ended)
    }

    // MARK: - Terminate

    enum OnTerminate: Equatable {
        /// Nobody needs to be told. A call that was being made or ended is ended now.
        case exit(EndedCall?)
        /// Tell the far end, and whoever it is handing us over to, then wait for `ended` or the alarm.
        case hangUp([CallHandle], EndedCall)
        /// Refuse the call from outside, then leave: whoever placed it needs no more from us.
        case declineAndExit(CallHandle, EndedCall)
        /// The far end has been told; wait on.
        case wait
    }

    mutating func terminate(now: Instant) -> OnTerminate {
        switch self.state {
        case .idle, .outcome:
            return .exit(nil)
        case .lookingUp(let state):
            self.move(to: .idle)
            return .exit(EndedCall(facts: state.facts, outcome: .stopped, ended: now))
        case .alerting(let state):
            self.move(to: .idle)
            return .declineAndExit(state.handle, EndedCall(facts: state.facts, outcome: .stopped, ended: now))
        case .calling(let state), .ringing(let state):
            return self.stop(state.handle, state.facts, answered: nil, now: now)
        case .early(let state):
            return self.stop(state.handle, state.facts, answered: nil, now: now)
        case .connected(let state):
            return self.stop(
                state.handle, state.facts, answered: state.answered, also: state.transfer?.handle, now: now)
        case .ending(let state):
            self.move(
                to: .stopping(
                    KioskState.Stopping(
                        ended: state.ended, handle: state.handle, deadline: self.stopDeadline(now))))
            return .wait
        case .stopping:
            return .wait
        }
    }

    private mutating func stop(
        _ handle: CallHandle, _ facts: CallFacts, answered: Instant?, also other: CallHandle? = nil, now: Instant
    ) -> OnTerminate {
        let ended = EndedCall(facts: facts, outcome: .stopped, answered: answered, ended: now)
        self.move(to: .stopping(KioskState.Stopping(ended: ended, handle: handle, deadline: self.stopDeadline(now))))
        return .hangUp([handle] + (other.map { [$0] } ?? []), ended)
    }

    private func stopDeadline(_ now: Instant) -> Instant {
        now + .milliseconds(KioskTimes.stopMs)
    }
}
