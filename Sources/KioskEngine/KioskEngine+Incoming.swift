// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPEngine
import SIPWire

/// Calls from outside, and changes that the far end wants in a call.
extension KioskEngine {
    mutating func incoming(_ handle: CallHandle, _ call: IncomingCall, now: Instant) {
        let peer = call.from.uri.printed
        switch self.machine.incoming(policy: self.configuration.call.incoming) {
        case .refuse(let status): self.refuse(handle, status, peer, now: now)
        case .answer:
            var session = MediaSession(address: call.flow.local.address, generator: &self.generator)
            guard let offer = call.offer else {
                return self.acceptWithOffer(handle, peer, session, now: now)
            }
            guard let answer = session.makeAnswer(to: offer, self.world, self.configuration) else {
                return self.refuse(handle, .notAcceptableHere, peer, now: now)
            }
            switch self.machine.accepted(handle, from: peer, MediaShape(answer.session), now: now) {
            case .ignore: self.refuse(handle, .busyHere, peer, now: now)
            case .startMedia:
                self.session = session
                self.tell(.respond(handle, .ok, body: answer.body), now: now)
                self.startMedia(answer.session, Wishes())
                self.announceLive(now: now)
            }
        }
    }

    /// The caller wants us to offer: what the call has is known when its ACK comes.
    private mutating func acceptWithOffer(
        _ handle: CallHandle, _ peer: ByteString, _ session: MediaSession, now: Instant
    ) {
        var session = session
        let offer = session.makeOffer(self.world, self.configuration)
        switch self.machine.accepted(handle, from: peer, MediaShape(), now: now) {
        case .ignore: self.refuse(handle, .busyHere, peer, now: now)
        case .startMedia:
            self.session = session
            self.tell(.respond(handle, .ok, body: offer), now: now)
            self.announceLive(now: now)
        }
    }

    /// Nobody here pressed anything: whoever stands by hears that somebody listens.
    private mutating func announceLive(now: Instant) {
        self.put(.tone(.key))
        self.emitCall(now: now)
    }

    private mutating func refuse(_ handle: CallHandle, _ status: StatusCode, _ peer: ByteString, now: Instant) {
        self.tell(.respond(handle, status, body: []), now: now)
        self.emit("incoming_refused", now: now) {
            $0.put("uri", peer)
            $0.put("code", status.value)
        }
    }

    /// An ACK came. It matters where the offer was ours.
    mutating func confirmed(_ handle: CallHandle, _ answer: [UInt8]?, now: Instant) {
        guard self.machine.state.handle == handle, self.session?.awaitsAnswer == true else { return }
        guard let answer, let negotiated = self.session?.accept(answer) else {
            return self.failUnusable(handle, now: now)
        }
        self.renegotiated(handle, negotiated, now: now)
    }

    mutating func reoffered(_ handle: CallHandle, _ offer: [UInt8]?, now: Instant) {
        switch self.machine.reoffered(handle) {
        case .refuse(let status): self.tell(.respond(handle, status, body: []), now: now)
        case .negotiate:
            guard let offer else {
                let body = self.session?.makeOffer(self.world, self.configuration) ?? []
                return self.tell(.respond(handle, .ok, body: body), now: now)
            }
            guard let answer = self.session?.makeAnswer(to: offer, self.world, self.configuration) else {
                return self.tell(.respond(handle, .notAcceptableHere, body: []), now: now)
            }
            self.tell(.respond(handle, .ok, body: answer.body), now: now)
            self.renegotiated(handle, answer.session, now: now)
        }
    }

    private mutating func renegotiated(_ handle: CallHandle, _ negotiated: NegotiatedSession, now: Instant) {
        switch self.machine.renegotiated(handle, MediaShape(negotiated), now: now) {
        case .ignore: break
        case .updateMedia(let hold):
            if self.mediaRuns {
                self.updateMedia(negotiated)
            } else {
                self.startMedia(negotiated, self.machine.state.facts?.wishes ?? Wishes())
            }
            if let hold { self.emit("hold", now: now) { $0.put("on", hold) } }
        }
    }
}
