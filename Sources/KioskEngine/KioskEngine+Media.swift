// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SDPWire

/// Orders to the media threads, and their reports.
extension KioskEngine {
    mutating func order(_ wishes: Wishes) {
        self.put(.media(.mute(wishes.isMuted)))
        self.put(.media(.sendVideo(!wishes.isVideoOff)))
        self.deafen(wishes.isDeaf)
    }

    private mutating func deafen(_ isDeaf: Bool) {
        guard isDeaf != self.isDeaf else { return }
        self.isDeaf = isDeaf
        self.put(.media(.deafen(isDeaf)))
    }

    /// The microphone stays silent until somebody has answered; silence is sent because some networks let sound in only
    /// where sound went out.
    mutating func startEarly(_ preview: NegotiatedSession?) {
        guard let session = self.session, let preview else { return }
        self.put(.media(.mute(true)))
        self.put(.media(.sendVideo(false)))
        self.deafen(false)
        self.put(
            .media(
                .start(
                    session.earlyPlan(preview, ntpAtZero: self.world.ntpAtZero), nil, session.protection(preview))))
        self.mediaRuns = true
        self.counters = nil
    }

    mutating func startMedia(_ negotiated: NegotiatedSession, _ wishes: Wishes) {
        guard let session = self.session else { return }
        self.order(wishes)
        let encoder = EncoderPlan(negotiated, self.world, self.configuration)
        self.put(.media(.start(session.plan(negotiated, self.world, encoder), encoder, session.protection(negotiated))))
        self.mediaRuns = true
        self.counters = nil
    }

    mutating func updateMedia(_ negotiated: NegotiatedSession) {
        guard let session = self.session else { return }
        let encoder = EncoderPlan(negotiated, self.world, self.configuration)
        let plan = session.plan(negotiated, self.world, encoder)
        self.put(.media(.update(plan, encoder, session.protection(negotiated))))
    }

    mutating func stopMedia() {
        guard self.mediaRuns else { return }
        self.mediaRuns = false
        self.announceToFarEnd(false)
        self.put(.media(.stop))
    }

    // MARK: - Reports

    mutating func media(_ report: MediaReport, now: Instant) {
        switch report {
        case .counters(let counters): self.count(counters, now: now)
        case .digit(let key):
            guard self.mediaRuns else { return }
            self.emitDigit(key, by: "rtp", now: now)
            self.confirm(now: now)
        case .keyFrameWanted: self.askForKeyFrame(now: now)
        case .secured(let kind): self.emit("secured", now: now) { $0.put("media", kind.text) }
        case .keysWearOut: self.renewKeys(now: now)
        case .notSecured(let kind, let text): return self.notSecured(kind, text, now: now)
        case .firstPacket, .firstFrameShown, .firstSoundPlayed, .silent, .resumed, .byeReceived: break
        }
        switch self.machine.media(report, now: now) {
        case .doNothing: break
        case .firstFrame(let after):
            self.notes.firstFrame = after
            self.emit("first_frame", now: now) { $0.put("ms_since_answer", msOf: after) }
        case .firstSound(let after):
            self.notes.firstSound = after
            self.emit("first_sound", now: now) { $0.put("ms_since_answer", msOf: after) }
        }
    }

    /// Whoever is there is not whom the description named, or cannot be told a secret: nothing was sent to them.
    private mutating func notSecured(_ kind: StreamKind, _ text: ByteString, now: Instant) {
        guard self.mediaRuns, let handle = self.machine.state.handle else { return }
        self.emit("not_secured", now: now) {
            $0.put("media", kind.text)
            $0.put("text", text)
            $0.put(.handshakeOfMedia)
        }
        self.fail(handle, .notPrivate, now: now)
    }

    private mutating func count(_ counters: MediaCounters, now: Instant) {
        guard self.mediaRuns else { return }
        if counters.reports > self.counters?.reports ?? 0 { self.machine.reported(now: now) }
        self.counters = counters
        self.notes.hasMedia = true
        self.emit("stats", now: now) { counters.write(to: &$0) }
    }
}

extension StreamKind {
    var text: ByteString {
        switch self {
        case .audio: return "audio"
        case .video: return "video"
        }
    }
}
