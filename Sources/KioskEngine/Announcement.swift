// SPDX-License-Identifier: Apache-2.0
import MediaEngine

/// What the person at the panel is told by ear: a pure function of the states before and after, as `Presentation` is of
/// one state for the eye. Chimes and prompts mark what changes; tones, which stand, are `Presentation`'s.
struct Announcement: Equatable {
    /// Where a call is, as far as ears tell it apart.
    enum Stage: Equatable {
        case idle
        /// The way to the far end is being looked for.
        case placing
        /// The far end was asked.
        case calling
        case alerting
        case connected
        /// Ended here.
        case ending
        case over
    }

    /// What becomes of the prompt that may be spoken.
    enum Speech: Equatable {
        /// It goes on.
        case keep
        case hush
        case say(PromptName)
    }

    var stage: Stage
    var isMuted: Bool
    /// What is the case now; nil where the far end itself is heard, or all is said.
    var prompt: PromptName?

    init(_ state: KioskState, hasScreen: Bool) {
        self.isMuted = state.facts?.wishes.isMuted ?? false
        switch state {
        case .idle: (self.stage, self.prompt) = (.idle, nil)
        case .lookingUp(let state):
            (self.stage, self.prompt) = (.placing, state.facts.isHandedOver ? .pleaseWait : .calling)
        case .calling(let state):
            (self.stage, self.prompt) = (.calling, state.facts.isHandedOver ? .pleaseWait : .calling)
        case .ringing(let state): (self.stage, self.prompt) = (.calling, Self.prompt(state))
        case .early(let state):
            (self.stage, self.prompt) = (.calling, state.hasRung && !state.hasFirstSound ? .ringing : nil)
        case .alerting: (self.stage, self.prompt) = (.alerting, .incoming)
        // Whoever has answered may be a machine.
        case .connected(let call) where call.confirmBy != nil: (self.stage, self.prompt) = (.calling, .ringing)
        case .connected(let call): (self.stage, self.prompt) = (.connected, Self.prompt(call, hasScreen: hasScreen))
        case .ending: (self.stage, self.prompt) = (.ending, .ended)
        case .outcome(let state): (self.stage, self.prompt) = (.over, state.ended.outcome.prompt)
        case .stopping: (self.stage, self.prompt) = (.ending, nil)
        }
    }

    private static func prompt(_ call: KioskState.Outgoing) -> PromptName {
        switch call.stage {
        case .ringing: return call.facts.isHandedOver ? .pleaseWait : .ringing
        case .forwarded, .queued: return .pleaseWait
        }
    }

    /// That somebody is there is told by the chime: words would cover their first ones, and the answer to them.
    private static func prompt(_ call: KioskState.Connected, hasScreen: Bool) -> PromptName? {
        if call.transfer != nil { return .pleaseWait }
        if call.isHeld || call.intent.isHolding { return .onHold }
        if call.cutOffSince != nil { return .interrupted }
        return hasScreen && call.hasFirstFrame && call.shape.receivesVideo && !call.showsPicture
            ? .noPicture : nil
    }

    // MARK: - Changes

    /// What sounds once when `self` comes after `old`.
    func chime(after old: Announcement) -> Chime? {
        if self.stage != old.stage {
            switch self.stage {
            case .calling: return old.stage == .connected ? nil : .placed
            case .connected: return .answered
            case .ending: return .ended
            // What is over has its tone, and whoever is called hears the bell.
            case .idle, .placing, .alerting, .over: return nil
            }
        }
        if self.prompt == .interrupted, old.prompt != .interrupted { return .lost }
        if self.prompt == nil, old.prompt == .interrupted || old.prompt == .onHold { return .back }
        guard self.stage != .idle, self.isMuted != old.isMuted else { return nil }
        return self.isMuted ? .muted : .unmuted
    }

    /// What is said then. Each prompt once, until it is another one's turn.
    func speech(after old: Announcement) -> Speech {
        guard self.prompt != old.prompt else {
            // That one is heard again is told by the chime: the first words are not to be lost behind a prompt.
            guard self.stage == .connected, self.isMuted != old.isMuted else { return .keep }
            return self.isMuted ? .say(.muted) : .hush
        }
        // "The call has ended" is spoken to its end.
        if self.stage == .idle, old.prompt == .ended { return .keep }
        return self.prompt.map { .say($0) } ?? .hush
    }
}

extension CallOutcome {
    /// What is said of it, as the table of faults has it; nil where nobody has to be told.
    var prompt: PromptName? {
        switch self.manner {
        case .silent: return .ended
        case .farewell(let tone): return tone == .none ? nil : .ended
        case .failure: return self.fault?.prompt
        }
    }
}
