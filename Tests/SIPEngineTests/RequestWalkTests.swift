// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Seeded walks through all that goes on around calls: transfers, texts, INFOs, streams that fail, answers of any kind.
/// Whatever happened, nothing is left once everybody is silent.
final class RequestWalkTests: XCTestCase {
    private final class Walk {
        let script: Script
        private var generator: Generator
        private var number = 10
        /// The kinds of events and requests there were.
        private(set) var seen: Set<String> = []
        private var id: UInt64 = 0

        init(seed: UInt64) {
            self.generator = Generator(seed: seed)
            let transport: SIPTransport = seed % 3 == 0 ? .tcp : .udp
            let policy: SIPConfiguration = seed % 2 == 0 ? .standard : .withAccess { _ in }
            self.script = Script(transport, seed: seed, policy)
        }

        private func draw(_ bound: Int) -> Int { Int(self.generator.below(UInt64(bound))) }

        private var anyCall: CallHandle {
            let live = self.script.engine.calls.map { $0.handle } + [CallHandle(number: 0)]
            return live[self.draw(live.count)]
        }

        private var text: [UInt8] { [UInt8](repeating: 0x61, count: self.draw(4) == 0 ? 1_400 : 10) }

        private var streamFlow: Flow {
            Flow(transport: .tcp, local: self.script.flow.local, remote: self.script.flow.remote)
        }

        func run(steps: Int) {
            for _ in 0..<steps {
                self.step()
                self.seen.formUnion(self.script.events.map { String($0.event.name.prefix { $0 != " " }) })
                let events = self.script.events
                self.script.events = []
                for event in events { self.react(to: event.event, event.handle) }
                self.seen.formUnion(self.script.outbox.suffix(4).map { $0.message.name })
                if self.draw(3) > 0 { self.script.pass(ms: self.draw(900)) }
            }
        }

        private func react(to event: CallEvent, _ handle: CallHandle) {
            guard case .referred(let referral) = event, self.draw(3) > 0 else { return }
            let by = self.script.engine.newHandle()
            self.script.input(.followReferral(handle, by: by))
            guard self.draw(4) > 0 else { return }
            let request = InviteRequest(
                target: referral.target, flow: self.script.flow, offer: self.text, extraHeaders: referral.headers)
            self.script.input(.invite(by, request))
        }

        /// Most calls that come in are taken.
        private func incoming() {
            self.number += 1
            self.script.receive(self.script.stranger(callID: "c\(self.number)", branch: "b\(self.number)"))
            guard case .incoming? = self.script.events.last?.event, self.draw(4) > 0 else { return }
            self.script.input(.respond(self.script.incoming(), .ok, body: [0x76]))
            self.acknowledge()
        }

        /// The ACK of our newest 2xx.
        private func acknowledge() {
            let accepted = self.script.outbox.map { $0.message }.last { $0.name == "200" && $0.cseq?.method == .invite }
            guard let accepted, let callID = accepted.callID?.text.string else { return }
            let tag = accepted.to?.tag?.string ?? ""
            let number = Int(accepted.cseq?.number ?? 0)
            self.script.receive(self.script.stranger("ACK", callID: callID, branch: "k", toTag: tag, number: number))
        }

        private func step() {
            switch self.draw(15) {
            case 0: _ = self.script.call(offer: String(decoding: self.text, as: UTF8.self))
            case 1: self.incoming()
            case 2:
                self.script.input(.respond(self.anyCall, StatusCode([180, 200, 200, 486][self.draw(4)]), body: [0x76]))
            case 3: self.script.input(.hangUp(self.anyCall, .normal))
            case 4: self.script.input(.inform(self.anyCall, contentType: "application/dtmf", body: self.text))
            case 5: self.sendText()
            case 6: self.script.input(.followReferral(self.anyCall, by: self.anyCall))
            case 7: self.script.input(.refuseReferral(self.anyCall, .decline))
            case 8: self.script.input(.flowFailed(self.draw(2) == 0 ? self.streamFlow : self.script.flow))
            case 9, 10: self.answerSomething()
            case 11: self.acknowledge()
            default: self.requestSomething()
            }
        }

        private func sendText() {
            self.id += 1
            let address = MessageDestination.address(SIPURI("sip:a@192.0.2.2:5070")!, self.script.flow)
            let destination = self.draw(2) == 0 ? address : .call(self.anyCall)
            self.script.input(.message(MessageID(self.id), destination, text: ByteString(self.text)))
        }

        private func answerSomething() {
            let requests = self.script.outbox.map { $0.message }.filter { $0.isRequest && $0.method != .ack }
            guard !requests.isEmpty else { return }
            let codes = [100, 180, 200, 200, 200, 202, 302, 404, 408, 481, 486, 491, 500, 503]
            let code = codes[self.draw(codes.count)]
            let body = self.draw(2) == 0 ? Script.description : ""
            self.script.answer(requests[self.draw(requests.count)], code, body: body)
        }

        /// Within any call that there is, or none.
        private func requestSomething() {
            let live = self.script.engine.calls.filter { $0.dialog != nil }
            self.number += 1
            let method = ["REFER", "REFER", "REFER", "INFO", "MESSAGE", "NOTIFY", "SUBSCRIBE", "BYE", "OPTIONS"][
                self.draw(9)]
            let fields = [
                "Refer-To: <sip:x@192.0.2.9>\r\n", "Refer-To: <sip:x@192.0.2.9>\r\nRefer-Sub: false\r\n", "",
            ][self.draw(3)]
            var message = self.script.stranger(
                method, branch: "w\(self.number)", number: self.number, body: ["", "5", "x"][self.draw(3)],
                headers: fields, type: ["application/dtmf", "text/plain"][self.draw(2)])
            if !live.isEmpty, let dialog = live[self.draw(live.count)].dialog {
                message = message.replacingOccurrences(of: "Call-ID: c1", with: "Call-ID: \(dialog.callID.text.string)")
                    .replacingOccurrences(of: "tag=f1", with: "tag=\(dialog.remoteTag?.string ?? "")")
                    .replacingOccurrences(
                        of: "To: <sip:kiosk@192.0.2.1>", with: "To: <sip:kiosk@192.0.2.1>;tag=\(dialog.localTag.string)"
                    )
            }
            self.script.receive(message)
        }

        func settle() {
            for call in self.script.engine.calls { self.script.input(.hangUp(call.handle, .normal)) }
            self.script.pass(ms: 700_000)
        }
    }

    func testNothingIsLeftBehind() {
        var seen: Set<String> = []
        for seed in 0..<60 as Range<UInt64> {
            let walk = Walk(seed: seed)
            walk.run(steps: 60)
            walk.settle()
            seen.formUnion(walk.seen)
            let engine = walk.script.engine
            XCTAssertTrue(
                engine.isIdle,
                "seed \(seed): \(engine.callCount) \(engine.clients.count) \(engine.servers.count)"
                    + " \(engine.referrals.count)"
            )
            XCTAssertNil(engine.nextWakeUp, "seed \(seed)")
        }
        let wanted = [
            "answered", "confirmed", "referred", "informed", "digit", "ended", "NOTIFY", "INFO", "MESSAGE", "202",
        ]
        XCTAssertTrue(seen.isSuperset(of: wanted), "the walks met only \(seen.sorted())")
    }
}
