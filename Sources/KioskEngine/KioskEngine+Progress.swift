// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SDPWire
import SIPEngine
import SIPWire

/// What comes of a call that was placed: signs of life, media before the answer, the answer.
extension KioskEngine {
    /// A description that makes no sense before the answer costs nothing: the status alone counts.
    mutating func early(_ handle: CallHandle, _ answer: [UInt8], _ status: StatusCode, now: Instant) {
        guard self.machine.state.handle == handle, let preview = self.session?.preview(answer), preview.audio != nil
        else { return self.progressed(handle, KioskMachine.Progress(status), nil, now: now) }
        if status == .ringing { self.progressed(handle, .ringing, nil, now: now) }
        self.progressed(handle, .media, preview, now: now)
    }

    mutating func progressed(
        _ handle: CallHandle, _ progress: KioskMachine.Progress, _ preview: NegotiatedSession?, now: Instant
    ) {
        if self.machine.mayLead(handle, progress) { self.lead(handle, now: now) }
        switch self.machine.progressed(handle, progress, now: now) {
        case .ignore: break
        case .tell: self.emitCall(now: now)
        case .startMedia:
            self.startEarly(preview)
            self.emitCall(now: now)
        case .updateMedia:
            guard let session = self.session, let preview else { return }
            let plan = session.earlyPlan(preview, ntpAtZero: self.world.ntpAtZero)
            self.put(.media(.update(plan, nil, session.protection(preview))))
        }
    }

    mutating func answered(_ handle: CallHandle, _ answer: [UInt8], now: Instant) {
        self.lead(handle, now: now)
        let negotiated: NegotiatedSession?
        let fault: CallOutcome?
        if self.machine.state.handle == handle {
            negotiated = self.session?.accept(answer)
            fault = self.session?.outcomeOfFault
        } else if self.machine.state.transferHandle == handle {
            negotiated = self.transferSession?.accept(answer)
            fault = self.transferSession?.outcomeOfFault
        } else {
            return
        }
        guard let negotiated else { return self.fail(handle, fault ?? .unusableMedia, now: now) }
        self.answered(handle, negotiated, now: now)
    }

    mutating func answered(_ handle: CallHandle, _ negotiated: NegotiatedSession, now: Instant) {
        let isHandedOver = self.machine.state.facts?.isHandedOver ?? false
        if self.machine.state.handle == handle { self.dropOthers(now: now) }
        switch self.machine.answered(handle, MediaShape(negotiated), now: now) {
        case .ignore: break
        case .startMedia(let wishes):
            self.startMedia(negotiated, wishes)
            self.emitCall(now: now)
            self.greet(now: now)
        case .switchMedia(let wishes, let former):
            self.takeOver(from: former, negotiated, wishes, now: now)
        case .updateMedia(let wishes, let isHeard):
            self.order(wishes)
            self.updateMedia(negotiated)
            self.emitCall(now: now)
            self.greet(now: now)
            if isHeard {
                self.notes.firstSound = .zero
                self.emit("first_sound", now: now) { $0.put("ms_since_answer", msOf: Duration.zero) }
            }
        }
        if isHandedOver { self.emitTransfer("done", self.machine.state.facts?.peer ?? ByteString(), now: now) }
    }
}

extension KioskMachine.Progress {
    /// Of a 1xx without a session description (RFC 3261 section 21.1). Only 180 says that somebody's telephone rings.
    init(_ status: StatusCode) {
        switch status.value {
        case 180: self = .ringing
        case 181: self = .forwarded
        case 182: self = .queued
        default: self = .trying
        }
    }
}
