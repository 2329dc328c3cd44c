// SPDX-License-Identifier: Apache-2.0
import Bytes

/// A sentence that the help point speaks, for whoever does not see the screen or does not look at it. What is said
/// stands in `board/prompts.d/LANGUAGE.txt`, a line for each name.
public enum PromptName: UInt8, Hashable, Sendable {
    /// Nothing goes on; which button calls.
    case pressToCall
    case calling
    case ringing
    /// In a queue, or being handed over to somebody else.
    case pleaseWait
    /// Somebody calls here.
    case incoming
    case muted
    /// The far end lets us wait, or we it.
    case onHold
    case noPicture
    /// Media do not come any more; the call may go on.
    case interrupted
    /// The longest time for a call is nearly over.
    case timeNearlyOver
    case busy
    case declined
    case noAnswer
    case notReachable
    /// The call failed, and trying again may help.
    case failed
    case outOfOrder
    case ended
    /// The keys are for digits now.
    case keypad
    /// Spoken in the language that was just chosen, and says which it is.
    case language
    /// A call is placed in a moment unless somebody presses.
    case countdown
    /// The one that is not for the panel: whoever was called is to show that it is a human.
    case pressAKey

    public static let all: [PromptName] = [
        .pressToCall, .calling, .ringing, .pleaseWait, .incoming, .muted, .onHold, .noPicture,
        .interrupted, .timeNearlyOver, .busy, .declined, .noAnswer, .notReachable, .failed, .outOfOrder, .ended,
        .keypad, .language, .countdown, .pressAKey,
    ]

    /// The name of its file without `.wav`.
    public var text: ByteString {
        switch self {
        case .pressToCall: return "press-to-call"
        case .calling: return "calling"
        case .ringing: return "ringing"
        case .pleaseWait: return "please-wait"
        case .incoming: return "incoming"
        case .muted: return "muted"
        case .onHold: return "on-hold"
        case .noPicture: return "no-picture"
        case .interrupted: return "interrupted"
        case .timeNearlyOver: return "time-nearly-over"
        case .busy: return "busy"
        case .declined: return "declined"
        case .noAnswer: return "no-answer"
        case .notReachable: return "not-reachable"
        case .failed: return "failed"
        case .outOfOrder: return "out-of-order"
        case .ended: return "ended"
        case .keypad: return "keypad"
        case .language: return "language"
        case .countdown: return "countdown"
        case .pressAKey: return "press-a-key"
        }
    }

    public init?(_ text: ByteString) {
        guard let name = Self.all.first(where: { $0.text == text }) else { return nil }
        self = name
    }
}
