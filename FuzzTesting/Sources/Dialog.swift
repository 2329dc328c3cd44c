// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPEngine
import SIPWire

/// A whole SIP engine in calls with a peer that says anything at any time. The input is a script: acts, each a letter
/// and what it needs, between record separators (0x1E). Whatever the script, the engine is idle half an hour after all
/// was hung up.
func fuzzDialog(_ input: [UInt8]) {
    var stage = Stage()
    for act in ByteString(input).split(on: 0x1E).prefix(64) {
        guard let letter = act.bytes.first else { continue }
        stage.perform(letter, act.slice(1..<act.count))
    }
    stage.end()
}

private struct Stage {
    private static let here = SocketAddress(.v4(0xC000_0201), port: 5_060)
    private static let there = SocketAddress(.v4(0xC000_0202), port: 5_070)
    private static let description = Array("v=0\r\no=- 1 1 IN IP4 192.0.2.2\r\ns=-\r\nt=0 0\r\n".utf8)

    private var engine: SIPEngine
    private var now = Instant.zero
    private var flow = Flow(transport: .udp, local: Self.here, remote: Self.there)
    private var calls: [CallHandle] = []
    /// The last request the engine sent, and the last one but ACK and CANCEL: what the peer speaks about.
    private var request: SIPMessage?
    private var invite: SIPMessage?
    private var number: UInt32 = 1

    init() {
        var configuration = SIPConfiguration(userAgent: "k", displayName: "", identity: nil, contactUser: "k")
        configuration.access.isOpen = true
        self.engine = SIPEngine(configuration: configuration, seed: 1)
    }

    mutating func perform(_ letter: UInt8, _ text: ByteString) {
        let last = self.calls.last
        switch letter {
        case UInt8(ascii: "i"): self.call(offer: text.isEmpty ? [] : Self.description)
        case UInt8(ascii: "t"): self.pass(Duration.milliseconds(100 * Int(text.bytes.first ?? 1)))
        case UInt8(ascii: "x"): self.give(.received(text.bytes, on: self.flow))
        case UInt8(ascii: "s"): self.answer(text)
        case UInt8(ascii: "q"): self.ask(text)
        case UInt8(ascii: "f"): self.give(.flowFailed(self.flow))
        case UInt8(ascii: "w"): self.flow.transport = self.flow.transport == .udp ? .tcp : .udp
        default:
            if let last { self.order(letter, text, last) }
        }
    }

    private mutating func order(_ letter: UInt8, _ text: ByteString, _ call: CallHandle) {
        switch letter {
        case UInt8(ascii: "h"): self.give(.hangUp(call, .normal))
        case UInt8(ascii: "r"):
            let status = StatusCode(wire: text.slice(0..<3).decimal() ?? 0) ?? .ok
            self.give(.respond(call, status, body: status.isSuccess ? Self.description : []))
        case UInt8(ascii: "a"): self.give(.acknowledge(call, answer: Self.description))
        case UInt8(ascii: "c"): self.give(.reoffer(call, offer: Self.description))
        case UInt8(ascii: "n"): self.give(.inform(call, contentType: "application/dtmf-relay", body: text.bytes))
        case UInt8(ascii: "m"): self.give(.message(MessageID(1), .call(call), text: text))
        case UInt8(ascii: "k"): self.give(.refuseReferral(call, StatusCode(603)))
        case UInt8(ascii: "j"):
            let handle = self.engine.newHandle()
            self.give(.followReferral(call, by: handle))
            self.place(handle, offer: Self.description)
        default: break
        }
    }

    /// Everything is hung up, and time goes by.
    mutating func end() {
        for call in self.calls { self.give(.hangUp(call, .normal)) }
        self.pass(Duration.milliseconds(1_800_000))
        require(self.engine.isIdle, "nothing is left of any call")
    }

    // MARK: - The engine

    private mutating func call(offer: [UInt8]) {
        self.place(self.engine.newHandle(), offer: offer)
    }

    private mutating func place(_ handle: CallHandle, offer: [UInt8]) {
        self.calls.append(handle)
        let target = SIPURI(user: "desk", host: .address(Self.there.address), port: Self.there.port)
        self.give(.invite(handle, InviteRequest(target: target, flow: self.flow, offer: offer)))
    }

    private mutating func give(_ input: SIPEngine.Input) {
        self.engine.handle(input, now: self.now)
        for _ in 0..<1_024 {
            switch self.engine.pollOutput() {
            case .wait: return
            case .send(let bytes, _): self.remember(bytes)
            case .event(let call, .incoming): self.calls.append(call)
            case .event, .close, .message, .messageFinished, .registration: break
            }
        }
        fatalError("the engine comes to rest")
    }

    private mutating func pass(_ span: Duration) {
        let end = self.now + span
        for _ in 0..<20_000 {
            guard case .wait(let until?) = self.engine.pollOutput(), until <= end else {
                self.now = end
                return
            }
            self.now = max(self.now, until)
            self.give(.timeout)
        }
        fatalError("timers end")
    }

    // MARK: - The peer

    private mutating func remember(_ bytes: [UInt8]) {
        guard let message = try? SIPMessage.parse(bytes, framing: .datagram), message.isRequest else { return }
        self.request = message
        if message.method == .invite { self.invite = message }
    }

    /// `s200` and header lines: an answer to the engine's last request; `S` in their place answers the last INVITE.
    private mutating func answer(_ text: ByteString) {
        let isLate = text.bytes.last == UInt8(ascii: "S")
        guard let request = isLate ? self.invite : self.request, let code = text.slice(0..<3).decimal(),
            let status = StatusCode(wire: code)
        else { return }
        var response = SIPMessage(respondingTo: request, status, toTag: "there")
        response.add(.contact, "<sip:desk@192.0.2.2:5070>")
        self.finish(&response, lines: text.slice(3..<max(3, text.count)))
    }

    /// `qBYE` and header lines: a request of the peer's, within the dialog of the last INVITE where there is one.
    private mutating func ask(_ text: ByteString) {
        let lines = text.split(on: ASCII.lineFeed)
        guard let method = Method(lines[0]) else { return }
        self.number &+= 1
        var request = SIPMessage(
            startLine: .request(method, .sip(SIPURI(user: "k", host: .address(Self.here.address)))))
        request.add(.via, "SIP/2.0/UDP 192.0.2.2:5070;branch=z9hG4bK" + ByteString(decimal: self.number))
        request.add(.from, self.invite.flatMap { $0.first(.to) }.map { $0 + ";tag=there" } ?? "<sip:a@h>;tag=there")
        request.add(.to, self.invite?.first(.from) ?? "<sip:k@h>")
        request.add(.callID, self.invite?.first(.callID) ?? "c")
        request.add(.cseq, ByteString(decimal: self.number) + " " + method.token)
        request.add(.contact, "<sip:desk@192.0.2.2:5070>")
        self.finish(&request, lines: text.slice(lines[0].count..<text.count))
    }

    /// Adds what the script wants: header lines, each in place of what stands there; a body of SDP unless it is `-`.
    private mutating func finish(_ message: inout SIPMessage, lines: ByteString) {
        var hasBody = true
        for line in lines.split(on: ASCII.lineFeed).prefix(8) {
            if line == "-" { hasBody = false }
            guard let colon = line.firstIndex(of: ASCII.colon), let name = HeaderName(line.slice(0..<colon)) else {
                continue
            }
            message.set(name, line.slice(colon + 1..<line.count).trimmed())
        }
        if hasBody {
            if !message.contains(.contentType) { message.add(.contentType, "application/sdp") }
            message.body = Self.description
        }
        self.give(.received(message.printed(), on: self.flow))
    }
}
