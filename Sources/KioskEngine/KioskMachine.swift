// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// The behaviour of the kiosk's one call: what each input does in each state. Knows nothing of SDP, screens or sockets;
/// the engine around it carries out the action that each function returns. This file: what comes from this side of the
/// line; `KioskMachine+Far.swift`: what comes from the other.
struct KioskMachine {
    private(set) var state = KioskState.idle
    private var resolutionNext: UInt64 = 1
    /// Of calls that begin from now on.
    var ringTimeout: Duration
    var mediaTimeout: Duration
    /// Nil for as long as it likes.
    var maxDuration: Duration?

    init(ringTimeout: Duration, mediaTimeout: Duration) {
        self.ringTimeout = ringTimeout
        self.mediaTimeout = mediaTimeout
    }

    #if DEBUG
        /// For tests of single cells.
        init(state: KioskState, ringTimeout: Duration, mediaTimeout: Duration) {
            self.init(ringTimeout: ringTimeout, mediaTimeout: mediaTimeout)
            self.state = state
        }
    #endif

    mutating func move(to state: KioskState) {
        self.state = state
    }

    // MARK: - Dial

    enum OnDial: Equatable {
        /// Find the ways to these, which are called at the same time. A call that was still ending is ended now.
        case lookUp([Question], finishing: EndedCall?)
        /// There is a call already.
        case refuse
    }

    /// - Parameter order: names somebody.
    mutating func dial(_ order: CallOrder, now: Instant) -> OnDial {
        switch self.state {
        case .idle, .outcome:
            return .lookUp(self.begin(order, now: now), finishing: nil)
        case .ending(let state):
            return .lookUp(self.begin(order, now: now), finishing: state.ended)
        case .lookingUp, .calling, .ringing, .early, .alerting, .connected, .stopping:
            return .refuse
        }
    }

    private mutating func begin(_ order: CallOrder, now: Instant) -> [Question] {
        guard let first = order.steps.first else { preconditionFailure("whoever is dialled is named") }
        var facts = CallFacts(direction: .outgoing, peer: ByteString(), began: now)
        facts.plan = CallPlan(order)
        switch order.start {
        case .normal, .audio: break
        case .muted: facts.wishes.isMuted = true
        case .noVideo: facts.wishes.isVideoOff = true
        }
        return self.begin(first, facts, now: now)
    }

    /// A new search for the ways to the current target of the one that leads.
    mutating func lookingUp(
        _ facts: CallFacts, _ targets: Targets, ringDeadline: Instant?, now: Instant
    ) -> KioskState.LookingUp {
        KioskState.LookingUp(
            facts: facts, targets: targets, resolution: self.newResolution(),
            deadline: now + .milliseconds(KioskTimes.lookUpMs), ringDeadline: ringDeadline,
            others: self.state.others)
    }

    /// Goes on with the next target of this press; nil where none is left.
    mutating func tryNext(
        _ facts: CallFacts, _ targets: Targets, ringDeadline: Instant?, now: Instant
    ) -> Question? {
        var targets = targets
        guard targets.next() else { return nil }
        let state = self.lookingUp(facts, targets, ringDeadline: ringDeadline, now: now)
        self.state = .lookingUp(state)
        return Question(id: state.resolution, uri: targets.current)
    }

    /// Goes on with the next way to the current target, and gives the name under which it counts as found; nil where
    /// none is left.
    mutating func tryNextWay(
        _ facts: CallFacts, _ targets: Targets, ringDeadline: Instant?, now: Instant
    ) -> ResolutionID? {
        var targets = targets
        guard targets.nextWay() else { return nil }
        let state = self.lookingUp(facts, targets, ringDeadline: ringDeadline, now: now)
        self.state = .lookingUp(state)
        return state.resolution
    }

    /// The name of a search for the ways to a URI, never given before.
    mutating func newResolution() -> ResolutionID {
        defer { self.resolutionNext &+= 1 }
        return ResolutionID(self.resolutionNext)
    }

    enum OnNoAddress: Equatable {
        /// Tell the person that the kiosk cannot call.
        case show(EndedCall)
        case doNothing
    }

    /// The call button was pressed and nobody is configured to be called.
    mutating func dialNobody(now: Instant) -> OnNoAddress {
        switch self.state {
        case .idle, .outcome:
            let facts = CallFacts(direction: .outgoing, peer: "", began: now)
            return .show(self.show(.noAddress, facts: facts, answered: nil, now: now))
        case .lookingUp, .calling, .ringing, .early, .alerting, .connected, .ending, .stopping:
            return .doNothing
        }
    }

    // MARK: - Look-up

    /// Whom to find the ways to.
    struct Question: Equatable {
        var id: ResolutionID
        var uri: SIPURI
    }

    enum OnResolved: Equatable {
        /// Send INVITE to the current target by the first of its ways.
        case invite(Targets)
        /// The same to one that does not lead.
        case inviteBeside(Targets)
        /// The same, because the far end of this call hands us over.
        case follow(CallHandle, Targets)
        /// Of a call that is over.
        case ignore
    }

    /// - Parameter ways: at least one; nil for those that are left of what was found before.
    mutating func resolved(_ id: ResolutionID, _ ways: [Flow]?, as handle: CallHandle, now: Instant) -> OnResolved {
        switch self.state {
        case .lookingUp(var state):
            guard state.resolution == id, !state.isPause else { return self.otherResolved(id, ways, as: handle) }
            if let ways { state.targets.found(ways) }
            var call = self.outgoing(state, as: handle)
            call.wayDeadline = state.facts.patience(state.targets).map { now + $0 }
            self.state = .calling(call)
            return .invite(state.targets)
        case .connected(let state):
            return self.transferResolved(id, ways, as: handle, state, now: now)
        case .calling, .ringing, .early:
            return self.otherResolved(id, ways, as: handle)
        case .idle, .alerting, .ending, .outcome, .stopping:
            return .ignore
        }
    }

    func outgoing(_ state: KioskState.LookingUp, as handle: CallHandle) -> KioskState.Outgoing {
        KioskState.Outgoing(
            facts: state.facts, targets: state.targets, handle: handle, deadline: state.ringDeadline,
            others: state.others)
    }

    enum OnUnresolved: Equatable {
        case failed(FailedTarget)
        /// Another address of the same target is left.
        case lookUp(Question)
        /// The same of one that does not lead.
        case lookUpBeside(Question)
        case transferFailed(FailedTransfer)
        case ignore
    }

    mutating func unresolved(_ id: ResolutionID, now: Instant) -> OnUnresolved {
        switch self.state {
        case .lookingUp(let state):
            guard state.resolution == id, !state.isPause else { return self.otherUnresolved(id) }
            return self.notFound(state, now: now)
        case .connected(let state):
            guard case .lookingUp(let transfer)? = state.transfer, transfer.resolution == id else { return .ignore }
            return .transferFailed(self.endTransfer(state, .unknownHost, now: now))
        case .calling, .ringing, .early:
            return self.otherUnresolved(id)
        case .idle, .alerting, .ending, .outcome, .stopping:
            return .ignore
        }
    }

    mutating func notFound(_ state: KioskState.LookingUp, now: Instant) -> OnUnresolved {
        if let question = self.tryNext(state.facts, state.targets, ringDeadline: state.ringDeadline, now: now) {
            return .lookUp(question)
        }
        return .failed(self.leaderFailed(state.facts, .unknownHost, now: now))
    }

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
            self.state = .idle
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
            self.state = .idle
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
        self.state = .ending(KioskState.Ending(ended: ended, handle: handle, deadline: deadline))
        return .hangUp([handle] + (other.map { [$0] } ?? []), ended)
    }

    // MARK: - Mute and video

    enum OnWish: Equatable {
        case apply(Wishes)
        /// There is no call that it could be a wish about.
        case ignore
    }

    mutating func toggleMute() -> OnWish {
        self.change { $0.isMuted.toggle() }
    }

    mutating func toggleVideo() -> OnWish {
        self.change { $0.isVideoOff.toggle() }
    }

    private mutating func change(_ edit: (inout Wishes) -> Void) -> OnWish {
        switch self.state {
        case .lookingUp(var state):
            edit(&state.facts.wishes)
            self.state = .lookingUp(state)
            return .apply(state.facts.wishes)
        case .calling(var state):
            edit(&state.facts.wishes)
            self.state = .calling(state)
            return .apply(state.facts.wishes)
        case .ringing(var state):
            edit(&state.facts.wishes)
            self.state = .ringing(state)
            return .apply(state.facts.wishes)
        case .early(var state):
            edit(&state.facts.wishes)
            self.state = .early(state)
            return .apply(state.facts.wishes)
        case .alerting(var state):
            edit(&state.facts.wishes)
            self.state = .alerting(state)
            return .apply(state.facts.wishes)
        case .connected(var state):
            edit(&state.facts.wishes)
            self.state = .connected(state)
            return .apply(state.facts.wishes)
        case .idle, .ending, .outcome, .stopping:
            return .ignore
        }
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
            self.state = .idle
            return .exit(EndedCall(facts: state.facts, outcome: .stopped, ended: now))
        case .alerting(let state):
            self.state = .idle
            return .declineAndExit(state.handle, EndedCall(facts: state.facts, outcome: .stopped, ended: now))
        case .calling(let state), .ringing(let state):
            return self.stop(state.handle, state.facts, answered: nil, now: now)
        case .early(let state):
            return self.stop(state.handle, state.facts, answered: nil, now: now)
        case .connected(let state):
            return self.stop(
                state.handle, state.facts, answered: state.answered, also: state.transfer?.handle, now: now)
        case .ending(let state):
            self.state = .stopping(
                KioskState.Stopping(ended: state.ended, handle: state.handle, deadline: self.stopDeadline(now)))
            return .wait
        case .stopping:
            return .wait
        }
    }

    private mutating func stop(
        _ handle: CallHandle, _ facts: CallFacts, answered: Instant?, also other: CallHandle? = nil, now: Instant
    ) -> OnTerminate {
        let ended = EndedCall(facts: facts, outcome: .stopped, answered: answered, ended: now)
        self.state = .stopping(KioskState.Stopping(ended: ended, handle: handle, deadline: self.stopDeadline(now)))
        return .hangUp([handle] + (other.map { [$0] } ?? []), ended)
    }

    private func stopDeadline(_ now: Instant) -> Instant {
        now + .milliseconds(KioskTimes.stopMs)
    }

    /// Moves to what the outcome's manner asks for, and gives what is to be told.
    mutating func show(
        _ outcome: CallOutcome, facts: CallFacts, answered: Instant?, now: Instant
    ) -> EndedCall {
        let ended = EndedCall(facts: facts, outcome: outcome, answered: answered, ended: now)
        switch outcome.manner {
        case .silent:
            self.state = .idle
        case .farewell:
            let deadline = now + .milliseconds(KioskTimes.farewellShownMs)
            self.state = .outcome(KioskState.Outcome(ended: ended, deadline: deadline))
        case .failure:
            let deadline = now + .milliseconds(KioskTimes.failureShownMs)
            self.state = .outcome(KioskState.Outcome(ended: ended, deadline: deadline))
        }
        return ended
    }
}
