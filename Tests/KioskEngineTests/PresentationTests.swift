// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// What is seen and heard in each state.
final class PresentationTests: XCTestCase {
    private var around = Presentation.Surroundings(
        hasCamera: true, hasScreen: true, buttons: [.call, .hook, .mute, .video], selfView: .call, callEndsCall: false,
        canCall: true,
        banner: "")

    private func present(_ state: KioskState) -> Presentation {
        Presentation(state, self.around)
    }

    private func legend(_ state: KioskState) -> [String] {
        self.present(state).screen.callBar.map { $0.label.string }
    }

    /// `connected`, changed.
    private func connected(_ edit: (inout KioskState.Connected) -> Void) -> KioskState {
        guard case .connected(var state) = States.connected else { preconditionFailure("it is connected") }
        edit(&state)
        return .connected(state)
    }

    func testEveryStateHasItsLampToneAndSymbol() {
        let expected: [(String, LampPattern, Tone, Symbol)] = [
            ("idle", .off, .none, .handset), ("lookingUp", .slow, .none, .calling), ("calling", .slow, .none, .calling),
            ("ringing", .slow, .ringback, .ringing), ("early", .slow, .ringback, .ringing),
            ("alerting", .slow, .bell, .ringing),
            ("connected", .on, .none, .connecting), ("transferring", .on, .none, .calling),
            ("ending", .off, .none, .ended),
            ("outcome", .fast, .busy, .warning), ("stopping", .off, .none, .none),
        ]
        XCTAssertEqual(expected.map { $0.0 }, States.all.map { $0.name })
        for (row, given) in zip(expected, States.all) {
            let shown = self.present(given.state)
            XCTAssertEqual(LampName.call.standard(shown.signal), row.1, row.0)
            XCTAssertEqual(shown.tone, row.2, row.0)
            XCTAssertEqual(shown.screen.symbol, row.3, row.0)
            XCTAssertFalse(shown.screen.headline.isEmpty, row.0)
        }
    }

    func testTheRemotePictureIsShownOnlyFromItsFirstFrameOn() {
        for (name, state) in States.all { XCTAssertEqual(self.present(state).screen.remote, .hidden, name) }
        let playing = self.connected {
            $0.hasFirstFrame = true
            $0.video = .hearing
        }
        let screen = self.present(playing).screen
        XCTAssertEqual(screen.remote, .shown)
        XCTAssertEqual(screen.headline, "")
        XCTAssertEqual(screen.detail, "")
        XCTAssertEqual(screen.symbol, .none)
    }

    func testAPictureThatStoppedIsTakenAwayAndComesBack() {
        let stopped = self.connected {
            $0.hasFirstFrame = true
            $0.video = .silent(since: States.now)
        }
        XCTAssertEqual(self.present(stopped).screen.remote, .hidden)
        XCTAssertEqual(self.present(stopped).screen.detail, Texts.english.states.pictureLost.detail)
        let back = self.connected {
            $0.hasFirstFrame = true
            $0.video = .hearing
        }
        XCTAssertEqual(self.present(back).screen.remote, .shown)
    }

    func testHoldIsSaidWithAndWithoutAPicture() {
        let silent = self.connected { $0.shape = MediaShape(hasAudio: true) }
        XCTAssertEqual(self.present(silent).screen.symbol, .hold)
        let moving = self.connected {
            $0.shape = MediaShape(hasAudio: true, receivesVideo: true)
            $0.hasFirstFrame = true
            $0.video = .hearing
        }
        XCTAssertEqual(self.present(moving).screen.remote, .shown)
        XCTAssertEqual(self.present(moving).screen.detail, "Please wait")
    }

    func testACallWithoutPicturesSaysThatOneCanSpeak() {
        let audio = self.connected { $0.shape.receivesVideo = false }
        XCTAssertEqual(self.present(audio).screen.headline, Texts.english.talking("").headline)
        self.around.hasScreen = false
        XCTAssertEqual(self.present(States.connected).screen.headline, Texts.english.talking("").headline)
        XCTAssertEqual(self.present(States.connected).screen.remote, .hidden)
    }

    func testSelfViewFollowsItsSettingTheCameraAndTheVideoButton() {
        let calls = ["lookingUp", "calling", "ringing", "early", "connected", "transferring"]
        for (setting, shownIn) in [
            (DisplaySettings.SelfView.off, []), (.call, calls), (.always, States.all.map { $0.name }),
        ] {
            self.around.selfView = setting
            for (name, state) in States.all {
                XCTAssertEqual(
                    self.present(state).screen.selfView == .shown, shownIn.contains(name), "\(setting) \(name)")
            }
        }
        let off = self.connected { $0.facts.wishes.isVideoOff = true }
        XCTAssertEqual(self.present(off).screen.selfView, .hidden)
        self.around.hasCamera = false
        for (name, state) in States.all { XCTAssertEqual(self.present(state).screen.selfView, .hidden, name) }
    }

    func testTheLegendNamesWhatEachFittedButtonDoesNow() {
        let callLegend = ["Cancel", "Mute", "Camera off"]
        let expected: [(String, [String])] = [
            ("idle", ["Call"]), ("lookingUp", callLegend), ("calling", callLegend), ("ringing", callLegend),
            ("early", callLegend), ("alerting", ["Answer", "Decline"]),
            ("connected", ["Hang up", "Mute", "Camera off"]),
            ("transferring", ["Hang up", "Mute", "Camera off"]), ("ending", ["Call"]),
            ("outcome", ["Call", "Close"]), ("stopping", []),
        ]
        XCTAssertEqual(expected.map { $0.0 }, States.all.map { $0.name })
        for (row, given) in zip(expected, States.all) { XCTAssertEqual(self.legend(given.state), row.1, row.0) }
    }

    func testTheLegendFollowsWishesAndFittings() {
        let changed = self.connected { $0.facts.wishes = Wishes(isMuted: true, isVideoOff: true) }
        XCTAssertEqual(self.legend(changed), ["Hang up", "Unmute", "Camera on"])
        XCTAssertEqual(self.present(changed).screen.callBar.map { $0.isOn }, [false, true, true])
        XCTAssertTrue(self.present(changed).screen.muted)
        XCTAssertTrue(self.present(changed).screen.videoOff)
        self.around.hasCamera = false
        XCTAssertEqual(self.legend(changed), ["Hang up", "Unmute"])
        self.around.buttons = [.call]
        XCTAssertEqual(self.legend(changed), [])
        self.around.callEndsCall = true
        XCTAssertEqual(self.legend(changed), ["Hang up"])
    }

    func testAKioskThatCanCallNobodySaysSoAllTheTime() {
        self.around.canCall = false
        let shown = self.present(.idle)
        XCTAssertEqual(shown.screen.headline, "Out of order")
        XCTAssertEqual(shown.signal, .fault)
        XCTAssertEqual(shown.screen.callBar, [])
    }

    func testRingBackStopsWhenTheFarEndsOwnSoundComes() {
        guard case .early(var early) = States.early else { return XCTFail("it is early") }
        XCTAssertEqual(self.present(.early(early)).tone, .ringback)
        early.hasSound = true
        XCTAssertEqual(self.present(.early(early)).tone, .ringback, "silence comes")
        early.hasFirstSound = true
        XCTAssertEqual(self.present(.early(early)).tone, .none)
        early.hasFirstSound = false
        early.hasRung = false
        XCTAssertEqual(self.present(.early(early)).tone, .none, "it never rang")
    }

    func testTheBannerStandsInEveryState() {
        self.around.banner = "No camera: gone"
        for (name, state) in States.all {
            XCTAssertEqual(self.present(state).screen.banner, "No camera: gone", name)
        }
    }

    func testAFailedCallHasItsCodeOnTheScreenAndOthersHaveNone() {
        for (name, state) in States.all where name != "outcome" {
            XCTAssertEqual(self.present(state).screen.code, "", name)
        }
        guard case .outcome(var outcome) = States.outcome else { return XCTFail("it is over") }
        outcome.ended.outcome = .refused(.busyHere, phrase: "", q850: nil)
        XCTAssertEqual(self.present(.outcome(outcome)).screen.code, "CB-SIP-486")
        outcome.ended.outcome = .remoteHungUp
        XCTAssertEqual(self.present(.outcome(outcome)).screen.code, "")
    }

    func testACallThatStandsShowsWhoIsThereAndSinceWhen() {
        let named = self.connected { $0.facts.name = "Carol" }
        XCTAssertEqual(self.present(named).screen.name, "Carol")
        XCTAssertEqual(self.present(named).screen.timer, States.now)
        for (name, state) in States.all where name != "connected" && name != "transferring" {
            XCTAssertNil(self.present(state).screen.timer, name)
        }
    }

    func testTheFullLayoutShowsTheOwnPictureUntilTheFarEndsIsThere() {
        self.around.layout = .full
        XCTAssertEqual(self.present(States.calling).screen.selfView, .shown)
        let playing = self.connected {
            $0.hasFirstFrame = true
            $0.video = .hearing
        }
        XCTAssertEqual(self.present(playing).screen.selfView, .hidden)
    }

    func testACountdownIsSeenWhateverTheIdlePageIs() {
        self.around.screen.idle = .black
        self.around.isDark = true
        XCTAssertEqual(self.present(.idle).screen.page, .dark)
        self.around.panel.countdown = Countdown("Keep holding", endsAt: States.now)
        XCTAssertEqual(self.present(.idle).screen.page, .card)
        XCTAssertEqual(self.present(.idle).screen.countdown?.text, "Keep holding")
    }
}
