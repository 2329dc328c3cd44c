// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// NOTIFY about a REFER that we follow: RFC 3515 section 2.4.4, with a piece of a message (RFC 3420) that says how the
/// new call goes.
extension SIPEngine {
    mutating func notify(_ index: Int, _ report: ReferralMachine.Report, now: Instant) {
        let entry = self.referrals[index]
        guard let dialog = self.takeNotifyDialog(index) else {
            return self.notified(entry.id, isTaken: false, now: now)
        }
        self.noteNumber(dialog.localCSeq, in: dialog)
        let way = dialog.nextHop
        var message = dialog.request(.notify, number: dialog.localCSeq)
        message.add(.contact, self.contact(way, isSecure: dialog.remoteTarget.isSecure))
        message.add(.event, entry.event.printed)
        message.add(.subscriptionState, self.state(of: entry, report, now: now).printed)
        if !self.configuration.userAgent.isEmpty { message.add(.userAgent, self.configuration.userAgent) }
        message.add(.contentType, "message/sipfrag;version=2.0")
        let status = report.status
        message.body = ("SIP/2.0 " + ByteString(decimal: status.value) + " " + status.reasonPhrase + "\r\n").bytes
        self.sendRequest(message, on: way, for: .notify(entry.id), now: now)
    }

    /// The call's dialog, or what is left of it, with a number taken for the next request.
    private mutating func takeNotifyDialog(_ index: Int) -> Dialog? {
        if let call = self.callIndex(self.referrals[index].call) {
            guard self.calls[call].dialog?.takeNumber() != nil else { return nil }
            return self.calls[call].dialog
        }
        guard self.referrals[index].dialog?.takeNumber() != nil else { return nil }
        return self.referrals[index].dialog
    }

    private func state(
        of entry: ReferralEntry, _ report: ReferralMachine.Report, now: Instant
    ) -> SubscriptionState {
        if let end = report.end { return SubscriptionState(.terminated, reason: end.token) }
        let left = entry.machine.timers.deadline(of: .referral).map { ($0 - now).milliseconds } ?? 0
        return SubscriptionState(.active, expiresSeconds: UInt32(clamping: left / 1_000))
    }

    mutating func notified(_ id: UInt64, isTaken: Bool, now: Instant) {
        guard let index = self.referrals.firstIndex(where: { $0.id == id }) else { return }
        switch self.referrals[index].machine.notified(isTaken: isTaken) {
        case .notify(let report): self.notify(index, report, now: now)
        case .doNothing: break
        }
    }

    mutating func referralFired(_ timer: SIPTimer, at index: Int, now: Instant) {
        switch self.referrals[index].machine.fired(timer) {
        case .refuse(let status): self.answerRefer(index, status, now: now)
        case .notify(let report): self.notify(index, report, now: now)
        case .doNothing: break
        }
    }
}

// MARK: - The new call

extension SIPEngine {
    /// Remembers what an event of the new call's means for who referred us.
    mutating func noteProgress(of handle: CallHandle, _ event: CallEvent) {
        guard let report = event.report else { return }
        let isFailure = report.end != nil && report.status != .ok
        for index in self.referrals.indices
        where self.referrals[index].by == handle && self.referrals[index].news?.end == nil {
            if isFailure, !self.referrals[index].isLast { continue }
            self.referrals[index].news = report
        }
    }

    /// Tells the news, and keeps the dialogs of calls that end now for what is still to be told. At the end of an
    /// input, before what is over is thrown away.
    mutating func settleReferrals(now: Instant) {
        for index in self.referrals.indices {
            let ended = self.calls.first { $0.handle == self.referrals[index].call && $0.machine.state == .ended }
            if let ended {
                self.referrals[index].dialog = ended.dialog
                // RFC 3261 section 15.1.2: what waits is answered even so.
                switch self.referrals[index].machine.refuse() {
                case .answer: self.answerRefer(index, .requestTerminated, now: now)
                case .ignore: break
                }
            }
            guard let news = self.referrals[index].news else { continue }
            self.referrals[index].news = nil
            switch self.referrals[index].machine.progressed(news) {
            case .notify(let report): self.notify(index, report, now: now)
            case .doNothing: break
            }
        }
    }
}

extension CallEvent {
    /// What is told about a new call; nil for what changes nothing.
    fileprivate var report: ReferralMachine.Report? {
        switch self {
        case .trying: return ReferralMachine.Report(status: .trying)
        case .ringing(let status), .earlyMedia(_, let status): return ReferralMachine.Report(status: status)
        case .answered, .answeredWithOffer: return ReferralMachine.Report(status: .ok, end: .outcome)
        case .ended(let reason): return ReferralMachine.Report(status: reason.status, end: .outcome)
        case .incoming, .confirmed, .reoffered, .keyFrameRequested, .changed, .changeRefused, .changeTakenLate,
            .identified, .digit, .informed, .referred:
            return nil
        }
    }
}

extension EndReason {
    /// The status that says best how a call ended that was never answered.
    fileprivate var status: StatusCode {
        switch self {
        case .refused(let status, phrase: _, q850: _), .redirected(let status, _): return status
        case .timedOut: return .requestTimeout
        case .localHangUp, .remoteHangUp, .cancelled, .replaced: return .requestTerminated
        case .flowFailed, .tooManyCalls: return .serviceUnavailable
        case .protocolFault: return .serverInternalError
        }
    }
}
