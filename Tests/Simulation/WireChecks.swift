// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// What must hold of the messages of one kiosk from its start to its end, whatever the network and the peers do.
struct WireChecks {
    struct Fault {
        var rule: String
        var text: String
    }

    private struct Request {
        var bytes: [UInt8]
        var at: Instant
        var remote: SocketAddress
        var dialog: ByteString
        var number: UInt32
        var hasProvisional = false
        var hasFailed = false
    }

    private struct Version {
        var number: UInt64
        var body: [UInt8]
    }

    /// By branch and method.
    private var requests: [ByteString: Request] = [:]
    /// The highest number of each dialog, by Call-ID and tags.
    private var numbers: [ByteString: UInt32] = [:]
    /// Requests that came, and the final status that each was answered with, by hop and number.
    private var finals: [ByteString: Int] = [:]
    /// Session descriptions that were answered or are answers, by session.
    private var versions: [ByteString: Version] = [:]
    /// Offers that wait for their answer, by branch and method.
    private var offers: [ByteString: (session: ByteString, version: Version)] = [:]
    /// Final answers to INVITE that came in this step, by what their ACK must show.
    private var owed: [ByteString] = []
    /// The copies of a 2xx are acknowledged for at least this long.
    private static let acknowledgedMs = 31_000

    // MARK: - Steps

    mutating func endStep() -> Fault? {
        defer { self.owed.removeAll(keepingCapacity: true) }
        guard let first = self.owed.first else { return nil }
        return Fault(rule: "ack", text: "a final answer to INVITE was not acknowledged: \(first.string)")
    }

    // MARK: - What comes

    mutating func delivered(_ message: SIPMessage, now: Instant) {
        guard let via = message.topVia, let cseq = message.cseq, let branch = via.branch else { return }
        switch message.startLine {
        case .request(let method, _):
            if method != .ack { self.finals[Self.hop(via, cseq), default: 0] += 0 }
        case .response(let status, _):
            if status.isSuccess, let offer = self.offers[branch + " " + cseq.method.token] {
                self.agree(offer.session, offer.version)
            }
            guard cseq.method == .invite else { return }
            self.answered(branch, status, message, now: now)
        }
    }

    /// The network said that nobody is there: the transaction is over (RFC 3261 section 17.1.4).
    mutating func failed(_ flow: Flow) {
        for (key, request) in self.requests where request.remote == flow.remote { self.requests[key]?.hasFailed = true }
    }

    private mutating func answered(_ branch: ByteString, _ status: StatusCode, _ message: SIPMessage, now: Instant) {
        let key = branch + " INVITE"
        guard var request = self.requests[key] else { return }
        defer { self.requests[key] = request }
        if status.isProvisional {
            request.hasProvisional = true
            return
        }
        guard now < request.at + .milliseconds(Self.acknowledgedMs) else { return }
        if status.isSuccess {
            if !request.hasFailed { self.owed.append(message.to?.tag ?? "") }
        } else if !request.hasFailed {
            request.hasFailed = true
            self.owed.append(message.to?.tag ?? "")
        }
    }

    /// What names a request to who answers it (RFC 3261 section 17.2.3).
    private static func hop(_ via: Via, _ cseq: CSeq) -> ByteString {
        var key = (via.branch ?? "") + " " + via.host.printed
        key.append(byte: ASCII.colon)
        key.append(decimal: via.sentByPort)
        return key + " " + cseq.printed
    }

    // MARK: - What goes

    /// Reads what the kiosk sends, and gives what is wrong with it.
    mutating func sent(_ bytes: [UInt8], on flow: Flow, now: Instant) -> (Parcel, Fault?) {
        if flow.transport == .tcp, bytes.allSatisfy({ $0 == ASCII.carriageReturn || $0 == ASCII.lineFeed }) {
            return (Parcel(nil, bytes: bytes), nil)
        }
        do throws(SIPParseError) {
            let message = try SIPMessage.parse(bytes, framing: flow.transport == .tcp ? .stream : .datagram)
            let parcel = Parcel(message, bytes: bytes)
            guard let envelope = message.envelope, message.contains(.contentLength) else {
                return (parcel, Fault(rule: "malformed", text: "a field is missing in \(parcel.text)"))
            }
            let isCopy = self.isCopy(message, envelope, bytes)
            let fault =
                message.isRequest
                ? self.sentRequest(message, envelope, parcel, to: flow.remote, now: now)
                : self.sentResponse(message, envelope, parcel)
            return (parcel, fault ?? (isCopy ? nil : self.described(message, envelope)))
        } catch {
            let parcel = Parcel(nil, bytes: bytes)
            return (parcel, Fault(rule: "malformed", text: error.reason.string))
        }
    }

    /// What was sent before may come again after something newer.
    private func isCopy(_ message: SIPMessage, _ envelope: Envelope, _ bytes: [UInt8]) -> Bool {
        if let method = message.method {
            return self.requests[(envelope.via.branch ?? "") + " " + method.token]?.bytes == bytes
        }
        return message.status.map { self.finals[Self.hop(envelope.via, envelope.cseq)] == $0.value } ?? false
    }

    private mutating func sentRequest(
        _ message: SIPMessage, _ envelope: Envelope, _ parcel: Parcel, to remote: SocketAddress, now: Instant
    ) -> Fault? {
        guard let method = message.method, let branch = envelope.via.transactionBranch, let tag = envelope.from.tag,
            let forwards = message.maxForwards, forwards > 0
        else { return Fault(rule: "malformed", text: "no branch, tag or Max-Forwards in \(parcel.text)") }
        if method == .ack { self.owed.removeAll { $0 == envelope.to.tag ?? "" } }
        let key = branch + " " + method.token
        if let former = self.requests[key] {
            if former.bytes == parcel.bytes { return nil }
            return Fault(rule: "branch", text: "one branch for two requests, the second is \(parcel.text)")
        }
        self.requests[key] = Request(
            bytes: parcel.bytes, at: now, remote: remote, dialog: Self.dialog(envelope, tag),
            number: envelope.cseq.number)
        if method == .cancel {
            guard let invite = self.requests[branch + " INVITE"], invite.hasProvisional else {
                return Fault(rule: "cancel", text: "CANCEL before anything came back")
            }
            return nil
        }
        return self.numbered(method, envelope, tag, parcel)
    }

    private static func dialog(_ envelope: Envelope, _ tag: ByteString) -> ByteString {
        envelope.callID.text + " " + tag + " " + (envelope.to.tag ?? "")
    }

    /// Numbers rise by dialog (RFC 3261 section 12.2.1.1); those of ACK are their INVITE's.
    private mutating func numbered(
        _ method: Method, _ envelope: Envelope, _ tag: ByteString, _ parcel: Parcel
    ) -> Fault? {
        let invite = envelope.callID.text + " " + tag + " "
        let dialog = Self.dialog(envelope, tag)
        // The dialogs of a forked INVITE count on from its number, each for itself.
        let last = self.numbers[dialog] ?? self.numbers[invite]
        let number = envelope.cseq.number
        if method == .ack {
            return number <= last ?? 0 ? nil : Fault(rule: "cseq", text: "an ACK for no INVITE: \(parcel.text)")
        }
        if let last, number <= last {
            // Where the way was refused, the same request goes by the other transport (RFC 3261 section 18.1.1).
            let goesAgain = self.requests.values.contains {
                $0.hasFailed && $0.dialog == dialog && $0.number == number
            }
            guard goesAgain else { return Fault(rule: "cseq", text: "\(parcel.text) after \(last)") }
        }
        self.numbers[dialog] = max(number, last ?? 0)
        return nil
    }

    private mutating func sentResponse(_ message: SIPMessage, _ envelope: Envelope, _ parcel: Parcel) -> Fault? {
        guard let status = message.status else { return nil }
        let hop = Self.hop(envelope.via, envelope.cseq)
        guard let former = self.finals[hop] else {
            return Fault(rule: "answer", text: "an answer to nothing: \(parcel.text)")
        }
        if status.isProvisional {
            return former == 0 ? nil : Fault(rule: "answer", text: "\(parcel.text) after the final \(former)")
        }
        // 481 is answered without state: the copy may find that the call has begun. So is CANCEL: its INVITE may be over.
        let isStateless = former == 481 || status.value == 481 && envelope.cseq.method == .cancel
        if former != 0, former != status.value, !isStateless {
            return Fault(rule: "answer", text: "two final answers, \(former) and then \(parcel.text)")
        }
        self.finals[hop] = status.value
        return nil
    }

    /// What follows a description that was agreed upon has a higher version, or is the same (RFC 3264 section 8).
    private mutating func described(_ message: SIPMessage, _ envelope: Envelope) -> Fault? {
        guard message.contentType?.isSDP ?? false else { return nil }
        let lines = ByteString(message.body).split(on: ASCII.lineFeed)
        guard let origin = lines.first(where: { $0.hasPrefix("o=") })?.trimmed().split(on: ASCII.space),
            origin.count == 6, let number = origin[2].decimal()
        else { return Fault(rule: "malformed", text: "a session description without origin") }
        let version = Version(number: number, body: message.body)
        let agreed = self.versions[origin[1]]
        switch message.method {
        case .invite, .update:
            let key = (envelope.via.branch ?? "") + " " + envelope.cseq.method.token
            self.offers[key] = (origin[1], version)
        default: self.agree(origin[1], version)
        }
        // An INVITE that is sent again in other words begins a dialog of its own.
        guard let agreed, !(message.method == .invite && envelope.to.tag == nil) else { return nil }
        if number < agreed.number || number == agreed.number && message.body != agreed.body {
            return Fault(rule: "version", text: "a changed description with version \(number) after \(agreed.number)")
        }
        return nil
    }

    private mutating func agree(_ session: ByteString, _ version: Version) {
        if version.number >= self.versions[session]?.number ?? 0 { self.versions[session] = version }
    }
}
