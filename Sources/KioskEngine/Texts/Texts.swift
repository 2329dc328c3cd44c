// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Everything that people read on the screen, in one language. Plain words, what happened first, what to do second; no
/// numbers and no terms of the trade.
///
/// Each language is a file of this folder. Nothing here has a default, so what a language lacks does not compile. Log
/// and events are English, whatever the screen shows.
final class Texts: Sendable {
    let states: StateTexts
    let buttons: ButtonTexts
    let outcomes: OutcomeTexts
    let faults: FaultTexts
    let starts: StartTexts
    let pages: PageTexts

    init(
        states: StateTexts, buttons: ButtonTexts, outcomes: OutcomeTexts, faults: FaultTexts, starts: StartTexts,
        pages: PageTexts
    ) {
        self.states = states
        self.buttons = buttons
        self.outcomes = outcomes
        self.faults = faults
        self.starts = starts
        self.pages = pages
    }

    static func of(_ language: Language) -> Texts {
        switch language {
        case .english: return self.english
        case .german: return self.german
        case .french: return self.french
        case .spanish: return self.spanish
        case .arabic: return self.arabic
        case .chinese: return self.chinese
        }
    }
}

/// A few words in large type, and a sentence or two below them.
struct Phrase: Equatable, Sendable {
    var headline: ByteString
    var detail: ByteString

    init(_ headline: ByteString, _ detail: ByteString) {
        self.headline = headline
        self.detail = detail
    }
}

/// A sentence with a name in it.
struct NamedText: Sendable {
    private let before: ByteString
    private let after: ByteString

    init(_ before: ByteString, _ after: ByteString) {
        self.before = before
        self.after = after
    }

    func with(_ name: ByteString) -> ByteString { self.before + name + self.after }
}

/// What the kiosk is doing.
struct StateTexts: Sendable {
    let idle: Phrase
    let idleWithoutPicture: Phrase
    let idleUseless: Phrase
    let calling: Phrase
    let ringing: Phrase
    let forwarded: Phrase
    let queued: Phrase
    let early: Phrase
    let transferring: Phrase
    let connecting: Phrase
    let talking: Phrase
    let talkingWith: NamedText
    let pictureLost: Phrase
    let interrupted: Phrase
    /// The far end has asked to wait.
    let held: Phrase
    /// The kiosk has asked the far end to wait.
    let holding: Phrase
    let ending: Phrase
    /// Before a call that nobody placed.
    let autoCall: Phrase
    let stopping: Phrase
    /// Taken out of service for a while.
    let paused: Phrase
    /// In a call, while the supply fails.
    let lowPower: Phrase
    /// In a call of a kiosk that has no pictures.
    let soundOnly: Phrase
    /// Headline of a far end's text.
    let message: ByteString
    /// Headline of a call from outside.
    let alerting: ByteString
    let alertingBy: NamedText
    /// By a caller who is answered without anybody pressing.
    let alertingAnswered: NamedText
    /// In place of a caller's name.
    let somebody: ByteString
    /// Beside a countdown, while a button is pressed that has to be held.
    let keepHolding: ByteString
}

/// What a press does now; two short words at most.
struct ButtonTexts: Sendable {
    let answer: ByteString
    let decline: ByteString
    let call: ByteString
    let cancel: ByteString
    let hangUp: ByteString
    let close: ByteString
    let mute: ByteString
    let unmute: ByteString
    let videoOff: ByteString
    let videoOn: ByteString
    let keypad: ByteString
    let language: ByteString
    /// To the key before and after, on the keypad on the screen.
    let back: ByteString
    let next: ByteString
    /// Takes the key that is chosen.
    let select: ByteString
}

/// Why a call is over. Advice follows where there is some.
struct OutcomeTexts: Sendable {
    let cancelled: Phrase
    let remoteHungUp: Phrase
    let timeLimit: Phrase
    /// By the person at the panel.
    let declinedHere: Phrase
    let missed: Phrase
    let misdirected: Phrase
    let noAnswer: Phrase
    let noResponse: Phrase
    let unreachable: Phrase
    let unknownHost: Phrase
    let insecure: Phrase
    let waitsForTime: Phrase
    let vanished: Phrase
    let unusableMedia: Phrase
    let notPrivate: Phrase
    let protocolFault: Phrase
    let noAddress: Phrase
    let outOfRoom: Phrase
    let busy: Phrase
    /// By the far end.
    let declined: Phrase
    let notAllowed: Phrase
    let wrongPassword: Phrase
    let unknownAddress: Phrase
    let doesNotFit: Phrase
    let overloaded: Phrase
    let moved: Phrase
    let notAccepted: Phrase
    let faulty: Phrase
    let impossible: Phrase
    /// Advice. Each begins with what parts two sentences.
    let tryAgain: ByteString
    let later: ByteString
    let staff: ByteString
}

/// What stands in the strip at the upper edge.
struct FaultTexts: Sendable {
    /// Accounts are wanted and none is registered.
    let cutOff: ByteString
    /// The same because of the server's certificate.
    let untrusted: ByteString
    let display: ByteString
    let camera: ByteString
    let playback: ByteString
    let capture: ByteString
    let panel: ByteString
    let network: ByteString
    let storage: ByteString
    let housing: ByteString
}

/// The same of a board that did not start as it should.
struct StartTexts: Sendable {
    let safeMode: ByteString
    let bootPartition: ByteString
    let bootWrite: ByteString
    let dataLost: ByteString
    let dataPartition: ByteString
    let clock: ByteString
}

/// Pages for whoever installs the kiosk.
struct PageTexts: Sendable {
    /// Headlines.
    let problems: ByteString
    let health: ByteString
    /// What is told of.
    let version: ByteString
    let address: ByteString
    let account: ByteString
    let configuration: ByteString
    let screen: ByteString
    let camera: ByteString
    let loudspeaker: ByteString
    let microphone: ByteString
    let buttons: ByteString
    let network: ByteString
    /// How it fares.
    let works: ByteString
    let missing: ByteString

    /// Nil of what is told of only where something is wrong with it.
    func name(of family: DeviceFamily) -> ByteString? {
        switch family {
        case .display: return self.screen
        case .camera: return self.camera
        case .playback: return self.loudspeaker
        case .capture: return self.microphone
        case .panel: return self.buttons
        case .network: return self.network
        case .storage, .housing, .supply, .safeMode, .bootPartition, .bootWrite, .dataLost, .dataPartition, .clock:
            return nil
        }
    }
}
