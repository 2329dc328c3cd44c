// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine

/// What the media of the far end do to the kiosk's call.
extension KioskMachine {
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

extension KioskState.Connected {
    fileprivate mutating func set(_ kind: StreamKind, _ hearing: Hearing) {
        switch kind {
        case .audio: self.audio = hearing
        case .video: self.video = hearing
        }
    }
}
