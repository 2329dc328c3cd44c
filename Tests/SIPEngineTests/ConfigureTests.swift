// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Who we are changes while the engine lives.
final class ConfigureTests: XCTestCase {
    private let flow = Flow(
        transport: .udp, local: SocketAddress(.v4(0x0A00_0002), port: 5060),
        remote: SocketAddress(.v4(0x0A00_0001), port: 5060))

    private func sent(_ engine: inout SIPEngine) -> [SIPMessage] {
        var sent: [SIPMessage] = []
        while true {
            switch engine.pollOutput() {
            case .send(let bytes, _):
                if let message = try? SIPMessage.parse(bytes, framing: .datagram) { sent.append(message) }
            case .wait: return sent
            case .close, .event, .message, .messageFinished, .registration, .credentialsRefused, .credentialsAccepted,
                .probed:
                break
            }
        }
    }

    private func invite(_ engine: inout SIPEngine) -> SIPMessage? {
        let target = SIPURI(user: "help", host: .name("far"))
        let request = InviteRequest(target: target, flow: self.flow, offer: [])
        engine.handle(.invite(engine.newHandle(), request), now: .zero)
        return self.sent(&engine).first
    }

    private func probe(_ from: IPAddress) -> [UInt8] {
        let lines = [
            "OPTIONS sip:kiosk@10.0.0.2 SIP/2.0", "Via: SIP/2.0/UDP \(from.text.string):5060;branch=z9hG4bKo",
            "Max-Forwards: 70", "From: <sip:x@y>;tag=a", "To: <sip:kiosk@10.0.0.2>", "Call-ID: o", "CSeq: 1 OPTIONS",
            "Content-Length: 0", "", "",
        ]
        return Array(lines.joined(separator: "\r\n").utf8)
    }

    func testWhatIsSentFromThenOnSaysTheNewNames() {
        var engine = SIPEngine(configuration: .standard, seed: 1)
        XCTAssertEqual(self.invite(&engine)?.first(.userAgent), "Callbox")
        var next = SIPConfiguration.standard
        next.userAgent = "Gate/2"
        next.displayName = "South"
        next.contactUser = "south"
        engine.handle(.configure(next), now: .zero)
        XCTAssertEqual(self.sent(&engine).count, 0)
        let invite = self.invite(&engine)
        XCTAssertEqual(invite?.first(.userAgent), "Gate/2")
        XCTAssertEqual(invite?.from?.displayName, "South")
        XCTAssertEqual(invite?.contacts?.first?.uri.printed, "sip:south@10.0.0.2:5060")
    }

    func testWhoMayTalkToUsIsWhomTheNewOneNames() {
        var engine = SIPEngine(configuration: .withAccess { $0.isOpen = false }, seed: 1)
        let bytes = self.probe(self.flow.remote.address)
        engine.handle(.received(bytes, on: self.flow), now: .zero)
        XCTAssertEqual(self.sent(&engine).count, 0)
        engine.handle(.configure(.standard), now: .zero)
        _ = self.sent(&engine)
        engine.handle(.received(bytes, on: self.flow), now: .zero)
        XCTAssertEqual(self.sent(&engine).map { $0.status }, [.ok])
    }
}
