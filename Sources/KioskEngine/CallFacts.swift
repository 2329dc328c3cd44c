// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Which way a call was placed.
enum CallDirection: Equatable {
    case outgoing
    case incoming

    var text: ByteString {
        switch self {
        case .outgoing: return "outgoing"
        case .incoming: return "incoming"
        }
    }
}

/// What the person at the panel wants sent.
struct Wishes: Equatable {
    var isMuted = false
    var isVideoOff = false
    /// What comes is not to be heard: nobody's wish, but of a call that is not confirmed.
    var isDeaf = false
}

/// What every call has from its first moment.
struct CallFacts: Equatable {
    var direction: CallDirection
    /// The far end's address as text.
    var peer: ByteString
    var began: Instant
    var wishes = Wishes()
    /// Who the far end says it is, for people; empty where it did not say.
    var name = ByteString()
    /// Being called because the former far end has handed the person over, and has left.
    var isHandedOver = false
    /// Who is called next should this one not answer. Empty once somebody has answered for good.
    var plan = CallPlan()
    /// Which target of the plan this is; nil for calls without a plan.
    var target: CallTarget?
}

/// Which ways media flow, as negotiated.
struct MediaShape: Equatable {
    /// Sound was agreed upon, though it may flow neither way at the moment.
    var hasAudio = false
    var sendsAudio = false
    var receivesAudio = false
    var receivesVideo = false

    /// The far end does not want to hear us, which nobody asks for but to make us wait (RFC 3264 section 8.4).
    var isHeld: Bool { self.hasAudio && !self.sendsAudio }
}

/// Whether a stream is heard of.
enum Hearing: Equatable {
    /// Nothing came yet; it should have begun then.
    case awaiting(since: Instant)
    case hearing
    /// It stopped then.
    case silent(since: Instant)

    /// When it was heard last, or should have begun; nil while it is heard.
    var since: Instant? {
        switch self {
        case .awaiting(let since), .silent(let since): return since
        case .hearing: return nil
        }
    }
}

/// A call that was answered and is over, or was never answered.
struct EndedCall: Equatable {
    var facts: CallFacts
    var outcome: CallOutcome
    var answered: Instant?
    var ended: Instant

    /// From the answer to the end.
    var length: Duration { self.answered.map { self.ended - $0 } ?? .zero }
}
