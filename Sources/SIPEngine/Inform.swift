// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// An INFO that waits to be sent.
struct Inform {
    let contentType: ByteString
    let body: [UInt8]
}

/// INFO within a call: key frames (RFC 5168), and digits from before there was RFC 4733.
extension SIPEngine {
    /// What we cannot use is refused, not swallowed: the sender may then try another way (digits as RFC 4733 events).
    mutating func receivedInfo(_ request: Inbound, at index: Int, _ id: UInt64, now: Instant) {
        let message = request.message
        // RFC 6086 section 4.2.2. We know no packages.
        guard message.infoPackage == nil else {
            return self.refuse(request, Refusal(.badInfoPackage, [Header(.recvInfo, "")]), id, now: now)
        }
        switch InfoBody(message) {
        case .nothing: self.answer(id, with: self.response(to: request, .ok, tag: nil), now: now)
        case .keyFrameRequest:
            self.answer(id, with: self.response(to: request, .ok, tag: nil), now: now)
            self.tell(self.calls[index].handle, .keyFrameRequested)
        case .digit(let digit, let durationMs):
            self.answer(id, with: self.response(to: request, .ok, tag: nil), now: now)
            self.tell(self.calls[index].handle, .digit(digit, durationMs: durationMs))
        case .faulty: self.refuse(request, Refusal(.badRequest), id, now: now)
        case .unknown:
            self.refuse(request, Refusal(.unsupportedMediaType, [Header(.accept, InfoBody.accepted)]), id, now: now)
        }
    }

    /// Whether the far end of a call says that it takes INFO; nil where it does not say.
    public func takesInfo(_ handle: CallHandle) -> Bool? {
        self.callIndex(handle).flatMap { self.calls[$0].peer.allowsInfo }
    }

    /// One after another, for digits must not overtake each other.
    mutating func inform(_ handle: CallHandle, _ type: ByteString, _ body: [UInt8], now: Instant) {
        guard let index = self.callIndex(handle) else { return self.counters.add(.lateOrder) }
        guard self.calls[index].machine.state.isConfirmed, self.calls[index].informs.count < Self.informsMax else {
            return self.tell(handle, .informed(isTaken: false))
        }
        self.calls[index].informs.append(Inform(contentType: type, body: body))
        if self.calls[index].informs.count == 1 { self.sendInform(index, now: now) }
    }

    private mutating func sendInform(_ index: Int, now: Instant) {
        guard let first = self.calls[index].informs.first, let number = self.calls[index].dialog?.takeNumber(),
            let dialog = self.calls[index].dialog
        else { preconditionFailure("a call that is confirmed has a dialog") }
        var message = dialog.request(.info, number: number)
        message.add(.contentType, first.contentType)
        message.body = first.body
        self.sendRequest(message, on: dialog.nextHop, for: .inform(self.calls[index].handle), now: now)
    }

    /// - Parameter status: the answer, or what stands for none.
    mutating func informFinished(_ handle: CallHandle, _ status: StatusCode, now: Instant) {
        guard let index = self.callIndex(handle), !self.calls[index].informs.isEmpty else { return }
        self.calls[index].informs.removeFirst()
        self.tell(handle, .informed(isTaken: status.isSuccess))
        let isDead = self.isDead(status) && self.calls[index].machine.isEstablished
        if !isDead, !self.calls[index].informs.isEmpty, self.calls[index].machine.state.isConfirmed {
            return self.sendInform(index, now: now)
        }
        for _ in self.calls[index].informs { self.tell(handle, .informed(isTaken: false)) }
        self.calls[index].informs = []
        if isDead { self.died(index, status, now: now) }
    }
}

/// What the body of an INFO says.
enum InfoBody: Equatable {
    /// Nothing that we do anything about.
    case nothing
    case keyFrameRequest
    case digit(UInt8, durationMs: Int)
    case faulty
    /// Of a type that we do not know.
    case unknown

    static let accepted: ByteString = "application/dtmf-relay, application/dtmf, application/media_control+xml"

    init(_ message: SIPMessage) {
        guard !message.body.isEmpty else {
            self = .nothing
            return
        }
        guard message.contentEncodings.isEmpty, let type = message.contentType else {
            self = .unknown
            return
        }
        if type.matches("application", "media_control+xml") {
            let isRequest = ByteString(message.body).containsIgnoringCase("picture_fast_update")
            self = isRequest ? .keyFrameRequest : .nothing
        } else if type.matches("application", "dtmf-relay") || type.matches("application", "dtmf") {
            self = Self.digit(in: ByteString(message.body))
        } else {
            self = .unknown
        }
    }

    /// `Signal=5` and `Duration=160` on lines of their own, or the digit alone, or `d=5`. No RFC says it; blanks, case
    /// and the names differ among those who send it.
    private static func digit(in body: ByteString) -> InfoBody {
        guard body.count <= Limits.digitBodyBytesMax else { return .faulty }
        var digit: UInt8?
        var durationMs = Limits.digitMs
        for line in body.split(on: ASCII.lineFeed) {
            let line = line.trimmed()
            guard !line.isEmpty else { continue }
            let equals = line.firstIndex(of: ASCII.equals)
            let name = equals.map { line.slice(0..<$0).trimmed() } ?? "signal"
            let value = equals.map { line.slice($0 + 1..<line.count).trimmed() } ?? line
            if name.equalsIgnoringCase("signal") || name.equalsIgnoringCase("d") {
                guard digit == nil, let read = self.digit(value) else { return .faulty }
                digit = read
            } else if name.equalsIgnoringCase("duration") {
                guard let read = value.decimal(max: 60_000) else { return .faulty }
                durationMs = min(max(Int(read), Limits.digitMs), Limits.digitMsMax)
            }
        }
        return digit.map { .digit($0, durationMs: durationMs) } ?? .faulty
    }

    /// `0`–`9`, `*`, `#`, `A`–`D` of either case, or the RFC 4733 event code of one: 10 is `*`, 11 `#`, 12–15 are
    /// `A`–`D`.
    private static func digit(_ value: ByteString) -> UInt8? {
        let digits = ByteString("0123456789*#ABCD").bytes
        if value.count == 1 {
            let byte = ASCII.lowercased(value.bytes[0])
            return digits.first { ASCII.lowercased($0) == byte }
        }
        return value.count == 2 ? value.decimal(max: 15).map { digits[Int($0)] } : nil
    }
}
