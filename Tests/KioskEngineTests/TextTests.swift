// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPWire
import XCTest

@testable import KioskEngine
@testable import SIPEngine

/// Texts, keys and names.
final class TextTests: XCTestCase {
    private func say(_ scene: Scene, _ word: String) -> [String: Any] {
        scene.feed(.control(Scene.client, line: ByteString(utf8Of: word)))
        return scene.replies.last ?? [:]
    }

    private func farSends(_ text: ByteString, to scene: Scene, inCall: Bool) {
        let target = SIPURI(user: "callbox", host: .address(Scene.kioskAddress.address))
        let flow = Flow(transport: .udp, local: Scene.farAddress, remote: Scene.kioskAddress)
        let destination = inCall ? MessageDestination.call(scene.atFar) : .address(target, flow)
        scene.farDoes(.message(MessageID(1), destination, text: text))
    }

    // MARK: - Texts that come

    func testATextInACallIsShownOverThePictureAndTold() {
        let scene = Scene.inCall()
        self.farSends("Is somebody\r\nhurt?", to: scene, inCall: true)
        XCTAssertEqual(scene.events("message").last?["text"] as? String, "Is somebody\r\nhurt?")
        XCTAssertEqual(scene.events("message").last?["in_call"] as? Bool, true)
        XCTAssertEqual(scene.screen?.remote, .shown)
        XCTAssertTrue(scene.screen?.detail.string.hasSuffix("Is somebody  hurt?") ?? false)
        scene.pass(60_100)
        XCTAssertEqual(scene.screen?.detail, "")
    }

    func testATextOutsideOfACallIsACardThatTheHookClears() {
        let scene = Scene()
        self.farSends("The lift comes at noon.", to: scene, inCall: false)
        XCTAssertEqual(scene.screen?.headline, "Message")
        XCTAssertEqual(scene.screen?.detail, "Far End: The lift comes at noon.")
        XCTAssertEqual(scene.screen?.callBar.map { $0.label }, ["Call", "Close"])
        XCTAssertEqual(scene.events("message").last?["in_call"] as? Bool, false)
        scene.press(.hook)
        XCTAssertEqual(scene.screen?.headline, "Press to call")
        self.farSends("x", to: scene, inCall: false)
        scene.pass(60_100)
        XCTAssertEqual(scene.screen?.headline, "Press to call")
    }

    func testTheNewestTextStands() {
        let scene = Scene.inCall()
        self.farSends("one", to: scene, inCall: true)
        scene.pass(40_000)
        self.farSends("two", to: scene, inCall: true)
        scene.pass(40_000)
        XCTAssertTrue(scene.screen?.detail.string.hasSuffix("two") ?? false)
    }

    func testATextIsShownAsTextAndBounded() {
        let from = NameAddr(SIPURI(user: "a", host: .name("b")))
        let long = ByteString([UInt8](repeating: 0x61, count: 1_000))
        let notice = Notice(IncomingMessage(call: nil, from: from, text: long), now: Scene().now)
        XCTAssertEqual(notice.text.count, Notice.textBytesMax)
        let hostile = Notice(
            IncomingMessage(call: nil, from: from, text: ByteString([0x61, 0x09, 0xFF, 0x7F, 0x62])), now: Scene().now)
        XCTAssertEqual(hostile.text, "a ??b")
    }

    // MARK: - Texts that go

    func testATextGoesToTheFarEndOfTheCall() {
        let scene = Scene.inCall()
        let reply = self.say(scene, "message We wait at the gate.")
        XCTAssertEqual(reply["ok"] as? Bool, true)
        XCTAssertTrue(scene.sent.contains { $0.hasPrefix("MESSAGE ") })
        XCTAssertEqual(scene.events("message_sent").last?["code"] as? Int, 200)
        XCTAssertEqual(scene.events("message_sent").last?["id"] as? Int, reply["id"] as? Int)
    }

    func testATextGoesToAnAddressOnceThatIsFound() {
        let scene = Scene()
        scene.forget()
        XCTAssertEqual(self.say(scene, "message sip:x@far Hello")["ok"] as? Bool, true)
        XCTAssertEqual(scene.sent.first, "MESSAGE sip:x@far SIP/2.0")
        XCTAssertEqual(scene.events("message_sent").last?["code"] as? Int, 200)
        scene.resolver = .knowsNothing
        _ = self.say(scene, "message sip:x@nowhere Hello")
        XCTAssertEqual(scene.events("message_sent").last?["code"] as? Int, 404)
    }

    func testTextsThatWaitAreBoundedAndGivenUp() {
        let scene = Scene(resolver: .isSilent)
        for _ in 0..<OutgoingText.countMax {
            XCTAssertEqual(self.say(scene, "message sip:x@far Hello")["ok"] as? Bool, true)
        }
        XCTAssertEqual(self.say(scene, "message sip:x@far Hello")["ok"] as? Bool, false)
        scene.pass(2_100)
        XCTAssertEqual(self.say(scene, "message sip:x@far Hello")["ok"] as? Bool, true)
        XCTAssertEqual(scene.events("message_sent").compactMap { $0["code"] as? Int }, [404, 404, 404, 404])
        XCTAssertEqual(scene.kiosk.texts.count, 1)
    }

    /// A kiosk whose server's name has two addresses, the first of which is not there.
    private func withADeadServer() -> Scene {
        let other = IPAddress.v4(0x0A00_0008)
        let scene = Scene(resolver: .isSilent)
        scene.addresses = [other, Scene.farAddress.address]
        scene.dead = [other]
        scene.resolver = .answers
        scene.resolves(to: scene.addresses)
        return scene
    }

    func testASilentServerIsLeftAndTheTextIsToldOnce() {
        let scene = self.withADeadServer()
        let id = self.say(scene, "message sip:x@far Hello")["id"] as? Int
        scene.pass(3_900)
        XCTAssertEqual(scene.events("message_sent").count, 0)
        scene.pass(200)
        XCTAssertEqual(scene.events("message_sent").compactMap { $0["code"] as? Int }, [200])
        XCTAssertEqual(scene.events("message_sent").last?["id"] as? Int, id)
        scene.pass(40_000)
        XCTAssertEqual(scene.events("message_sent").count, 1, "what the first one would say does not matter any more")
        XCTAssertTrue(scene.kiosk.texts.isEmpty)
        scene.forget()
        _ = self.say(scene, "message sip:x@far Again")
        XCTAssertEqual(scene.events("message_sent").last?["code"] as? Int, 200, "the next one goes to the good one")
    }

    func testAServerThatRefusesIsLeftAtOnceAndOneThatSaysNoIsNot() {
        let scene = self.withADeadServer()
        _ = self.say(scene, "message sip:x@far Hello")
        let flow = Flow(
            transport: .udp, local: Scene.kioskAddress, remote: SocketAddress(scene.dead[0], port: 5060))
        scene.feed(.flowFailed(flow))
        XCTAssertEqual(scene.events("message_sent").last?["code"] as? Int, 200)
        for (status, expected) in [(StatusCode.serviceUnavailable, "next"), (.notFound, "told"), (.ok, "told")] {
            var text = OutgoingText(id: MessageID(1), uri: States.uri, text: "x", question: ResolutionID(1))
            text.state = .sent(attempts: [], left: [States.way(1), States.way(2)], nextAt: nil)
            XCTAssertEqual(text.nextWay(as: MessageID(1), now: States.now), States.way(1))
            XCTAssertEqual(text.finished(MessageID(1), status), expected == "told" ? status : nil)
            XCTAssertEqual(text.isStuck, expected == "next")
            XCTAssertEqual(text.isOver, expected == "told")
        }
    }

    func testWhereAllServersAreSilentThatIsTold() {
        let scene = self.withADeadServer()
        scene.dead.append(Scene.farAddress.address)
        _ = self.say(scene, "message sip:x@far Hello")
        scene.pass(40_000)
        XCTAssertEqual(scene.events("message_sent").compactMap { $0["code"] as? Int }, [408])
        XCTAssertTrue(scene.kiosk.texts.isEmpty)
    }

    func testWithoutACallOrATextThereIsNothingToSend() {
        let scene = Scene()
        XCTAssertEqual(self.say(scene, "message hello")["error"] as? String, "there is no call")
        XCTAssertEqual(self.say(scene, "digits 1")["error"] as? String, "there is no call")
        scene.press(.call)
        XCTAssertEqual(self.say(scene, "message hello")["ok"] as? Bool, false)
    }

    // MARK: - Keys

    func testKeysGoAsTelephoneEventsWhereTheFarEndTakesThem() {
        let scene = Scene()
        scene.press(.call)
        let text = String(decoding: Scene.description(), as: UTF8.self).replacingOccurrences(
            of: "RTP/AVP 0\r\n", with: "RTP/AVP 0 101\r\na=rtpmap:101 telephone-event/8000\r\n")
        scene.farAnswers(.ok, Array(text.utf8))
        scene.forget()
        XCTAssertEqual(self.say(scene, "digits 1*#d")["ok"] as? Bool, true)
        XCTAssertEqual(scene.orderNames, ["digit 1", "digit *", "digit #", "digit D"])
        XCTAssertEqual(scene.sent, [])
    }

    func testElseKeysGoByInfoOneAtATime() {
        let scene = Scene.inCall()
        scene.forget()
        _ = self.say(scene, "digits 12")
        XCTAssertEqual(scene.orderNames, [])
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("INFO") }.count, 2)
        let keys = scene.farEvents.compactMap { _, event -> String? in
            guard case .digit(let key, let durationMs) = event else { return nil }
            return "\(Character(UnicodeScalar(key))) \(durationMs)"
        }
        XCTAssertEqual(keys, ["1 160", "2 160"])
    }

    func testKeysOfTheFarEndAreTold() {
        let scene = Scene.inCall()
        scene.sipTells(.digit(UInt8(ascii: "5"), durationMs: 100), of: scene.handle)
        scene.sipTells(.digit(UInt8(ascii: "6"), durationMs: 100), of: CallHandle(number: 999))
        scene.feed(.media(.digit(UInt8(ascii: "#"))))
        XCTAssertEqual(scene.events("digit").compactMap { $0["key"] as? String }, ["5", "#"])
        XCTAssertEqual(scene.events("digit").compactMap { $0["by"] as? String }, ["info", "rtp"])
    }

    func testAKeyFrameIsAskedForByInfoAndAskedOfUs() {
        let scene = Scene.inCall()
        scene.feed(.media(.keyFrameWanted))
        XCTAssertTrue(
            scene.farEvents.contains { _, event in
                if case .keyFrameRequested = event { return true }
                return false
            })
        scene.forget()
        scene.sipTells(.keyFrameRequested, of: scene.handle)
        XCTAssertEqual(scene.orderNames, ["encodeKeyFrame"])
        scene.press(.hook)
        scene.pass(100)
        scene.forget()
        scene.feed(.media(.keyFrameWanted))
        XCTAssertEqual(scene.sent, [])
    }

    // MARK: - Names

    func testWhoTheFarEndSaysItIsIsToldOnceAndShown() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.ok, Scene.description(videoPort: 0))
        let party = NameAddr(displayName: "Front desk", SIPURI(user: "desk", host: .name("x")))
        scene.sipTells(.identified(party), of: scene.handle)
        scene.sipTells(.identified(party), of: scene.handle)
        XCTAssertEqual(scene.events("identity").compactMap { $0["name"] as? String }, ["Front desk"])
        XCTAssertEqual(scene.screen?.detail, "You can speak with Front desk now.")
        scene.press(.hook)
        XCTAssertEqual(scene.events("call").last?["name"] as? String, "Front desk")
    }

    func testIdentifiedInEveryState() {
        let known = ["calling", "ringing", "early", "alerting", "connected", "transferring"]
        for (name, state) in States.all {
            var machine = States.machine(state)
            XCTAssertEqual(machine.identified(States.handle, "Ann"), known.contains(name), name)
            XCTAssertEqual(machine.state.facts?.name == "Ann", known.contains(name), name)
            XCTAssertEqual(States.name(machine.state), name)
            machine = States.machine(state)
            XCTAssertFalse(machine.identified(States.stranger, "Ann"), name)
            XCTAssertEqual(machine.state, state, name)
        }
    }
}
