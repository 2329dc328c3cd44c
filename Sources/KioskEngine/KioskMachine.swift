// SPDX-License-Identifier: Apache-2.0
import Bytes

/// The behaviour of the kiosk's one call: what each input does in each state. Knows nothing of SDP, screens or sockets;
/// the engine around it carries out the action that each function returns. This file: how a call begins, and what the
/// person at the panel wants sent in it.
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

    /// The name of a search for the ways to a URI, never given before.
    mutating func newResolution() -> ResolutionID {
        defer { self.resolutionNext &+= 1 }
        return ResolutionID(self.resolutionNext)
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
}
