// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The session's life: RFC 4028. What is agreed, and how it is renewed.
extension SIPEngine {
    // MARK: - As who asks

    /// Session-Expires and Min-SE of a request within the dialog. Who refreshes goes on doing it (section 7.4); the
    /// names are those of the request's own transaction, in which we are the client.
    func sessionHeaders(at index: Int) -> [Header] {
        let agreement = self.calls[index].sessionTimer.agreement
        let minSE = max(self.configuration.minSESeconds, self.calls[index].minSESeconds)
        let asked = agreement?.seconds ?? self.configuration.sessionExpiresSeconds
        guard asked > 0 else { return [] }
        let refresher: SessionExpires.Refresher? = agreement.map { $0.isOurs ? .uac : .uas }
        let interval = SessionExpires(seconds: max(asked, minSE), refresher: refresher)
        var headers = [Header(.sessionExpires, interval.printed)]
        if minSE > Limits.sessionSecondsMin { headers.append(Header(.minSE, ByteString(decimal: minSE))) }
        return headers
    }

    mutating func sessionFired(_ timer: SIPTimer, at index: Int, now: Instant) {
        switch self.calls[index].sessionTimer.fired(timer) {
        case .sendRefresh: self.refresh(index, now: now)
        case .giveUp:
            self.counters.add(.unanswered)
            self.drop(index, .timedOut, .fault(.requestTimeout, text: "session expired"), now: now)
        case .doNothing: break
        }
    }

    /// By UPDATE without a description where the peer takes it: that cannot collide with an offer. Else by a re-INVITE
    /// with the description that stands.
    private mutating func refresh(_ index: Int, now: Instant) {
        let description = self.calls[index].localDescription
        guard self.calls[index].peer.allowsUpdate || description.isEmpty else {
            return self.calls[index].change.refresh()
        }
        let message = self.sessionRequest(.update, at: index)
        guard let dialog = self.calls[index].dialog else { preconditionFailure("a session has a dialog") }
        self.sendRequest(message, on: dialog.nextHop, for: .refresh(self.calls[index].handle), now: now)
    }

    /// The final answer to our UPDATE.
    mutating func refreshFinished(_ handle: CallHandle, _ response: SIPMessage, _ status: StatusCode, now: Instant) {
        guard let index = self.callIndex(handle), self.calls[index].machine.isEstablished else { return }
        guard !self.isDead(status) else { return self.died(index, status, now: now) }
        guard !status.isSuccess else {
            self.calls[index].dialog?.renewTarget(from: response)
            self.calls[index].peer.learn(from: response)
            self.calls[index].sessionTimer.agreed(response.sessionAgreement, now: now)
            return self.identify(response, at: index)
        }
        switch status {
        case .methodNotAllowed, .notImplemented:
            self.calls[index].peer.allowsUpdate = false
            self.calls[index].change.refresh()
        case .sessionIntervalTooSmall:
            self.calls[index].raiseInterval(response.minSESeconds)
            self.calls[index].sessionTimer.refused(now: now)
        default: self.calls[index].sessionTimer.refused(now: now)
        }
    }

    /// No answer at all, or the flow failed.
    mutating func refreshFailed(_ handle: CallHandle, _ reason: EndReason, now: Instant) {
        guard let index = self.callIndex(handle) else { return }
        guard reason == .flowFailed else { return self.died(index, .requestTimeout, now: now) }
        self.calls[index].sessionTimer.refused(now: now)
    }

    // MARK: - As who is asked

    /// 422 for an interval that is too short, from a peer that understands it (section 9). What a proxy asked for in
    /// the peer's name is raised in the answer instead.
    func intervalFault(of request: SIPMessage) -> Refusal? {
        guard let asked = request.sessionExpires, asked.seconds < self.minSESeconds, request.supportsTimer else {
            return nil
        }
        return Refusal(.sessionIntervalTooSmall, [Header(.minSE, ByteString(decimal: self.minSESeconds))])
    }

    private var minSESeconds: UInt32 { max(self.configuration.minSESeconds, Limits.sessionSecondsMin) }

    /// Settles the session's life in our 2xx, and starts to time it. The peer refreshes unless it cannot, or wants us
    /// to (section 9, table 2).
    mutating func settleSession(_ request: SIPMessage, in response: inout SIPMessage, at index: Int, now: Instant) {
        guard let asked = request.sessionExpires, asked.seconds > 0 else {
            return self.calls[index].sessionTimer.agreed(nil, now: now)
        }
        let seconds = max(asked.seconds, self.minSESeconds, request.minSESeconds ?? 0)
        let isOurs = asked.refresher == .uas || !request.supportsTimer
        let settled = SessionExpires(seconds: seconds, refresher: isOurs ? .uas : .uac)
        response.add(.sessionExpires, settled.printed)
        if !isOurs { response.add(.require, "timer") }
        self.calls[index].sessionTimer.agreed(.init(seconds: seconds, isOurs: isOurs), now: now)
    }
}

extension SIPMessage {
    var supportsTimer: Bool { ByteString.contains("timer", in: self.supported) }

    /// What a 2xx for a request of ours says of the session's life, even where we did not ask: nil for no timer. Where
    /// it does not name who refreshes, it is us (section 7.2).
    var sessionAgreement: SessionTimer.Agreement? {
        guard let settled = self.sessionExpires, settled.seconds > 0 else { return nil }
        return SessionTimer.Agreement(seconds: settled.seconds, isOurs: settled.refresher != .uas)
    }
}

extension Call {
    /// A 422 wants a longer interval.
    mutating func raiseInterval(_ seconds: UInt32?) {
        self.minSESeconds = max(self.minSESeconds, seconds ?? 0)
    }
}
