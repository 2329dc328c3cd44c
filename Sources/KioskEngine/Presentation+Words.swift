// SPDX-License-Identifier: Apache-2.0
import Bytes

/// The large words of each state.
extension Presentation {
    static func card(_ state: KioskState, _ around: Surroundings) -> Card {
        let texts = around.texts
        switch state {
        case .idle: return self.idleCard(around)
        case .lookingUp(let state): return self.callingCard(state.facts, texts)
        case .calling(let state): return self.callingCard(state.facts, texts)
        case .ringing(let state): return self.card(state, texts)
        case .early: return Card(texts.states.early, .ringing)
        case .alerting(let state):
            return texts.alerting(state.facts.name, isAnswered: state.answersAt != nil)
        case .connected(let call): return self.card(call, around)
        case .ending(let state): return texts.card(state.ended.outcome)
        case .outcome(let state): return texts.card(state.ended.outcome)
        case .stopping: return Card(texts.states.stopping, .none)
        }
    }

    private static func idleCard(_ around: Surroundings) -> Card {
        let texts = around.texts
        if around.isStopping { return Card(texts.states.stopping, .none) }
        if around.autoCallAt != nil { return Card(texts.states.autoCall, .calling) }
        if let notice = around.notice { return texts.notice(notice) }
        if around.isPaused { return Card(texts.states.paused, .warning) }
        guard around.canCall else { return Card(texts.states.idleUseless, .warning) }
        let phrase = around.hasCamera ? texts.states.idle : texts.states.idleWithoutPicture
        return around.screen.idleCard(phrase, in: around.language)
    }

    private static func callingCard(_ facts: CallFacts, _ texts: Texts) -> Card {
        Card(facts.isHandedOver ? texts.states.transferring : texts.states.calling, .calling)
    }

    private static func card(_ call: KioskState.Outgoing, _ texts: Texts) -> Card {
        switch call.stage {
        case .ringing where call.facts.isHandedOver: return Card(texts.states.transferring, .calling)
        case .ringing: return Card(texts.states.ringing, .ringing)
        case .forwarded: return Card(texts.states.forwarded, .calling)
        case .queued: return Card(texts.states.queued, .ringing)
        }
    }

    private static func card(_ call: KioskState.Connected, _ around: Surroundings) -> Card {
        let texts = around.texts
        if call.confirmBy != nil { return Card(texts.states.ringing, .ringing) }
        if let notice = around.notice {
            let card = texts.notice(notice)
            return around.showsPicture(of: call) ? Card("", card.detail, .none) : card
        }
        if around.showsPicture(of: call) {
            let waits = call.isHeld || call.transfer != nil
            return Card("", waits ? texts.states.held.headline : "", .none)
        }
        if call.transfer != nil { return Card(texts.states.transferring, .calling) }
        if call.intent.isHolding { return Card(texts.states.holding, .hold) }
        if call.cutOffSince != nil { return Card(texts.states.interrupted, .connecting) }
        if call.isHeld { return Card(texts.states.held, .hold) }
        if around.isPowerFailing { return Card(texts.states.lowPower, .talking) }
        if !around.mayUseH264 { return Card(texts.states.soundOnly, .talking) }
        guard around.hasScreen, call.shape.receivesVideo else { return texts.talking(call.facts.name) }
        return call.hasFirstFrame
            ? Card(texts.states.pictureLost, .talking) : Card(texts.states.connecting, .connecting)
    }
}
