// SPDX-License-Identifier: Apache-2.0
import MediaEngine
import SDPWire

/// Orders to the media threads.
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
        self.put(.media(.start(session.plan(negotiated, self.world), encoder, session.protection(negotiated))))
        self.mediaRuns = true
        self.counters = nil
    }

    mutating func updateMedia(_ negotiated: NegotiatedSession) {
        guard let session = self.session else { return }
        let encoder = EncoderPlan(negotiated, self.world, self.configuration)
        self.put(.media(.update(session.plan(negotiated, self.world), encoder, session.protection(negotiated))))
    }

    mutating func stopMedia() {
        guard self.mediaRuns else { return }
        self.mediaRuns = false
        self.announceToFarEnd(false)
        self.put(.media(.stop))
    }
}
