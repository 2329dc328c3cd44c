// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Our OPTIONS: whether a server is there.
final class ProbeTests: XCTestCase {
    private let flow = Flow(
        transport: .udp, local: SocketAddress(.v4(0x0A00_0002), port: 5060),
        remote: SocketAddress(.v4(0x0A00_0001), port: 5060))
    private let target = SIPURI(host: .name("proxy.example"))
    private var now = Instant(nanoseconds: 1_000_000_000)

    private func engine() -> SIPEngine {
        SIPEngine(
            configuration: SIPConfiguration(userAgent: "t", displayName: "", identity: nil, contactUser: "c"), seed: 1)
    }

    private func drain(_ engine: inout SIPEngine) -> (sent: [SIPMessage], told: [StatusCode], wakesAt: Instant?) {
        var sent: [SIPMessage] = []
        var told: [StatusCode] = []
        while true {
            switch engine.pollOutput() {
            case .send(let bytes, _):
                if let message = try? SIPMessage.parse(bytes, framing: .datagram) { sent.append(message) }
            case .probed(_, let status): told.append(status)
            case .wait(let instant): return (sent, told, instant)
            case .close, .event, .message, .messageFinished, .registration, .credentialsRefused, .credentialsAccepted:
                break
            }
        }
    }

    private func answer(_ request: SIPMessage, _ status: StatusCode) -> [UInt8] {
        SIPMessage(respondingTo: request, status, reason: nil, toTag: "x").printed()
    }

    func testAnyFinalAnswerIsToldOnce() {
        for status in [StatusCode.ok, .methodNotAllowed, .serviceUnavailable] {
            var engine = self.engine()
            engine.handle(.probe(ProbeID(1), self.target, self.flow), now: self.now)
            let (sent, none, _) = self.drain(&engine)
            XCTAssertEqual(sent.map { $0.requestURI?.printed }, ["sip:proxy.example"])
            XCTAssertEqual(sent.first?.method, .options)
            XCTAssertEqual(none, [])
            let request = sent[0]
            engine.handle(.received(self.answer(request, .trying), on: self.flow), now: self.now)
            XCTAssertEqual(self.drain(&engine).told, [])
            engine.handle(.received(self.answer(request, status), on: self.flow), now: self.now)
            XCTAssertEqual(self.drain(&engine).told, [status])
            engine.handle(.received(self.answer(request, status), on: self.flow), now: self.now)
            XCTAssertEqual(self.drain(&engine).told, [])
        }
    }

    func testSilenceAndAFlowThatFailsAreTold() {
        var engine = self.engine()
        engine.handle(.probe(ProbeID(1), self.target, self.flow), now: self.now)
        _ = self.drain(&engine)
        engine.handle(.flowFailed(self.flow), now: self.now)
        XCTAssertEqual(self.drain(&engine).told, [.serviceUnavailable])
        engine.handle(.probe(ProbeID(2), self.target, self.flow), now: self.now)
        var wakesAt = self.drain(&engine).wakesAt
        var told: [StatusCode] = []
        while told.isEmpty, let due = wakesAt {
            engine.handle(.timeout, now: due)
            let step = self.drain(&engine)
            (told, wakesAt) = (step.told, step.wakesAt)
            self.now = due
        }
        XCTAssertEqual(told, [.requestTimeout])
        XCTAssertEqual(self.now, Instant(nanoseconds: 33_000_000_000), "timer F")
        XCTAssertTrue(engine.isIdle)
    }

    func testProbesAreBounded() {
        var engine = self.engine()
        for number in 0..<UInt64(Limits.probesMax) {
            engine.handle(.probe(ProbeID(number), self.target, self.flow), now: self.now)
            XCTAssertEqual(self.drain(&engine).told, [])
        }
        engine.handle(.probe(ProbeID(99), self.target, self.flow), now: self.now)
        XCTAssertEqual(self.drain(&engine).told, [.serviceUnavailable])
    }
}
