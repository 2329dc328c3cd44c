// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import XCTest

@testable import KioskEngine

/// Keys that are typed at the panel, and the ways by which they reach the far end.
final class KeypadTests: XCTestCase {
    private func type(_ keys: String, into scene: Scene) {
        for key in keys.utf8 { scene.feed(.key(key)) }
    }

    private func digits(_ scene: Scene) -> [String] {
        scene.orderNames.filter { $0.hasPrefix("digit") || $0.hasPrefix("tone") }
    }

    private static let withEvents = """
        v=0\r\no=- 1 1 IN IP4 10.0.0.1\r\ns=-\r\nc=IN IP4 10.0.0.1\r\nt=0 0\r\nm=audio 20000 RTP/AVP 0 101\r\n\
        a=rtpmap:101 telephone-event/8000\r\n
        """

    func testKeysGoOutAsEventsWhereTheyWereAgreed() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.ok, Array(Self.withEvents.utf8))
        self.type("1*#", into: scene)
        XCTAssertEqual(self.digits(scene), ["digit 1", "digit *", "digit #"])
        XCTAssertEqual(scene.events("key").compactMap { $0["state"] as? String }, ["sent", "sent", "sent"])
        XCTAssertFalse(scene.events("key").contains { $0["key"] != nil }, "what is typed is nobody's business")
    }

    func testElseByInfoElseAsTones() {
        let scene = Scene.inCall()
        scene.isCut = true
        self.type("5", into: scene)
        XCTAssertEqual(self.digits(scene), [])
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("INFO") }.count, 1)
        scene.sipTells(.informed(isTaken: false), of: scene.handle)
        self.type("6", into: scene)
        XCTAssertEqual(self.digits(scene), ["tone 5", "tone 6"], "PCMU carries tones")
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("INFO") }.count, 1)
    }

    func testKeysBeforeTheAnswerWaitForIt() {
        let scene = Scene()
        scene.press(.call)
        self.type("12", into: scene)
        scene.farAnswers(.ringing)
        self.type("3", into: scene)
        XCTAssertEqual(self.digits(scene), [])
        XCTAssertEqual(scene.events("key").compactMap { $0["state"] as? String }, ["queued", "queued", "queued"])
        scene.farAnswers(.ok, Array(Self.withEvents.utf8))
        XCTAssertEqual(self.digits(scene), ["digit 1", "digit 2", "digit 3"])
    }

    func testKeysBeforeTheAnswerAreRefusedWhereTheFileSaysSo() {
        let scene = Scene("[keypad]\nbefore_answer = refuse")
        scene.press(.call)
        self.type("12", into: scene)
        scene.farAnswers(.ok, Array(Self.withEvents.utf8))
        XCTAssertEqual(self.digits(scene), [])
        XCTAssertEqual(scene.events("key").compactMap { $0["state"] as? String }, ["refused", "refused"])
    }

    // MARK: - INFO that is refused

    /// A call whose far end takes no telephone events; `audio` is its line of formats, with what belongs to it.
    private func informing(_ audio: String) -> Scene {
        let scene = Scene()
        scene.press(.call)
        let lines = ["v=0", "o=- 1 1 IN IP4 10.0.0.1", "s=-", "c=IN IP4 10.0.0.1", "t=0 0", audio]
        scene.farAnswers(.ok, Array((lines.joined(separator: "\r\n") + "\r\n").utf8))
        scene.isCut = true
        return scene
    }

    func testKeysThatInfoDoesNotTakeAreHeardInTheirOrder() {
        let scene = self.informing("m=audio 20000 RTP/AVP 0")
        self.type("12", into: scene)
        scene.sipTells(.informed(isTaken: true), of: scene.handle)
        self.type("3", into: scene)
        XCTAssertEqual(self.digits(scene), [])
        scene.sipTells(.informed(isTaken: false), of: scene.handle)
        self.type("4", into: scene)
        XCTAssertEqual(self.digits(scene), ["tone 2"], "4 does not overtake 3")
        scene.sipTells(.informed(isTaken: false), of: scene.handle)
        scene.sipTells(.informed(isTaken: false), of: scene.handle)
        self.type("5", into: scene)
        XCTAssertEqual(self.digits(scene), ["tone 2", "tone 3", "tone 4", "tone 5"])
        XCTAssertEqual(scene.events("info_refused").count, 3)
    }

    func testAKeyThatCanGoNoOtherWayIsSaidToBeRefused() {
        let scene = self.informing("m=audio 20000 RTP/AVP 96\r\na=rtpmap:96 opus/48000/2")
        scene.forget()
        self.type("1", into: scene)
        XCTAssertEqual(scene.chimes, [])
        scene.sipTells(.informed(isTaken: false), of: scene.handle)
        self.type("2", into: scene)
        XCTAssertEqual(scene.chimes, [.lost, .lost])
        XCTAssertEqual(scene.events("key").compactMap { $0["state"] as? String }, ["sent", "refused", "refused"])
        XCTAssertEqual(self.digits(scene), [])
    }

    func testARefusedRequestForAPictureSaysNothingAboutKeys() {
        let scene = Scene.inCall()
        scene.isCut = true
        scene.feed(.media(.keyFrameWanted))
        scene.sipTells(.informed(isTaken: false), of: scene.handle)
        self.type("1", into: scene)
        XCTAssertEqual(self.digits(scene), [], "by INFO as ever")
        scene.sipTells(.informed(isTaken: false), of: scene.handle)
        XCTAssertEqual(self.digits(scene), ["tone 1"])
    }

    func testWhatWaitsIsBoundedAndForgottenWithItsCall() {
        let scene = Scene()
        scene.press(.call)
        self.type(String(repeating: "1", count: 100), into: scene)
        XCTAssertEqual(scene.events("key").filter { $0["state"] as? String == "queued" }.count, Keypad.queuedMax)
        scene.press(.hook)
        scene.pass(5_000)
        scene.press(.call)
        scene.farAnswers(.ok, Array(Self.withEvents.utf8))
        XCTAssertEqual(self.digits(scene), [])
    }

    func testEveryKeyIsHeardAtOnceAndOutOfACallDoesNothing() {
        let scene = Scene()
        scene.forget()
        self.type("5", into: scene)
        XCTAssertEqual(scene.clicks, [.digit(UInt8(ascii: "5"))])
        XCTAssertEqual(scene.events("key").first?["state"] as? String, "ignored")
    }

    func testTheKeypadButtonShowsAndHidesItInACall() {
        let scene = Scene()
        scene.press(.keypad)
        XCTAssertEqual(scene.events("keypad").count, 0)
        scene.press(.call)
        scene.press(.keypad)
        XCTAssertTrue(scene.kiosk.panel.keypad.isShown)
        scene.press(.keypad)
        XCTAssertFalse(scene.kiosk.panel.keypad.isShown)
        XCTAssertEqual(scene.events("keypad").compactMap { $0["on"] as? Bool }, [true, false])
    }

    func testFourButtonsScrollAndSelect() {
        let scene = Scene("[keypad]\ntype = scroll")
        scene.press(.call)
        scene.farAnswers(.ok, Array(Self.withEvents.utf8))
        scene.press(.keypad)
        XCTAssertEqual(scene.kiosk.panel.keypad.selectedKey, UInt8(ascii: "5"))
        XCTAssertEqual(scene.screen?.keypad, KeypadView(entered: "", selected: UInt8(ascii: "5")))
        XCTAssertEqual(scene.screen?.callBar.map { $0.label.string }, ["Select", "Hang up", "Back", "Next"])
        scene.press(.call)
        scene.press(.video)
        scene.press(.call)
        for _ in 0..<6 { scene.press(.mute) }
        scene.press(.call)
        for _ in 0..<2 { scene.press(.mute) }
        scene.press(.call)
        XCTAssertEqual(self.digits(scene), ["digit 5", "digit 6", "digit #", "digit *"])
        XCTAssertEqual(scene.kiosk.panel.keypad.typed, Array("56#*".utf8))
        XCTAssertEqual(scene.screen?.keypad?.entered, "56#*")
        XCTAssertEqual(scene.events("mute").count, 0)
        scene.press(.keypad)
        scene.press(.mute)
        XCTAssertEqual(scene.events("mute").count, 1, "hidden, the buttons are their own again")
        scene.press(.hook)
        XCTAssertEqual(scene.kiosk.panel.keypad, Keypad())
    }

    func testOnlyTheLastKeysAreShown() {
        var keypad = Keypad()
        for key in 0..<40 { keypad.type(ASCII.zero + UInt8(key % 10)) }
        XCTAssertEqual(keypad.typed.count, Keypad.shownMax)
        XCTAssertEqual(keypad.typed.last, UInt8(ascii: "9"))
    }
}
