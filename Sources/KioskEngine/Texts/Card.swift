// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// A phrase with its sign.
struct Card: Equatable {
    var headline: ByteString
    var detail: ByteString
    var symbol: Symbol

    init(_ headline: ByteString, _ detail: ByteString, _ symbol: Symbol) {
        self.headline = headline
        self.detail = detail
        self.symbol = symbol
    }

    init(_ phrase: Phrase, advice: ByteString = "", _ symbol: Symbol) {
        self.init(phrase.headline, phrase.detail + advice, symbol)
    }
}

// MARK: - States

extension Texts {
    func talking(_ name: ByteString) -> Card {
        let phrase = self.states.talking
        return Card(phrase.headline, name.isEmpty ? phrase.detail : self.states.talkingWith.with(name), .talking)
    }

    /// A text of a far end's.
    func notice(_ notice: Notice) -> Card {
        Card(self.states.message, notice.name.isEmpty ? notice.text : notice.name + ": " + notice.text, .none)
    }

    /// A call from outside.
    func alerting(_ name: ByteString, isAnswered: Bool) -> Card {
        let caller = name.isEmpty ? self.states.somebody : name
        let text = isAnswered ? self.states.alertingAnswered : self.states.alertingBy
        return Card(self.states.alerting, text.with(caller), .ringing)
    }
}

// MARK: - Outcomes

extension Texts {
    func card(_ outcome: CallOutcome) -> Card {
        let texts = self.outcomes
        let (tryAgain, later, staff) = (texts.tryAgain, texts.later, texts.staff)
        switch outcome {
        case .hungUp, .stopped: return Card(self.states.ending, .ended)
        case .cancelled: return Card(texts.cancelled, .ended)
        case .remoteHungUp: return Card(texts.remoteHungUp, .ended)
        case .timeLimit: return Card(texts.timeLimit, .ended)
        case .declined: return Card(texts.declinedHere, .ended)
        case .missed: return Card(texts.missed, .ended)
        case .refused(let status, _, let q850): return self.card(RefusalMeaning(status, q850: q850))
        case .misdirected: return Card(texts.misdirected, advice: staff, .warning)
        case .notAnswered: return Card(texts.noAnswer, advice: later, .busy)
        case .noResponse: return Card(texts.noResponse, advice: later, .warning)
        case .unreachable: return Card(texts.unreachable, advice: later, .warning)
        case .unknownHost: return Card(texts.unknownHost, advice: later, .warning)
        case .insecure: return Card(texts.insecure, advice: staff, .warning)
        case .waitsForTime: return Card(texts.waitsForTime, advice: later, .warning)
        case .vanished: return Card(texts.vanished, advice: tryAgain, .warning)
        case .unusableMedia: return Card(texts.unusableMedia, advice: staff, .warning)
        case .notPrivate: return Card(texts.notPrivate, advice: staff, .warning)
        case .protocolFault: return Card(texts.protocolFault, advice: tryAgain, .warning)
        case .noAddress: return Card(texts.noAddress, advice: staff, .warning)
        case .outOfRoom: return Card(texts.outOfRoom, advice: later, .warning)
        }
    }

    private func card(_ refusal: RefusalMeaning) -> Card {
        let texts = self.outcomes
        switch refusal {
        case .busy: return Card(texts.busy, advice: texts.later, .busy)
        case .declined: return Card(texts.declined, advice: texts.later, .busy)
        case .noAnswer: return Card(texts.noAnswer, advice: texts.later, .busy)
        case .notAllowed: return Card(texts.notAllowed, advice: texts.staff, .warning)
        case .wrongPassword: return Card(texts.wrongPassword, advice: texts.staff, .warning)
        case .unknownAddress: return Card(texts.unknownAddress, advice: texts.staff, .warning)
        case .doesNotFit: return Card(texts.doesNotFit, advice: texts.staff, .warning)
        case .overloaded: return Card(texts.overloaded, advice: texts.later, .warning)
        case .moved: return Card(texts.moved, advice: texts.staff, .warning)
        case .notAccepted: return Card(texts.notAccepted, advice: texts.tryAgain, .warning)
        case .faulty: return Card(texts.faulty, advice: texts.later, .warning)
        case .impossible: return Card(texts.impossible, advice: texts.later, .warning)
        }
    }

    /// The outcome as one text, for events and the log: take the English one.
    func sentence(_ outcome: CallOutcome) -> ByteString {
        let card = self.card(outcome)
        return card.detail.isEmpty ? card.headline + "." : card.detail
    }
}

// MARK: - Faults

extension Texts {
    /// What a device that is missing means for the call; the banner says it before the technical reason.
    func fault(_ family: DeviceFamily) -> ByteString {
        switch family {
        case .display: return self.faults.display
        case .camera: return self.faults.camera
        case .playback: return self.faults.playback
        case .capture: return self.faults.capture
        case .panel: return self.faults.panel
        case .network: return self.faults.network
        case .storage: return self.faults.storage
        case .housing: return self.faults.housing
        case .supply: return self.states.lowPower.headline
        case .safeMode: return self.starts.safeMode
        case .bootPartition: return self.starts.bootPartition
        case .bootWrite: return self.starts.bootWrite
        case .dataLost: return self.starts.dataLost
        case .dataPartition: return self.starts.dataPartition
        case .clock: return self.starts.clock
        }
    }
}
