// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Everything that people read on the screen, in English. Plain words, what happened first, what to do second; no
/// numbers and no terms of the trade.
enum Words {
    /// A few words in large type, and a sentence or two below them.
    struct Card: Equatable {
        var headline: ByteString
        var detail: ByteString
        var symbol: Symbol

        init(_ headline: ByteString, _ detail: ByteString, _ symbol: Symbol) {
            self.headline = headline
            self.detail = detail
            self.symbol = symbol
        }
    }

    // MARK: - States

    static let idle = Card("Press to call", "Somebody will see and hear you.", .handset)
    static let idleWithoutPicture = Card("Press to call", "Somebody will hear you.", .handset)
    static let idleUseless = Card("Out of order", "This help point cannot call anybody at the moment.", .warning)
    static let calling = Card("Calling", "Please wait.", .calling)
    static let ringing = Card("Ringing", "Please wait for somebody to answer.", .ringing)
    static let forwarded = Card("Calling", "Your call is being passed on. Please wait.", .calling)
    static let queued = Card("Please wait", "You are in a queue. Somebody will answer when it is your turn.", .ringing)
    static let early = Card("Calling", "Please listen.", .ringing)
    static let somebody: ByteString = "Somebody"
    static let transferring = Card("Please wait", "You are being connected to somebody else.", .calling)
    static let connecting = Card("Connecting", "The picture is on its way. You can speak now.", .connecting)
    static let pictureLost = Card("Connected", "There is no picture at the moment. You can still speak.", .talking)
    static let interrupted = Card(
        "Please wait", "The connection is interrupted. The call goes on as soon as it is back.", .connecting)
    static let held = Card("Please wait", "You have been asked to wait. The call goes on in a moment.", .hold)
    static let holding = Card("On hold", "The other side is waiting. Nobody is heard at the moment.", .hold)
    static let ending = Card("Call ended", "", .ended)
    static let stopping = Card("Restarting", "This help point will be back in a moment.", .none)

    static func talking(_ name: ByteString) -> Card {
        Card("Connected", name.isEmpty ? "You can speak now." : "You can speak with " + name + " now.", .talking)
    }

    /// A text of a far end's.
    static func notice(_ notice: Notice) -> Card {
        Card("Message", notice.name.isEmpty ? notice.text : notice.name + ": " + notice.text, .none)
    }

    /// A call from outside.
    static func alerting(_ name: ByteString) -> Card {
        Card("Incoming call", (name.isEmpty ? self.somebody : name) + " is calling. Press call to answer.", .ringing)
    }

    // MARK: - Buttons

    static let answer: ByteString = "Answer"
    static let decline: ByteString = "Decline"
    static let call: ByteString = "Call"
    static let cancel: ByteString = "Cancel"
    static let hangUp: ByteString = "Hang up"
    static let close: ByteString = "Close"
    static let mute: ByteString = "Mute"
    static let unmute: ByteString = "Unmute"
    static let videoOff: ByteString = "Camera off"
    static let videoOn: ByteString = "Camera on"

    // MARK: - Outcomes

    private static let tryAgain: ByteString = " Please try again."
    private static let later: ByteString = " Please try again in a few minutes."
    private static let staff: ByteString = " Please tell the staff."

    static func card(_ outcome: CallOutcome) -> Card {
        switch outcome {
        case .hungUp, .stopped: return self.ending
        case .cancelled: return Card("Call cancelled", "", .ended)
        case .remoteHungUp: return Card("Call ended", "The other side has ended the call.", .ended)
        case .declined: return Card("Call declined", "", .ended)
        case .missed: return Card("Missed call", "Nobody answered the call in time.", .ended)
        case .refused(let status, _, let q850): return self.card(RefusalMeaning(status, q850: q850))
        case .misdirected:
            return Card(
                "Not reachable", "The other side could not be reached where it said it would be." + self.staff, .warning
            )
        case .notAnswered: return self.noAnswer
        case .noResponse:
            return Card("No reply", "The other side did not reply." + self.later, .warning)
        case .unreachable:
            return Card("Not reachable", "The other side cannot be reached." + self.later, .warning)
        case .unknownHost:
            return Card(
                "Not reachable", "The address to call could not be found. The network may be down." + self.later,
                .warning)
        case .insecure:
            return Card(
                "Not secure", "The connection to the telephone system could not be secured." + self.staff, .warning)
        case .waitsForTime:
            return Card(
                "Waiting for the time", "This help point cannot call before it knows what time it is." + self.later,
                .warning)
        case .vanished:
            return Card("Connection lost", "The connection to the other side was lost." + self.tryAgain, .warning)
        case .timeLimit: return Card("Call ended", "The longest time of a call is over." + self.tryAgain, .ended)
        case .unusableMedia:
            return Card("Call failed", "The other side's equipment does not fit this one." + self.staff, .warning)
        case .notPrivate:
            return Card(
                "Not private", "The call would not be private, so it was ended." + self.staff, .warning)
        case .protocolFault:
            return Card("Call failed", "The other side's equipment made a mistake." + self.tryAgain, .warning)
        case .noAddress:
            return Card("Out of order", "This help point has not been told whom to call." + self.staff, .warning)
        case .outOfRoom:
            return Card("Not yet", "The calls before this one are still being closed." + self.later, .warning)
        }
    }

    private static let noAnswer = Card("No answer", "Nobody is answering at the moment." + Words.later, .busy)

    private static func card(_ refusal: RefusalMeaning) -> Card {
        switch refusal {
        case .busy: return Card("Line busy", "The other side is busy." + self.later, .busy)
        case .declined: return Card("Declined", "The other side cannot take your call now." + self.later, .busy)
        case .noAnswer: return self.noAnswer
        case .notAllowed:
            return Card("Not allowed", "This help point is not allowed to place this call." + self.staff, .warning)
        case .wrongPassword:
            return Card(
                "Not allowed", "The telephone system does not accept this help point's password." + self.staff,
                .warning)
        case .unknownAddress:
            return Card(
                "Unknown address", "The address that this help point calls does not exist." + self.staff, .warning)
        case .doesNotFit:
            return Card("Call failed", "The other side's equipment cannot take this call." + self.staff, .warning)
        case .overloaded:
            return Card("Overloaded", "The telephone system has too much to do." + self.later, .warning)
        case .moved: return Card("Moved", "The address that this help point calls has moved." + self.staff, .warning)
        case .notAccepted:
            return Card("Call failed", "The telephone system did not accept the call." + self.tryAgain, .warning)
        case .faulty: return Card("Call failed", "The telephone system has a fault." + self.later, .warning)
        case .impossible: return Card("Call failed", "The call cannot be completed." + self.later, .warning)
        }
    }

    /// The outcome as one text, for events and the log.
    static func sentence(_ outcome: CallOutcome) -> ByteString {
        let card = self.card(outcome)
        return card.detail.isEmpty ? card.headline + "." : card.detail
    }

    // MARK: - Faults

    /// Accounts are wanted and none is registered.
    static let cutOff: ByteString = "Not connected to the telephone server. Calls may still work."

    /// What a device that is missing means for the call; the banner says it before the technical reason.
    static func fault(_ family: DeviceFamily) -> ByteString {
        switch family {
        case .display: return "No screen"
        case .camera: return "No camera"
        case .playback: return "No loudspeaker"
        case .capture: return "No microphone"
        case .panel: return "A button or lamp does not work"
        case .network: return "No network"
        }
    }
}
