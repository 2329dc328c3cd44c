// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine

/// Where the kiosk's one call is.
enum KioskState: Equatable {
    case idle
    case lookingUp(LookingUp)
    /// INVITE is out; nobody rings yet.
    case calling(Outgoing)
    /// The far end rings, or has the call wait or passed on.
    case ringing(Outgoing)
    /// The far end sends media before the answer: announcements, its own ring-back.
    case early(Early)
    /// Somebody calls here, and the person at the panel is to decide.
    case alerting(Alerting)
    case connected(Connected)
    /// We hung up and wait a moment for the far end to say so too.
    case ending(Ending)
    case outcome(Outcome)
    /// SIGTERM came.
    case stopping(Stopping)

    struct LookingUp: Equatable {
        var facts: CallFacts
        var targets: Targets
        var resolution: ResolutionID
        var deadline: Instant
        /// When to give up ringing; nil where nothing of this press has rung yet.
        var ringDeadline: Instant?
        var others: [CallBranch] = []
        /// All targets were called in vain, and are called again from the deadline on.
        var isPause = false
    }

    struct Outgoing: Equatable {
        var facts: CallFacts
        var targets: Targets
        var handle: CallHandle
        /// Nil until the first sign of life.
        var deadline: Instant?
        /// When to try another way, should there be no sign of life until then; nil where there is none to try.
        var wayDeadline: Instant?
        /// What the far end does in `ringing`.
        var stage = Stage.ringing
        var others: [CallBranch] = []

        enum Stage {
            case ringing
            /// 181: the call is passed on.
            case forwarded
            /// 182.
            case queued
        }
    }

    struct Early: Equatable {
        var facts: CallFacts
        var targets: Targets
        var handle: CallHandle
        var deadline: Instant
        /// 180 came: ring back here until its sound is heard (RFC 3960 section 3.2).
        var hasRung: Bool
        /// Its packets come.
        var hasSound = false
        /// Its sound was heard at the panel.
        var hasFirstSound = false
        var others: [CallBranch] = []
    }

    struct Alerting: Equatable {
        var facts: CallFacts
        var handle: CallHandle
        var deadline: Instant
        /// When it is answered by itself; nil where the person decides.
        var answersAt: Instant?
    }

    struct Connected: Equatable {
        var facts: CallFacts
        var handle: CallHandle
        var answered: Instant
        /// When the media of this far end began: later than the answer where another took its place.
        var mediaBegan: Instant
        var shape: MediaShape
        var audio: Hearing
        var video: Hearing
        /// When the last RTCP report came.
        var reported: Instant?
        var hasFirstFrame = false
        var hasFirstSound = false
        /// What we want of the session beside what every call has, as agreed.
        var intent = MediaIntent()
        /// What we have asked the far end for and it has not answered yet.
        var change: MediaIntent?
        /// The far end believes in an offer that we gave up, and a newer one is on its way. Should that be refused,
        /// what stands is to be said again.
        var isMisunderstood = false
        /// The far end is handing us over to somebody else.
        var transfer: Transfer?
        /// After so long without anything the peer has vanished.
        var patience: Duration
        /// Since when no way leads to the far end: our own network's fault, which may pass.
        var cutOffSince: Instant?
        /// Until when whoever answered has to show that it is a human; nil once that is done, or is not asked for.
        /// Meanwhile the call still rings for the person at the panel: nothing of theirs is sent, and nothing that
        /// comes is heard or seen.
        var confirmBy: Instant?
        /// How long it may last; nil for as long as it likes.
        var limit: Duration?
        /// The person was told that it is nearly over.
        var hasWarned = false

        init(
            facts: CallFacts, handle: CallHandle, answered: Instant, shape: MediaShape, patience: Duration
        ) {
            self.facts = facts
            self.handle = handle
            self.answered = answered
            self.mediaBegan = answered
            self.shape = shape
            self.audio = .awaiting(since: answered)
            self.video = .awaiting(since: answered)
            self.patience = patience
        }

        /// The far end makes us wait. Where we make it wait, that it does not listen means nothing.
        var isHeld: Bool { self.shape.isHeld && !self.intent.isHolding }

        /// What is to be sent: nobody listens in on a call that waits.
        var wishes: Wishes {
            var wishes = self.facts.wishes
            if self.intent.isHolding || self.confirmBy != nil { (wishes.isMuted, wishes.isVideoOff) = (true, true) }
            wishes.isDeaf = self.confirmBy != nil
            return wishes
        }

        /// The longest time of the call.
        var limitAlarm: CallAlarm? {
            guard let limit = self.limit else { return nil }
            if self.hasWarned { return CallAlarm(timer: .limit, at: self.answered + limit) }
            return CallAlarm(
                timer: .warn, at: self.answered + (limit - .milliseconds(KioskTimes.warningMs)))
        }

        /// Nil while any stream is heard, and on hold, where silence is no sign.
        var vanishes: Instant? {
            guard !self.shape.isHeld, !self.intent.isHolding else { return nil }
            var latest: Instant?
            if self.shape.receivesAudio {
                guard let since = self.audio.since else { return nil }
                latest = since
            }
            if self.shape.receivesVideo {
                guard let since = self.video.since else { return nil }
                latest = max(latest ?? since, since)
            }
            guard let quiet = latest else { return nil }
            let due = max(quiet, self.reported ?? quiet) + self.patience
            return self.cutOffSince.map { max(due, $0 + .milliseconds(KioskTimes.cutOffMs)) } ?? due
        }

        /// The far end's picture stands on the screen and moves.
        var showsPicture: Bool {
            guard self.hasFirstFrame, self.shape.receivesVideo, self.confirmBy == nil else { return false }
            switch self.video {
            case .hearing, .awaiting: return true
            case .silent: return false
            }
        }
    }

    /// The call that is to take the place of the one at hand.
    enum Transfer: Equatable {
        case lookingUp(LookingUp)
        case calling(Outgoing, hasRung: Bool)

        var facts: CallFacts {
            switch self {
            case .lookingUp(let state): return state.facts
            case .calling(let state, _): return state.facts
            }
        }

        /// Nil until it was placed.
        var handle: CallHandle? {
            switch self {
            case .lookingUp: return nil
            case .calling(let state, _): return state.handle
            }
        }

        var deadline: Instant? {
            switch self {
            case .lookingUp(let state): return state.deadline
            case .calling(let state, _): return [state.wayDeadline, state.deadline].compactMap { $0 }.min()
            }
        }
    }

    struct Ending: Equatable {
        var ended: EndedCall
        var handle: CallHandle
        var deadline: Instant
    }

    struct Outcome: Equatable {
        var ended: EndedCall
        var deadline: Instant
    }

    struct Stopping: Equatable {
        /// Nil where the end of the call was told before.
        var ended: EndedCall?
        var handle: CallHandle
        var deadline: Instant
    }
}
