// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import SIPWire

/// What the far end and its media do to the kiosk's call.
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

    enum OnFailure: Equatable {
        /// Tell the far end, and whoever it is handing us over to; the outcome is on the screen already.
        case giveUp([CallHandle], EndedCall)
        /// A call that was placed.
        case failed(FailedTarget)
        case transferFailed(FailedTransfer)
        case ignore
    }

    /// We cannot go on with a call, through no act of the person at the panel.
    mutating func failed(_ handle: CallHandle, _ outcome: CallOutcome, now: Instant) -> OnFailure {
        if let index = self.state.other(handle) {
            return .failed(self.otherFailed(index, outcome, dropped: [handle]))
        }
        guard self.state.handle == handle else {
            guard case .connected(let state) = self.state, state.transfer?.handle == handle else { return .ignore }
            return .transferFailed(self.endTransfer(state, outcome, now: now))
        }
        switch self.state {
        case .calling(let state), .ringing(let state):
            return .failed(self.leaderFailed(state.facts, outcome, dropped: [handle], now: now))
        case .early(let state):
            return .failed(self.leaderFailed(state.facts, outcome, dropped: [handle], now: now))
        case .alerting(let state):
            return .giveUp([handle], self.show(outcome, facts: state.facts, answered: nil, now: now))
        case .connected(let state):
            if state.confirmBy != nil {
                return .failed(self.leaderFailed(state.facts, outcome, dropped: [handle], now: now))
            }
            let handles = [handle] + (state.transfer?.handle.map { [$0] } ?? [])
            return .giveUp(handles, self.show(outcome, facts: state.facts, answered: state.answered, now: now))
        case .idle, .lookingUp, .ending, .outcome, .stopping:
            return .ignore
        }
    }

    // MARK: - The end

    enum OnEnded: Equatable {
        /// The call is over; its media stop.
        case finish(EndedCall)
        /// Whoever was called does not answer.
        case failed(FailedTarget)
        /// The target named other addresses: its media stop, and they are called in its place.
        case lookUp(Question)
        /// There is another way to the same target: its media stop, and it is called by that.
        case failOver(ResolutionID)
        /// The same of a target that does not lead.
        case lookUpBeside(Question)
        case failOverBeside(ResolutionID)
        /// It does not take our offer: its media stop, and it is called again by the same way, with the older one.
        case offerAgain(ResolutionID)
        /// Who was to take over does not: the call at hand goes on.
        case transferFailed(FailedTransfer)
        /// The far end has left before whoever it hands us over to is there: its media stop, the person waits.
        case waitForTransfer
        case exit(EndedCall?)
        /// A call that we have long given up.
        case ignore
    }

    /// - Parameter hasOlderOffer: what we offered can be said in an older way.
    mutating func ended(
        _ handle: CallHandle, _ reason: EndReason, fault: TLSFault? = nil, hasOlderOffer: Bool = false, now: Instant
    ) -> OnEnded {
        if let index = self.state.other(handle) {
            return self.otherEnded(index, reason, fault, hasOlderOffer: hasOlderOffer)
        }
        guard self.state.handle == handle else { return self.transferEnded(handle, reason, fault, now: now) }
        if hasOlderOffer, reason.isOfOffer, let id = self.offerAgain(now: now) { return .offerAgain(id) }
        switch self.state {
        case .calling(let state):
            if reason.isOfNobody,
                let id = self.tryNextWay(state.facts, state.targets, ringDeadline: state.deadline, now: now)
            {
                return .failOver(id)
            }
            return self.unanswered(state.facts, state.targets, ringDeadline: state.deadline, reason, fault, now: now)
        case .ringing(let state):
            return self.unanswered(state.facts, state.targets, ringDeadline: state.deadline, reason, fault, now: now)
        case .early(let state):
            return self.unanswered(state.facts, state.targets, ringDeadline: state.deadline, reason, fault, now: now)
        case .alerting(let state):
            return .finish(self.show(.missed, facts: state.facts, answered: nil, now: now))
        case .connected(let state):
            if let transfer = state.transfer { return self.wait(for: transfer, state) }
            if state.confirmBy != nil { return .failed(self.leaderFailed(state.facts, .notAnswered, now: now)) }
            let outcome = CallOutcome(reason, wasAnswered: true)
            return .finish(self.show(outcome, facts: state.facts, answered: state.answered, now: now))
        case .ending(let state):
            self.move(to: .idle)
            return .finish(state.ended)
        case .stopping(let state):
            self.move(to: .idle)
            return .exit(state.ended)
        case .idle, .lookingUp, .outcome:
            return .ignore
        }
    }

    /// The same target by the same way, under the name of a search that is done; nil where that makes no sense.
    private mutating func offerAgain(now: Instant) -> ResolutionID? {
        guard case .calling(let call) = self.state else { return nil }
        var targets = call.targets
        guard targets.offerAgain() else { return nil }
        let state = self.lookingUp(call.facts, targets, ringDeadline: call.deadline, now: now)
        self.move(to: .lookingUp(state))
        return state.resolution
    }

    /// A call that was placed is over before its answer: another target may be left (RFC 3261 section 8.1.3.4).
    private mutating func unanswered(
        _ facts: CallFacts, _ targets: Targets, ringDeadline: Instant?, _ reason: EndReason, _ fault: TLSFault?,
        now: Instant
    ) -> OnEnded {
        if reason.isOfServer,
            let id = self.tryNextWay(facts, targets, ringDeadline: ringDeadline, now: now)
        {
            return .failOver(id)
        }
        var targets = targets
        if case .redirected(_, let uris) = reason { targets.redirect(to: uris) }
        if reason.leavesOthersToTry,
            let question = self.tryNext(facts, targets, ringDeadline: ringDeadline, now: now)
        {
            return .lookUp(question)
        }
        let outcome = CallOutcome(reason, wasAnswered: false, fault: fault)
        return .failed(self.leaderFailed(facts, outcome, now: now))
    }

    // MARK: - Media

    enum OnMedia: Equatable {
        /// The first picture or sound of the call came so long after the answer.
        case firstFrame(after: Duration)
        case firstSound(after: Duration)
        /// Only the state changed, if anything.
        case doNothing
    }

    /// Of `.counters` only the sign of life counts, which the engine gives as `reported`.
    mutating func media(_ report: MediaReport, now: Instant) -> OnMedia {
        switch self.state {
        case .early(var state):
            Self.media(report, &state)
            self.move(to: .early(state))
            return .doNothing
        case .connected(var state):
            let action = Self.media(report, &state, now: now)
            self.move(to: .connected(state))
            return action
        case .idle, .lookingUp, .calling, .ringing, .alerting, .ending, .outcome, .stopping:
            return .doNothing
        }
    }

    private static func media(_ report: MediaReport, _ state: inout KioskState.Early) {
        switch report {
        case .firstPacket(.audio), .resumed(.audio): state.hasSound = true
        // Silence is told once: what stopped before the answer would otherwise never be missed after it.
        case .silent(.audio, _): state.hasSound = false
        case .firstSoundPlayed: (state.hasSound, state.hasFirstSound) = (true, true)
        case .firstPacket(.video), .resumed(.video), .silent(.video, _), .firstFrameShown, .byeReceived, .counters,
            .digit, .keyFrameWanted, .secured, .notSecured,
            .keysWearOut:
            break
        }
    }

    private static func media(
        _ report: MediaReport, _ state: inout KioskState.Connected, now: Instant
    ) -> OnMedia {
        switch report {
        case .firstPacket(let kind), .resumed(let kind):
            state.set(kind, .hearing)
        case .silent(let kind, let since):
            state.set(kind, .silent(since: since))
        case .firstFrameShown:
            state.video = .hearing
            guard !state.hasFirstFrame else { return .doNothing }
            state.hasFirstFrame = true
            return .firstFrame(after: now - state.mediaBegan)
        case .firstSoundPlayed:
            state.audio = .hearing
            guard !state.hasFirstSound else { return .doNothing }
            state.hasFirstSound = true
            return .firstSound(after: now - state.mediaBegan)
        case .byeReceived, .digit, .keyFrameWanted, .counters, .secured, .notSecured, .keysWearOut:
            break
        }
        return .doNothing
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

    /// RTCP reports came in.
    mutating func reported(now: Instant) {
        switch self.state {
        case .connected(var state):
            state.reported = now
            self.move(to: .connected(state))
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .ending, .outcome, .stopping:
            break
        }
    }
}

extension StatusCode {
    /// It says something about the server and nothing about who was asked for (RFC 3263 section 4.3; 408 stands for one
    /// that keeps silent too, RFC 3261 section 8.1.3.1; 500 is what servers in maintenance say).
    var isOfServer: Bool { self == .requestTimeout || self == .serviceUnavailable || self == .serverInternalError }
}

extension EndReason {
    /// It says something about the server and nothing about who was called: another server may do better (RFC 3263
    /// section 4.3; 500 is what servers in maintenance say).
    var isOfServer: Bool {
        switch self {
        case .timedOut, .flowFailed: return true
        case .refused(let status, _, _): return status == .serviceUnavailable || status == .serverInternalError
        case .redirected, .localHangUp, .remoteHangUp, .cancelled, .replaced, .protocolFault, .tooManyCalls:
            return false
        }
    }

    /// The server heard nothing from whom it asked (408). Where nobody rang, another server may be heard.
    fileprivate var isOfNobody: Bool {
        guard case .refused(let status, _, _) = self else { return false }
        return status == .requestTimeout
    }

    /// It says something about our offer.
    var isOfOffer: Bool {
        switch self {
        case .refused(let status, _, _): return status == .notAcceptableHere || status.value == 606
        case .redirected, .localHangUp, .remoteHangUp, .cancelled, .replaced, .timedOut, .flowFailed, .protocolFault,
            .tooManyCalls:
            return false
        }
    }

    /// The one that was called is not there; a 6xx says that none of its other addresses need be tried either.
    var leavesOthersToTry: Bool {
        switch self {
        case .redirected, .timedOut, .flowFailed: return true
        case .refused(let status, _, _): return status.statusClass != .globalFailure
        case .localHangUp, .remoteHangUp, .cancelled, .replaced, .protocolFault, .tooManyCalls: return false
        }
    }
}

extension KioskState.Connected {
    fileprivate mutating func set(_ kind: StreamKind, _ hearing: Hearing) {
        switch kind {
        case .audio: self.audio = hearing
        case .video: self.video = hearing
        }
    }
}
