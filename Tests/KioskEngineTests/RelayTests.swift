// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import XCTest

@testable import KioskEngine

/// Relays by state and by the far end's code.
final class RelayTests: XCTestCase {
    private func type(_ keys: String, into scene: Scene) {
        for key in keys.utf8 { scene.feed(.media(.digit(key))) }
    }

    private let byCode = "[relay.1]\nline = door\ncode = 4711\npulse = 2000\n"

    // MARK: - By state

    func testARelayIsOnInTheStatesOfTheFileAndOffAfterThem() {
        let scene = Scene("[relay.2]\nline = light\non = calling, ringing, connected\n")
        XCTAssertEqual(scene.relays, [], "off at the start")
        scene.press(.call)
        XCTAssertEqual(scene.relays, ["2 on"])
        scene.farAnswers()
        XCTAssertEqual(scene.relays, ["2 on"])
        scene.press(.hook)
        XCTAssertEqual(scene.relays, ["2 on", "2 off"])
        XCTAssertEqual(scene.events("relay").compactMap { $0["number"] as? Int }, [2, 2])
    }

    func testARelayIsOffAfterItsLongestTimeAndStaysSoForThatState() {
        let scene = Scene("[relay.1]\nline = light\non = idle\nmax = 5\n")
        XCTAssertEqual(scene.relays, ["1 on"])
        scene.pass(4_900)
        XCTAssertEqual(scene.relays, ["1 on"])
        scene.pass(200)
        XCTAssertEqual(scene.relays, ["1 on", "1 off"])
        scene.pass(100_000)
        XCTAssertEqual(scene.relays, ["1 on", "1 off"])
        scene.press(.call)
        scene.press(.hook)
        scene.pass(3_000)
        XCTAssertEqual(scene.relays.last, "1 on", "the state came anew")
    }

    func testEveryRelayIsOffWhenTheProgramEnds() {
        let scene = Scene("[relay.1]\nline = light\non = idle\n[relay.3]\nline = other\non = idle, connected\n")
        scene.feed(.terminate)
        XCTAssertEqual(scene.relays, ["1 on", "3 on", "1 off", "3 off"])
        XCTAssertEqual(scene.exits, [0])
    }

    // MARK: - By code

    func testTheOwnersCodeSwitchesForThePulse() {
        let scene = Scene.inCall(self.byCode)
        self.type("4711", into: scene)
        XCTAssertEqual(scene.relays, [], "it ends with #")
        self.type("#", into: scene)
        XCTAssertEqual(scene.relays, ["1 on"])
        XCTAssertEqual(scene.events("relay").first?["by"] as? String, "code")
        scene.pass(1_900)
        XCTAssertEqual(scene.relays, ["1 on"])
        scene.pass(200)
        XCTAssertEqual(scene.relays, ["1 on", "1 off"])
    }

    func testThereIsNoCodeByItself() {
        let scene = Scene.inCall("[relay.1]\nline = door\n")
        for code in ["#", "0000#", "1234#", "*#"] { self.type(code, into: scene) }
        XCTAssertEqual(scene.relays, [])
        XCTAssertEqual(scene.events("relay_refused").count, 0)
        XCTAssertEqual(scene.events("digit").first?["key"] as? String, "#", "and so keys are no secret")
    }

    func testNoKeyOfWhatMayBeACodeIsTold() {
        let scene = Scene.inCall(self.byCode)
        self.type("4711#", into: scene)
        XCTAssertEqual(Set(scene.events("digit").compactMap { $0["key"] as? String }), ["hidden"])
        XCTAssertFalse(scene.events.description.contains("4711"))
    }

    func testACodeAmongOtherKeysIsNone() {
        let scene = Scene.inCall(self.byCode)
        self.type("94711#", into: scene)
        self.type("47110#", into: scene)
        XCTAssertEqual(scene.relays, [])
        self.type("47", into: scene)
        scene.pass(Relays.entryPauseMs + 1)
        self.type("4711#", into: scene)
        XCTAssertEqual(scene.relays, ["1 on"], "after a pause it begins anew")
    }

    func testThreeWrongCodesLockAllOutForAWhileInTheNextCallToo() {
        let scene = Scene.inCall(self.byCode)
        self.type("1111#", into: scene)
        self.type("2222#", into: scene)
        scene.press(.hook)
        scene.pass(10_000)
        scene.press(.call)
        scene.farAnswers()
        scene.feed(.media(.firstPacket(.audio)))
        self.type("3333#", into: scene)
        self.type("4711#", into: scene)
        XCTAssertEqual(scene.relays, [])
        XCTAssertEqual(
            scene.events("relay_refused").compactMap { $0["reason"] as? String },
            ["wrong-code", "wrong-code", "locked-out", "locked-out"])
        scene.pass(Relays.lockOutMs)
        self.type("4711#", into: scene)
        XCTAssertEqual(scene.relays, ["1 on"])
    }

    func testOnlyWhomTheHelpPointCalledMayTypeTheCode() {
        let scene = Scene("incoming = answer\nincoming_from = anyone\n" + self.byCode)
        scene.farCalls()
        scene.pass(2_000)
        XCTAssertEqual(scene.state, "connected")
        self.type("4711#", into: scene)
        XCTAssertEqual(scene.relays, [])
    }

    func testAListedFarEndMayWhoeverCalled() {
        let scene = Scene(
            "incoming = answer\nincoming_from = anyone\n" + self.byCode + "allow = sip:other@far, sip:far@10.0.0.1\n")
        scene.farCalls()
        scene.pass(2_000)
        self.type("4711#", into: scene)
        XCTAssertEqual(scene.relays, ["1 on"])

        let stranger = Scene.inCall(self.byCode + "allow = sip:other@far\n")
        self.type("4711#", into: stranger)
        XCTAssertEqual(stranger.relays, [], "called, but not on the list")
    }

    func testAnOpenedHousingBlocksRelaysUntilTheOwnerSaysSo() {
        let scene = Scene.inCall(self.byCode + "[relay.2]\nline = light\non = connected\n[input.tamper]\nline = lid\n")
        XCTAssertEqual(scene.relays, ["2 on"])
        scene.feed(.input(.tamper, isActive: true))
        XCTAssertEqual(scene.relays, ["2 on", "2 off"])
        self.type("4711#", into: scene)
        XCTAssertEqual(scene.relays, ["2 on", "2 off"])
        XCTAssertEqual(scene.events("relay_refused").last?["reason"] as? String, "tampered")
        scene.feed(.control(Scene.client, line: "clear-tamper"))
        XCTAssertEqual(scene.replies.last?["ok"] as? Bool, false, "it is still open")
        scene.feed(.input(.tamper, isActive: false))
        self.type("4711#", into: scene)
        XCTAssertEqual(scene.relays, ["2 on", "2 off"], "closing it is not enough")
        scene.feed(.control(Scene.client, line: "clear-tamper"))
        XCTAssertEqual(scene.replies.last?["ok"] as? Bool, true)
        XCTAssertEqual(scene.relays.last, "2 on")
        self.type("4711#", into: scene)
        XCTAssertEqual(scene.relays.last, "1 on")
    }

    func testAnOpenedHousingIsRememberedOverStarts() {
        let scene = Scene("[relay.2]\nline = light\non = idle\n") { $0.wasTampered = true }
        XCTAssertEqual(scene.relays, [])
        scene.feed(.control(Scene.client, line: "clear-tamper"))
        XCTAssertEqual(scene.relays, ["2 on"])
        let forgets = scene.outputs.contains {
            if case .remember(tampered: false) = $0 { return true }
            return false
        }
        XCTAssertTrue(forgets)
    }
}
