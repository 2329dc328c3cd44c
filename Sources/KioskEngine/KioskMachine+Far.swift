// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine

/// What the far end does to the kiosk's call until it has answered, and who it says it is.
extension KioskMachine {
    // MARK: - Before the answer

    /// A provisional answer.
    enum Progress: Equatable {
        /// The next hop has the INVITE.
        case trying
        case ringing
        case forwarded
        case queued
        /// Media come before the answer.
        case media
    }

    enum OnProgress: Equatable {
        case startMedia
        /// Media run already: the far end changed them.
        case updateMedia
        /// The state changed; there is nothing else to do.
        case tell
        case ignore
    }

    mutating func progressed(_ handle: CallHandle, _ progress: Progress, now: Instant) -> OnProgress {
        guard self.state.handle == handle else {
            self.otherProgressed(handle, progress)
            self.transferProgressed(handle, progress, now: now)
            return .ignore
        }
        switch self.state {
        case .calling(let state):
            return self.progressed(state, progress, isRinging: false, now: now)
        case .ringing(let state):
            return self.progressed(state, progress, isRinging: true, now: now)
        case .early(var state):
            switch progress {
            case .trying, .forwarded, .queued: return .ignore
            case .media: return .updateMedia
            case .ringing:
                state.hasRung = true
                self.move(to: .early(state))
                return .ignore
            }
        case .idle, .lookingUp, .alerting, .connected, .ending, .outcome, .stopping:
            return .ignore
        }
    }

    private mutating func progressed(
        _ state: KioskState.Outgoing, _ progress: Progress, isRinging: Bool, now: Instant
    ) -> OnProgress {
        var state = state
        let deadline = state.deadline ?? now + (state.facts.plan.ringTimeout ?? self.ringTimeout)
        state.deadline = deadline
        state.wayDeadline = nil
        switch progress {
        case .trying:
            self.move(to: isRinging ? .ringing(state) : .calling(state))
            return .ignore
        case .ringing: return self.moved(to: .ringing, state, isRinging: isRinging)
        case .forwarded: return self.moved(to: .forwarded, state, isRinging: isRinging)
        case .queued: return self.moved(to: .queued, state, isRinging: isRinging)
        case .media:
            let early = KioskState.Early(
                facts: state.facts, targets: state.targets, handle: state.handle, deadline: deadline,
                hasRung: isRinging && state.stage == .ringing, others: state.others)
            self.move(to: .early(early))
            return .startMedia
        }
    }

    private mutating func moved(
        to stage: KioskState.Outgoing.Stage, _ state: KioskState.Outgoing, isRinging: Bool
    ) -> OnProgress {
        let isNews = !isRinging || state.stage != stage
        var state = state
        state.stage = stage
        self.move(to: .ringing(state))
        return isNews ? .tell : .ignore
    }

    // MARK: - The answer

    enum OnAnswer: Equatable {
        case startMedia(Wishes)
        /// Early media run already, and may have been heard.
        case updateMedia(Wishes, isHeard: Bool)
        /// Whoever we were handed over to is there: its media take the place of the former far end's, which is to be
        /// told goodbye.
        case switchMedia(Wishes, from: CallHandle)
        case ignore
    }

    mutating func answered(_ handle: CallHandle, _ shape: MediaShape, now: Instant) -> OnAnswer {
        guard self.state.handle == handle else { return self.transferAnswered(handle, shape, now: now) }
        switch self.state {
        case .calling(let state), .ringing(let state):
            let connected = self.connected(state.facts, handle, shape, now: now)
            self.move(to: .connected(connected))
            return .startMedia(connected.wishes)
        case .early(let state):
            // What early media told once is not told again.
            var connected = self.connected(state.facts, handle, shape, now: now)
            if state.hasSound { connected.audio = .hearing }
            connected.hasFirstSound = state.hasFirstSound
            self.move(to: .connected(connected))
            return .updateMedia(connected.wishes, isHeard: state.hasFirstSound)
        case .idle, .lookingUp, .alerting, .connected, .ending, .outcome, .stopping:
            return .ignore
        }
    }

    func connected(
        _ facts: CallFacts, _ handle: CallHandle, _ shape: MediaShape, now: Instant
    ) -> KioskState.Connected {
        var facts = facts
        facts.isHandedOver = false
        let confirmTimeout = facts.plan.order?.confirmTimeout
        if confirmTimeout == nil { facts.plan = CallPlan() }
        var state = KioskState.Connected(
            facts: facts, handle: handle, answered: now, shape: shape, patience: self.mediaTimeout)
        state.confirmBy = confirmTimeout.map { now + $0 }
        state.limit = self.maxDuration
        return state
    }

    /// Who the far end says it is. True where the person at the panel is told something new.
    mutating func identified(_ handle: CallHandle, _ name: ByteString) -> Bool {
        switch self.state {
        case .calling(var state):
            guard state.handle == handle, state.facts.name != name else { return false }
            state.facts.name = name
            self.move(to: .calling(state))
        case .ringing(var state):
            guard state.handle == handle, state.facts.name != name else { return false }
            state.facts.name = name
            self.move(to: .ringing(state))
        case .early(var state):
            guard state.handle == handle, state.facts.name != name else { return false }
            state.facts.name = name
            self.move(to: .early(state))
        case .alerting(var state):
            guard state.handle == handle, state.facts.name != name else { return false }
            state.facts.name = name
            self.move(to: .alerting(state))
        case .connected(var state):
            guard state.handle == handle, state.facts.name != name else { return false }
            state.facts.name = name
            self.move(to: .connected(state))
        case .idle, .lookingUp, .ending, .outcome, .stopping:
            return false
        }
        return true
    }
}
