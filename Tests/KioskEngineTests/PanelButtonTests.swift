// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import XCTest

@testable import KioskEngine

/// Buttons with more than one meaning, lamps and inputs.
final class PanelButtonTests: XCTestCase {
    // MARK: - Buttons

    func testACallButtonThatIsToBeHeldCallsAfterThat() {
        let scene = Scene("[button.call]\nhold = 2")
        scene.feed(.button(.call, .pressed))
        XCTAssertEqual(scene.screen?.countdown?.text, "Keep holding")
        scene.pass(1_500)
        scene.feed(.button(.call, .released))
        XCTAssertNil(scene.screen?.countdown)
        scene.pass(3_000)
        XCTAssertEqual(scene.state, "idle")
        scene.feed(.button(.call, .pressed))
        scene.pass(2_001)
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("INVITE") }.count, 1)
    }

    func testOneButtonMayCallAndEndByHoldingIt() {
        let scene = Scene.inCall("[button.call]\nlong = hook\nlong_after = 2")
        scene.press(.call)
        XCTAssertEqual(scene.state, "connected", "a second anxious press ends nothing")
        scene.feed(.button(.call, .pressed))
        scene.pass(1_900)
        XCTAssertEqual(scene.state, "connected")
        scene.pass(200)
        XCTAssertEqual(scene.endReason, "hangup")
        XCTAssertEqual(scene.events("long_press").first?["name"] as? String, "call")
    }

    func testAProgramsPressIsWholeAndNeverLong() {
        let scene = Scene("[button.call]\nhold = 5\nlong = hook\nlong_after = 1")
        scene.feed(.control(Scene.client, line: "press call"))
        scene.farAnswers()
        scene.pass(5_000)
        XCTAssertEqual(scene.state, "connected")
    }

    func testEveryFurtherCallButtonCallsAndIsAWordToo() {
        for number in 2...ButtonName.callButtonsMax {
            let scene = Scene()
            scene.feed(.control(Scene.client, line: ByteString(utf8Of: "press call.\(number)")))
            XCTAssertEqual(scene.replies.last?["ok"] as? Bool, true)
            XCTAssertEqual(scene.events("button").first?["name"] as? String, "call.\(number)")
            scene.farAnswers()
            XCTAssertEqual(scene.state, "connected")
        }
    }

    func testTheLegendNamesFurtherButtonsAsTheFileDoes() {
        let scene = Scene("[button.call.2]\ntext = Doctor") {
            $0.buttons = [.call, .further(2), .further(3), .language]
        }
        XCTAssertEqual(scene.screen?.callBar.map { $0.label.string }, ["Call", "Doctor", "Call", "Language"])
    }

    func testTheLanguageButtonGoesOnToTheNextLanguage() {
        let scene = Scene()
        scene.kiosk.configuration.language.offered = [.english, .german]
        scene.press(.language)
        XCTAssertEqual(scene.events("language").first?["code"] as? String, "de")
    }

    func testEveryButtonHasANameOfItsOwn() {
        let names = ButtonName.all.map { $0.text.string }
        XCTAssertEqual(Set(names).count, names.count)
        for name in ButtonName.all { XCTAssertEqual(ButtonName(name.text), name) }
        XCTAssertNil(ButtonName("call.1"))
        XCTAssertNil(ButtonName("call.9"))
    }

    func testTwoButtonsHeldShowTheInstallersPage() {
        let scene = Scene()
        scene.feed(.button(.hook, .pressed))
        scene.feed(.button(.mute, .pressed))
        scene.pass(Gestures.chordMs + 1)
        XCTAssertEqual(scene.events("chord").count, 1)
        XCTAssertEqual(scene.screen?.page, .health)
    }

    // MARK: - Lamps

    func testPlacedAndAnsweredAreTwoLamps() {
        let scene = Scene("[lamp.call]\nline = a\nconnected = off\n[lamp.answered]\nline = b\n[lamp.ready]\nline = c\n")
        scene.forget()
        scene.press(.call)
        XCTAssertEqual(self.patterns(scene, "call"), ["slow"])
        XCTAssertEqual(self.patterns(scene, "answered"), [])
        scene.farAnswers()
        XCTAssertEqual(self.patterns(scene, "call"), ["slow", "off"])
        XCTAssertEqual(self.patterns(scene, "answered"), ["on"])
        scene.press(.hook)
        XCTAssertEqual(self.patterns(scene, "answered"), ["on", "off"])
        XCTAssertEqual(self.patterns(scene, "ready"), [], "on all the time")
    }

    func testTheFaultLampIsOnAsLongAsAnyFaultStandsWhateverElseGoesOn() {
        let scene = Scene("[lamp.fault]\nline = f\n[lamp.ready]\nline = r\nstanding = flash\n")
        scene.feed(.device(.failed(.camera, "it is gone")))
        XCTAssertEqual(self.patterns(scene, "fault"), ["on"])
        XCTAssertEqual(self.patterns(scene, "ready"), ["on", "flash"])
        scene.pass(DeviceFaults.alarmMs + 1)
        XCTAssertEqual(self.patterns(scene, "call"), ["fast", "off"], "told for a moment")
        scene.press(.call)
        scene.farAnswers()
        XCTAssertEqual(self.patterns(scene, "fault"), ["on"])
        scene.feed(.device(.restored(.camera)))
        XCTAssertEqual(self.patterns(scene, "fault"), ["on", "off"])
        XCTAssertEqual(self.patterns(scene, "ready"), ["on", "flash", "on"])
    }

    func testLampsAreDarkWhenTheProgramEnds() {
        let scene = Scene("[lamp.ready]\nline = c\n")
        scene.feed(.terminate)
        XCTAssertEqual(self.patterns(scene, "ready"), ["on", "off"])
    }

    func testPatternsOfTheFileAreTakenAndNoneIsTooFast() {
        let scene = Scene("[lamp.call]\nline = a\ncalling = 300/700\nringing = 20/20\n[lamp.answered]\nidle = dance")
        XCTAssertEqual(scene.events("problem").compactMap { $0["key"] as? String }, ["ringing", "idle"])
        XCTAssertEqual(scene.kiosk.configuration.panel[.call][.ringing], .slow)
        scene.pass(2_100)
        scene.press(.call)
        XCTAssertEqual(self.patterns(scene, "call").last, "300/700")
    }

    private func patterns(_ scene: Scene, _ lamp: String) -> [String] {
        scene.events("lamp").filter { $0["name"] as? String == lamp }.compactMap { $0["pattern"] as? String }
    }

    // MARK: - Inputs

    func testAHandsetThatIsLiftedCallsAndPutBackEndsTheCall() {
        let scene = Scene()
        scene.feed(.input(.hookSwitch, isActive: true))
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected")
        scene.feed(.input(.hookSwitch, isActive: true))
        XCTAssertEqual(scene.events("input").count, 1, "what is known is no news")
        scene.feed(.input(.hookSwitch, isActive: false))
        XCTAssertEqual(scene.endReason, "hangup")
    }

    func testAHandsetThatIsLiftedAnswersAndMayBeKeptFromCalling() {
        let scene = Scene("incoming = ring\n[input.hook_switch]\nline = h\ndials = no")
        scene.feed(.input(.hookSwitch, isActive: true))
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("INVITE") }.count, 0)
        scene.feed(.input(.hookSwitch, isActive: false))
        scene.farCalls()
        XCTAssertEqual(scene.state, "alerting")
        scene.feed(.input(.hookSwitch, isActive: true))
        XCTAssertEqual(scene.state, "connected")
    }

    func testWhileTheSwitchInhibitsNobodyCallsOrIsCalled() {
        let scene = Scene("incoming = answer")
        scene.feed(.input(.inhibit, isActive: true))
        scene.press(.call)
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("INVITE") }.count, 0)
        XCTAssertEqual(scene.events("refused").first?["reason"] as? String, "inhibited")
        XCTAssertEqual(self.patterns(scene, "call").last, "fast", "told by the lamp")
        scene.feed(.control(Scene.client, line: "call"))
        XCTAssertEqual(scene.replies.last?["ok"] as? Bool, false)
        scene.farCalls()
        XCTAssertEqual(scene.events("incoming_refused").first?["code"] as? Int, 480)
        scene.feed(.input(.inhibit, isActive: false))
        scene.press(.call)
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("INVITE") }.count, 1)
    }

    func testEveryInputIsTold() {
        for name in InputName.all {
            let scene = Scene()
            scene.feed(.input(name, isActive: true))
            scene.feed(.input(name, isActive: false))
            let names = scene.events("input").compactMap { $0["name"] as? String }
            XCTAssertEqual(names, [name.text.string, name.text.string])
            XCTAssertEqual(scene.events("input").compactMap { $0["active"] as? Bool }, [true, false])
        }
    }
}
