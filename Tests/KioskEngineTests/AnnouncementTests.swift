// SPDX-License-Identifier: Apache-2.0
import Bytes
import Foundation
import MediaEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// What is told by ear between states.
final class AnnouncementTests: XCTestCase {
    private func heard(_ state: KioskState, hasScreen: Bool = true) -> Announcement {
        Announcement(state, hasScreen: hasScreen)
    }

    private func connected(_ edit: (inout KioskState.Connected) -> Void) -> KioskState {
        guard case .connected(var call) = States.connected else { preconditionFailure("it is") }
        edit(&call)
        return .connected(call)
    }

    private func outcome(_ outcome: CallOutcome) -> KioskState {
        let ended = EndedCall(facts: States.facts, outcome: outcome, answered: nil, ended: States.now)
        return .outcome(KioskState.Outcome(ended: ended, deadline: States.later(8000)))
    }

    func testWhatIsSaidInEachState() {
        let rows: [(KioskState, Announcement.Stage, PromptName?)] = [
            (States.idle, .idle, nil), (States.lookingUp, .placing, .calling), (States.calling, .calling, .calling),
            (States.ringing, .calling, .ringing), (States.early, .calling, .ringing),
            (States.alerting, .alerting, .incoming), (States.connected, .connected, nil),
            (States.transferring, .connected, .pleaseWait), (States.ending, .ending, .ended),
            (States.outcome, .over, .notReachable), (States.stopping, .ending, nil),
        ]
        for row in rows {
            let heard = self.heard(row.0)
            XCTAssertEqual(heard.stage, row.1, "\(row.0)")
            XCTAssertEqual(heard.prompt, row.2, "\(row.0)")
            XCTAssertNil(heard.chime(after: heard))
            XCTAssertEqual(heard.speech(after: heard), .keep)
        }
    }

    func testWhatIsSaidOfEachCourseOfACall() {
        var stages: [(KioskState, PromptName?)] = []
        if case .ringing(var call) = States.ringing {
            call.stage = .queued
            stages.append((.ringing(call), .pleaseWait))
            call.stage = .forwarded
            stages.append((.ringing(call), .pleaseWait))
            call.stage = .ringing
            call.facts.isHandedOver = true
            stages.append((.ringing(call), .pleaseWait))
            stages.append((.calling(call), .pleaseWait))
        }
        if case .early(var call) = States.early {
            call.hasFirstSound = true
            stages.append((.early(call), nil))
            (call.hasFirstSound, call.hasRung) = (false, false)
            stages.append((.early(call), nil))
        }
        stages.append((self.connected { $0.shape.sendsAudio = false }, .onHold))
        stages.append((self.connected { $0.intent.isHolding = true }, .onHold))
        stages.append((self.connected { $0.cutOffSince = States.now }, .interrupted))
        stages.append((self.connected { $0.hasFirstFrame = true }, nil))
        let lost = self.connected {
            $0.hasFirstFrame = true
            $0.video = .silent(since: States.now)
        }
        stages.append((lost, .noPicture))
        for (state, prompt) in stages { XCTAssertEqual(self.heard(state).prompt, prompt, "\(state)") }
        XCTAssertNil(self.heard(lost, hasScreen: false).prompt, "nobody looks")
    }

    func testEachOutcomeIsSaidAsTheTableOfFaultsHasIt() {
        let rows: [(CallOutcome, PromptName?)] = [
            (.remoteHungUp, .ended), (.missed, nil), (.refused(.busyHere, phrase: "", q850: nil), .busy),
            (.refused(StatusCode(603), phrase: "", q850: nil), .declined), (.notAnswered, .noAnswer),
            (.unreachable, .notReachable), (.vanished, .failed), (.noAddress, .outOfOrder),
        ]
        for (outcome, prompt) in rows {
            XCTAssertEqual(self.heard(self.outcome(outcome)).prompt, prompt, "\(outcome)")
        }
        for outcome in Fault.outcomes {
            XCTAssertNotNil(self.heard(self.outcome(outcome)).prompt, "\(outcome)")
        }
    }

    func testChimesMarkWhatChanges() {
        var muted = States.facts
        muted.wishes.isMuted = true
        let mutedCall = self.connected { $0.facts = muted }
        let cutOff = self.connected { $0.cutOffSince = States.now }
        let held = self.connected { $0.shape.sendsAudio = false }
        let rows: [(KioskState, KioskState, Chime?)] = [
            (States.idle, States.lookingUp, nil), (States.lookingUp, States.calling, .placed),
            (States.idle, States.calling, .placed), (States.calling, States.ringing, nil),
            (States.ringing, States.early, nil), (States.early, States.connected, .answered),
            (States.idle, States.connected, .answered), (States.idle, States.alerting, nil),
            (States.alerting, States.connected, .answered), (States.connected, mutedCall, .muted),
            (mutedCall, States.connected, .unmuted), (mutedCall, States.idle, nil),
            (States.connected, cutOff, .lost), (cutOff, States.connected, .back),
            (States.connected, held, nil), (held, States.connected, .back),
            (States.connected, States.transferring, nil), (States.connected, States.ending, .ended),
            (States.calling, States.ending, .ended), (States.connected, self.outcome(.remoteHungUp), nil),
            (States.connected, States.calling, nil), (States.ending, States.idle, nil), (States.idle, States.idle, nil),
        ]
        for (index, row) in rows.enumerated() {
            XCTAssertEqual(self.heard(row.1).chime(after: self.heard(row.0)), row.2, "row \(index)")
        }
    }

    func testAPromptGivesWayToTheNextStateAndIsNotRepeated() {
        let muted = self.connected { $0.facts.wishes.isMuted = true }
        let held = self.connected { $0.shape.sendsAudio = false }
        let dark = self.connected {
            $0.hasFirstFrame = true
            $0.video = .silent(since: States.now)
        }
        let rows: [(KioskState, KioskState, Announcement.Speech)] = [
            (States.idle, States.lookingUp, .say(.calling)), (States.lookingUp, States.calling, .keep),
            (States.calling, States.ringing, .say(.ringing)), (States.ringing, States.early, .keep),
            (States.ringing, States.connected, .hush), (States.connected, muted, .say(.muted)),
            (muted, States.connected, .hush), (muted, held, .say(.onHold)), (States.connected, held, .say(.onHold)),
            (held, States.connected, .hush), (States.connected, dark, .say(.noPicture)),
            (dark, States.connected, .hush), (States.connected, States.ending, .say(.ended)),
            (States.ending, States.idle, .keep), (self.outcome(.remoteHungUp), States.idle, .keep),
            (self.outcome(.noResponse), States.idle, .hush), (States.alerting, States.idle, .hush),
            (States.calling, States.stopping, .hush), (States.lookingUp, States.idle, .hush),
        ]
        for (index, row) in rows.enumerated() {
            XCTAssertEqual(self.heard(row.1).speech(after: self.heard(row.0)), row.2, "row \(index)")
        }
    }

    // MARK: - The whole kiosk

    func testACallIsHeardFromThePressToItsEnd() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.ringing)
        scene.farAnswers()
        scene.press(.mute)
        scene.press(.mute)
        scene.press(.hook)
        XCTAssertEqual(scene.spoken, ["calling", "ringing", "hush", "muted", "hush", "ended"])
        XCTAssertEqual(scene.chimes, [.ready, .placed, .answered, .muted, .unmuted, .ended])
    }

    func testWhatTheFileSwitchesOffIsNotHeard() {
        let scene = Scene("incoming = answer\n[sound]\nprompts = no\nchimes = no\nstatus = no")
        scene.press(.call)
        scene.farAnswers()
        scene.feed(.device(.failed(.camera, "It went away.")))
        scene.press(.mute)
        scene.press(.hook)
        XCTAssertEqual(scene.spoken, [])
        XCTAssertEqual(scene.chimes, [])
    }

    func testWhoeverPressesWhatDoesNothingHearsWhatDoes() {
        let scene = Scene()
        for button in [ButtonName.hook, .mute, .video] { scene.press(button) }
        XCTAssertEqual(scene.spoken, ["press-to-call", "press-to-call", "press-to-call"])
        scene.press(.call)
        scene.press(.video)
        XCTAssertEqual(scene.spoken.suffix(1), ["calling"])
    }

    func testAPressOnAPausedHelpPointIsAnsweredInWords() {
        let scene = Scene()
        scene.feed(.control(Scene.client, line: "pause"))
        scene.press(.call)
        XCTAssertEqual(scene.spoken, ["out-of-order"])
    }

    func testTheKeypadIsToldWhenItIsThere() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers()
        scene.press(.keypad)
        scene.press(.keypad)
        XCTAssertEqual(scene.spoken.suffix(2), ["keypad", "hush"])
    }

    func testTheChosenLanguageSaysItsNameAndSpeaksFromThenOn() {
        let scene = Scene()
        scene.feed(.control(Scene.client, line: "language de"))
        scene.press(.call)
        scene.press(.hook)
        scene.pass(300_000)
        XCTAssertEqual(scene.spoken, ["de language", "de calling", "de ended"])
        XCTAssertEqual(scene.events("language").count, 2, "it goes back to English, and says nothing")
    }

    func testADeviceThatGoesAwayAndComesBackIsHeardOnce() {
        let scene = Scene()
        scene.forget()
        scene.feed(.device(.failed(.camera, "It went away.")))
        scene.feed(.device(.failed(.camera, "It is still away.")))
        scene.feed(.device(.restored(.camera)))
        scene.feed(.device(.restored(.camera)))
        XCTAssertEqual(scene.chimes, [.lost, .back])
        XCTAssertEqual(scene.spoken, [], "nobody is there")
        scene.pass(60_000)
        scene.press(.call)
        scene.farAnswers()
        scene.feed(.device(.failed(.camera, "It went away.")))
        XCTAssertEqual(scene.spoken.last, "no-picture")
    }

    // MARK: - The texts

    /// Each language says the same.
    func testEveryPromptHasAText() throws {
        let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("../../board/prompts.d").standardized
        let names = PromptName.all.map { $0.text.string }
        XCTAssertEqual(Set(names).count, names.count)
        for name in names { XCTAssertNotNil(PromptName(ByteString(utf8Of: name))) }
        XCTAssertNil(PromptName("../busy"))
        for language in ["en", "de", "fr", "es", "ar", "zh"] {
            let text = try String(contentsOf: folder.appendingPathComponent(language + ".txt"), encoding: .utf8)
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            let keys = lines.map { String($0.split(separator: " ")[0]) }
            XCTAssertEqual(keys, ["voice"] + names, language)
            for line in lines { XCTAssertGreaterThan(line.components(separatedBy: " = ")[1].count, 1, language) }
        }
    }
}
