// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// One REFER of a peer's: from its coming to the last NOTIFY about it.
struct ReferralEntry {
    let id: UInt64
    /// The call within which it came.
    let call: CallHandle
    /// The REFER's transaction.
    let server: UInt64
    /// What its NOTIFYs are about: of the second and later ones in a call, the number of the REFER is the name.
    let event: Event
    /// RFC 4488: a peer may want no NOTIFY.
    let hasSubscription: Bool
    var machine: ReferralMachine
    /// The new call; nil until we follow.
    var by: CallHandle?
    /// Where that fails no other is placed.
    var isLast = true
    /// What its events said since the last NOTIFY.
    var news: ReferralMachine.Report?
    /// The call's dialog, once the call is over and only the subscription keeps it.
    var dialog: Dialog?
}

/// Being transferred: REFER (RFC 3515), as the one who is to call somebody else.
extension SIPEngine {
    mutating func receivedRefer(_ request: Inbound, at index: Int, _ id: UInt64, now: Instant) {
        let handle = self.calls[index].handle
        guard self.calls[index].machine.state.isConfirmed else {
            return self.refuse(request, Refusal(.callOrTransactionDoesNotExist), id, now: now)
        }
        // We place one call after another, so two REFERs cannot be followed at once.
        guard !self.referrals.contains(where: { $0.call == handle && $0.machine.state != .ended }) else {
            return self.refuse(request, Refusal(.requestPending), id, now: now)
        }
        guard self.referrals.count < Limits.referralsMax else {
            return self.refuse(request, Refusal(.serviceUnavailable), id, now: now)
        }
        switch ReferReading(request.message) {
        case .refused(let status): self.refuse(request, Refusal(status), id, now: now)
        case .taken(let referral):
            let number = ByteString(decimal: request.envelope.cseq.number)
            let isFirst = !self.calls[index].wasReferred
            self.calls[index].wasReferred = true
            self.referrals.append(
                ReferralEntry(
                    id: self.newNumber(), call: handle, server: id,
                    event: Event(package: "refer", id: isFirst ? nil : number),
                    hasSubscription: request.message.referSub ?? true, machine: ReferralMachine(now: now)))
            self.tell(handle, .referred(referral))
        }
    }

    private func referralIndex(of call: CallHandle) -> Int? {
        self.referrals.firstIndex { $0.call == call && $0.machine.state == .deciding }
    }

    /// The one that we follow, and whose outcome is not told yet.
    private func followedIndex(of call: CallHandle) -> Int? {
        self.referrals.firstIndex { $0.call == call && $0.by != nil && $0.news?.end == nil && !$0.machine.isClosed }
    }

    mutating func concludeReferral(_ handle: CallHandle, _ status: StatusCode) {
        guard let index = self.followedIndex(of: handle), !self.referrals[index].isLast else { return }
        self.referrals[index].isLast = true
        self.referrals[index].news = ReferralMachine.Report(status: status, end: .outcome)
    }

    mutating func followReferral(_ handle: CallHandle, by other: CallHandle, isLast: Bool, now: Instant) {
        if let index = self.followedIndex(of: handle), !self.referrals[index].isLast {
            self.referrals[index].by = other
            self.referrals[index].isLast = isLast
            return
        }
        guard let index = self.referralIndex(of: handle) else { return self.counters.add(.lateOrder) }
        let hasSubscription = self.referrals[index].hasSubscription
        switch self.referrals[index].machine.follow(hasSubscription: hasSubscription, now: now) {
        case .answer: break
        case .ignore: return self.counters.add(.lateOrder)
        }
        self.referrals[index].by = other
        self.referrals[index].isLast = isLast
        self.answerRefer(index, .accepted, now: now)
        if hasSubscription { self.notify(index, ReferralMachine.Report(status: .trying), now: now) }
    }

    mutating func refuseReferral(_ handle: CallHandle, _ status: StatusCode, now: Instant) {
        guard let index = self.referralIndex(of: handle) else { return self.counters.add(.lateOrder) }
        switch self.referrals[index].machine.refuse() {
        case .answer: self.answerRefer(index, status, now: now)
        case .ignore: self.counters.add(.lateOrder)
        }
    }

    mutating func answerRefer(_ index: Int, _ status: StatusCode, now: Instant) {
        let id = self.referrals[index].server
        guard let server = self.serverIndex(id) else { return }
        let request = self.servers[server].request
        var response = self.response(to: request, status, tag: nil)
        if status.isSuccess {
            response.add(.contact, self.contact(request.flow, isSecure: request.message.requestURI?.sip?.isSecure))
            if !self.referrals[index].hasSubscription { response.add(.referSub, "false") }
        }
        self.answer(id, with: response, now: now)
    }
}

/// What a REFER asks for, or the status that refuses it.
enum ReferReading: Equatable {
    case taken(Referral)
    case refused(StatusCode)

    init(_ message: SIPMessage) {
        let targets = message.values(.referTo)
        let referrers = message.fields(.referredBy)
        guard targets.count == 1, let target = NameAddr(targets[0]), referrers.count <= 1 else {
            self = .refused(.badRequest)
            return
        }
        guard let uri = target.uri.sip else {
            self = .refused(.unsupportedURIScheme)
            return
        }
        guard uri.parameters.value("method") ?? "INVITE" == "INVITE" else {
            self = .refused(.decline)
            return
        }
        guard let replaced = Self.replaced(uri) else {
            self = .refused(.badRequest)
            return
        }
        var headers = replaced
        if let referrer = referrers.first, message.referredBy != nil, referrer.count <= Limits.referredByBytesMax {
            headers.append(Header(.referredBy, referrer))
        }
        self = .taken(Referral(target: uri.asRequestURI, headers: headers))
    }

    /// Of the headers in a URI only Replaces is taken: whoever refers us must not write our messages (RFC 3261 section
    /// 19.1.5). Nil for a fault in it.
    private static func replaced(_ uri: SIPURI) -> [Header]? {
        let name: ByteString = "Replaces"
        let count = uri.headers.filter { $0.name.equalsIgnoringCase(name) }.count
        guard let value = uri.header(name) else { return count == 0 ? [] : nil }
        guard count <= 1, let replaces = Replaces(value) else { return nil }
        // A peer that does not know Replaces must not take this for a call of its own.
        return [Header(.replaces, replaces.printed), Header(.require, "replaces")]
    }
}

extension CallMachine.State {
    /// The peer and we are in a session that neither has left.
    var isConfirmed: Bool {
        switch self {
        case .accepted, .connected, .changing, .deciding, .reaccepted: return true
        case .calling, .proceeding, .decidingEarly, .cancelHeld, .cancelling, .offered, .answering, .closing, .ending,
            .ended:
            return false
        }
    }
}
