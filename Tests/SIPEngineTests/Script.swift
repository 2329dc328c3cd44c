// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// One engine and a peer whose every message the test writes.
final class Script {
    static let here = SocketAddress(.v4(0xC000_0201), port: 5060)
    static let there = SocketAddress(.v4(0xC000_0202), port: 5070)
    static let description = "v=0\r\no=- 7 7 IN IP4 192.0.2.2\r\ns=-\r\n"

    var engine: SIPEngine
    private(set) var now = Instant.zero
    /// What the engine sent and the test did not look at yet.
    var outbox: [(message: SIPMessage, flow: Flow)] = []
    /// Whatever it sent that is no message.
    private(set) var rawOutbox: [[UInt8]] = []
    private(set) var closed: [Flow] = []
    var events: [(handle: CallHandle, event: CallEvent)] = []
    let flow: Flow

    init(
        _ transport: SIPTransport = .udp, seed: UInt64 = 1, _ configuration: SIPConfiguration = .standard,
        name: ByteString = ""
    ) {
        self.engine = SIPEngine(configuration: configuration, seed: seed)
        self.flow = Flow(transport: transport, local: Self.here, remote: Self.there, name: name)
    }

    private(set) var messages: [IncomingMessage] = []
    var registrations: [(id: RegistrationID, event: RegistrationEvent)] = []
    /// What servers said of our credentials.
    var verdicts: [String] = []
    private(set) var finishedMessages: [(id: MessageID, status: StatusCode)] = []

    // MARK: - Inputs

    func input(_ input: SIPEngine.Input) {
        self.engine.handle(input, now: self.now)
        while true {
            switch self.engine.pollOutput() {
            case .send(let bytes, let flow):
                if let message = try? SIPMessage.parse(bytes, framing: .datagram) {
                    self.outbox.append((message, flow))
                } else {
                    self.rawOutbox.append(bytes)
                }
            case .close(let flow): self.closed.append(flow)
            case .event(let handle, let event): self.events.append((handle, event))
            case .message(let message): self.messages.append(message)
            case .messageFinished(let id, let status): self.finishedMessages.append((id, status))
            case .registration(let id, let event): self.registrations.append((id, event))
            case .credentialsRefused(let credential, let realm):
                self.verdicts.append("refused \(credential.username.string) \(realm.string)")
            case .credentialsAccepted(let credential): self.verdicts.append("accepted \(credential.username.string)")
            case .probed: XCTFail("nobody asked for a probe")
            case .wait: return
            }
        }
    }

    /// Lets time pass, with every wake-up that falls into it.
    func pass(ms: Int) {
        let end = self.now + .milliseconds(ms)
        while let wakeUp = self.engine.nextWakeUp, wakeUp.at <= end {
            self.now = max(self.now, wakeUp.at)
            self.input(.timeout)
        }
        self.now = end
    }

    func receive(_ message: SIPMessage, on flow: Flow? = nil) {
        self.input(.received(message.printed(), on: flow ?? self.flow))
    }

    func receive(_ text: String, on flow: Flow? = nil) {
        self.input(.received(Array(text.utf8), on: flow ?? self.flow))
    }

    func call(target: String = "sip:desk@192.0.2.2:5070", offer: String = Script.description) -> CallHandle {
        let handle = self.engine.newHandle()
        let uri = SIPURI(ByteString(utf8Of: target))!
        self.input(.invite(handle, InviteRequest(target: uri, flow: self.flow, offer: Array(offer.utf8))))
        return handle
    }

    // MARK: - Outputs

    /// The next message that the engine sent.
    func next(file: StaticString = #filePath, line: UInt = #line) -> SIPMessage {
        guard !self.outbox.isEmpty else {
            XCTFail("nothing was sent", file: file, line: line)
            return SIPMessage(startLine: .response(StatusCode(100), reason: ""))
        }
        return self.outbox.removeFirst().message
    }

    /// Fails unless exactly this was sent: methods and status codes, in order. Gives the messages.
    @discardableResult
    func expect(_ names: String..., file: StaticString = #filePath, line: UInt = #line) -> [SIPMessage] {
        let messages = self.outbox.map { $0.message }
        self.outbox = []
        XCTAssertEqual(messages.map { $0.name }, names, file: file, line: line)
        while messages.count < names.count { return messages + names.map { _ in Script().blank } }
        return messages
    }

    private var blank: SIPMessage { SIPMessage(startLine: .response(StatusCode(100), reason: "")) }

    func expectEvents(_ names: String..., file: StaticString = #filePath, line: UInt = #line) {
        XCTAssertEqual(self.events.map { $0.event.name }, names, file: file, line: line)
        self.events = []
    }

    // MARK: - The peer's messages

    /// An answer to a request of the engine's.
    func answer(
        _ request: SIPMessage, _ code: Int, tag: String? = "there", body: String = "", contact: String? = nil,
        headers: [(HeaderName, ByteString)] = []
    ) {
        let tag = code == 100 ? nil : tag.map { ByteString(utf8Of: $0) }
        var response = SIPMessage(respondingTo: request, StatusCode(code), toTag: tag)
        if code > 100 && code < 300 && request.method == .invite {
            response.add(.contact, ByteString(utf8Of: contact ?? "<sip:desk@192.0.2.2:5070>"))
        }
        for (name, value) in headers { response.add(name, value) }
        if !body.isEmpty {
            response.add(.contentType, "application/sdp")
            response.body = Array(body.utf8)
        }
        self.receive(response)
    }

    /// A call that stands, made by us; the outbox and the events are empty afterwards.
    func connectedCall() -> CallHandle {
        let handle = self.call()
        let invite = self.next()
        self.answer(invite, 200, body: Self.description)
        _ = self.next()
        self.events = []
        return handle
    }

    /// As `connectedCall`; gives the INVITE as well. `headers` are those of the 200.
    func connected(headers: [(HeaderName, ByteString)] = []) -> (handle: CallHandle, invite: SIPMessage) {
        let handle = self.call()
        let invite = self.next()
        self.answer(invite, 200, body: Self.description, headers: headers)
        self.expect("ACK")
        self.expectEvents("answered")
        return (handle, invite)
    }

    /// A request of the peer's within the dialog that `invite` of ours made.
    func inDialog(
        _ method: String, of invite: SIPMessage, number: Int, branch: String, body: String = "",
        headers: String = "", type: String = "application/sdp", tag: String = "there"
    ) -> String {
        let from = invite.to!.printed.string + ";tag=\(tag)"
        let to = invite.from!.printed.string
        let via = self.flow.transport == .udp ? "UDP" : "TCP"
        let content = body.isEmpty ? "" : "Content-Type: \(type)\r\n"
        return "\(method) sip:kiosk@192.0.2.1:5060 SIP/2.0\r\n"
            + "Via: SIP/2.0/\(via) 192.0.2.2:5070;branch=z9hG4bK\(branch)\r\nMax-Forwards: 70\r\n"
            + "From: \(from)\r\nTo: \(to)\r\nCall-ID: \(invite.callID!.text.string)\r\n"
            + "CSeq: \(number) \(method)\r\nContact: <sip:desk@192.0.2.2:5070>\r\n\(headers)\(content)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// A request of the peer's that makes a call, or belongs to none.
    func stranger(
        _ method: String = "INVITE", callID: String = "c1", branch: String = "b1", tag: String = "f1",
        toTag: String = "",
        number: Int = 1, cseqMethod: String? = nil, uri: String = "sip:kiosk@192.0.2.1", body: String? = nil,
        headers: String = "", via: String? = nil, type: String = "application/sdp"
    ) -> String {
        let body = body ?? (method == "INVITE" ? Self.description : "")
        let transport = self.flow.transport == .udp ? "UDP" : "TCP"
        let content = body.isEmpty ? "" : "Content-Type: \(type)\r\n"
        let via = via ?? "SIP/2.0/\(transport) 192.0.2.2:5070;rport;branch=z9hG4bK\(branch)"
        let to = toTag.isEmpty ? "" : ";tag=\(toTag)"
        return "\(method) \(uri) SIP/2.0\r\nVia: \(via)\r\nMax-Forwards: 70\r\n"
            + "From: \"Desk\" <sip:desk@192.0.2.2>;tag=\(tag)\r\nTo: <sip:kiosk@192.0.2.1>\(to)\r\n"
            + "Call-ID: \(callID)\r\nCSeq: \(number) \(cseqMethod ?? method)\r\n"
            + "Contact: <sip:desk@192.0.2.2:5070>\r\n\(headers)\(content)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}

// MARK: - Calls that come in

extension Script {
    /// The handle of the call that came in last.
    func incoming(file: StaticString = #filePath, line: UInt = #line) -> CallHandle {
        guard let last = self.events.last, case .incoming = last.event else {
            XCTFail("no call came in", file: file, line: line)
            return CallHandle(number: 0)
        }
        return last.handle
    }

    /// A call of the peer's that was answered and acknowledged.
    func connectedIncoming() -> CallHandle {
        self.receive(self.stranger())
        let handle = self.incoming()
        self.input(.respond(handle, .ok, body: Array(Self.description.utf8)))
        self.receive(self.acknowledge(self.next()))
        self.expectEvents("incoming", "confirmed")
        return handle
    }

    /// The ACK for a 2xx of the engine's.
    func acknowledge(_ answer: SIPMessage, branch: String = "ack", number: Int = 1, body: String = "") -> String {
        self.stranger("ACK", branch: branch, toTag: answer.to?.tag?.string ?? "", number: number, body: body)
    }

    /// A request within the call that came in.
    func within(
        _ method: String, number: Int, branch: String, body: String = "", headers: String = "",
        type: String = "application/sdp"
    ) -> String {
        let tag = self.engine.calls.first?.localTag.string ?? "gone"
        return self.stranger(
            method, branch: branch, toTag: tag, number: number, body: body, headers: headers, type: type)
    }
}

extension SIPMessage {
    /// `INVITE`, `200`.
    var name: String {
        switch self.startLine {
        case .request(let method, _): return method.token.string
        case .response(let status, _): return "\(status.value)"
        }
    }
}
