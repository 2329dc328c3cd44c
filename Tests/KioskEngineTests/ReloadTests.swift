// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// The file is read again: between calls, in a call, and where the program has to begin anew.
final class ReloadTests: XCTestCase {
    private typealias Desk = RegistrationTests.Desk

    private static func reload(_ text: String) -> KioskInput {
        let (configuration, problems) = Scene.parse(text)
        return .reload(configuration, problems)
    }

    private static func help(_ settings: String = "", at uri: String = "sip:help@far") -> KioskInput {
        self.reload("[call]\nuri = \(uri)\n\(settings)\n")
    }

    private static let unreadable = KioskInput.reload(
        nil, [ConfigurationProblem(.file, reason: "the file cannot be read")])

    /// `changed … restart … waits … kept` of the events, what is false left out.
    private func stories(_ outputs: [KioskOutput]) -> [String] {
        outputs.compactMap { output in
            guard case .event(let line) = output else { return nil }
            let event = Scene.object(line)
            guard event["event"] as? String == "reload" else { return nil }
            let flags = ["restart", "waits", "kept"].filter { event[$0] as? Bool == true }
            return ((event["changed"] as? [String] ?? ["no list"]) + flags).joined(separator: " ")
        }
    }

    private func stories(_ scene: Scene) -> [String] { self.stories(scene.outputs) }

    private func restarts(_ outputs: [KioskOutput]) -> Int {
        outputs.reduce(0) { if case .restart = $1 { $0 + 1 } else { $0 } }
    }

    private func invited(_ scene: Scene) -> [String] {
        scene.sent.filter { $0.hasPrefix("INVITE ") }.map { $0.components(separatedBy: " ")[1] }
    }

    // MARK: - Between calls

    func testTheNextPressCallsWhomTheNewFileNames() {
        let scene = Scene()
        scene.feed(Self.help("[sip]\nname = South Gate\nuser = south", at: "sip:desk@far"))
        XCTAssertEqual(self.stories(scene), ["call sip"])
        scene.press(.call)
        XCTAssertEqual(self.invited(scene), ["sip:desk@far"])
        XCTAssertTrue(scene.offers[0].contains("From: \"South Gate\" <sip:south@10.0.0.2"), scene.offers[0])
        XCTAssertTrue(scene.offers[0].contains("Contact: <sip:south@10.0.0.2"), scene.offers[0])
    }

    func testSameFileIsToldAndChangesNothing() {
        let scene = Scene()
        scene.forget()
        scene.feed(Self.help())
        XCTAssertEqual(self.stories(scene), [""])
        XCTAssertEqual(scene.sent, [])
        XCTAssertEqual(self.restarts(scene.outputs), 0)
    }

    func testItMayBeAppliedWhileAnOutcomeIsShown() {
        let scene = Scene.inCall()
        scene.farDoes(.hangUp(scene.atFar, .normal))
        XCTAssertEqual(scene.state, "outcome")
        scene.feed(Self.help("[video]\nbitrate = 500"))
        XCTAssertEqual(self.stories(scene), ["video"])
    }

    func testNewProblemsAreShownAndOldOnesAreGone() {
        let scene = Scene("[sip]\nnam = x")
        XCTAssertTrue(scene.screen?.banner.string.contains("nam") ?? false)
        scene.forget()
        scene.feed(Self.help("[video]\nbitrate = fast"))
        XCTAssertEqual(scene.events("problem").compactMap { $0["key"] as? String }, ["bitrate"])
        XCTAssertTrue(scene.screen?.banner.string.contains("bitrate") ?? false)
        scene.feed(Self.help())
        XCTAssertEqual(scene.screen?.banner, "")
    }

    func testServersOfTheNewFileAreUsedAndTrusted() {
        let scene = Scene()
        scene.feed(Self.help("[servers]\nproxies = sip:10.0.0.7, sip:10.0.0.1"))
        scene.forget()
        scene.press(.call)
        let flows = scene.outputs.compactMap { if case .send(_, let flow) = $0 { flow.remote.address } else { nil } }
        XCTAssertEqual(flows.first, .v4(0x0A00_0007))
        XCTAssertEqual(scene.kiosk.trusted.first, .v4(0x0A00_0007))
        scene.press(.hook)
        scene.pass(60_000)
        scene.feed(Self.help())
        scene.forget()
        scene.press(.call)
        XCTAssertEqual(scene.state, "calling")
        XCTAssertFalse(scene.kiosk.trusted.contains(.v4(0x0A00_0007)))
    }

    /// A search that began under the former list must not be taken for one of the new servers.
    func testSearchUnderWayOutlivesTheListItWasFor() {
        let scene = Scene("[servers]\nproxies = sip:one, sip:two, sip:three", resolver: .isSilent)
        scene.feed(Self.help("[servers]\nproxies = sip:four"))
        scene.resolves(to: [Scene.farAddress.address])
        scene.resolves(to: [Scene.farAddress.address])
        scene.resolver = .answers
        scene.press(.call)
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected")
    }

    func testTimeToRingIsThatOfTheNewFile() {
        let scene = Scene()
        scene.feed(Self.help("ring_timeout = 7"))
        scene.press(.call)
        scene.farAnswers(.ringing)
        scene.pass(7_100)
        XCTAssertEqual(scene.endReason, "not-answered")
    }

    // MARK: - In a call

    func testInACallItWaitsForTheEnd() {
        let scene = Scene.inCall()
        scene.forget()
        scene.feed(Self.help("[video]\nbitrate = 500", at: "sip:desk@far"))
        XCTAssertEqual(self.stories(scene), ["call video waits"])
        scene.pass(5_000)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.kiosk.configuration.video.bitrateKbps, 1500)
        scene.press(.hook)
        XCTAssertEqual(self.stories(scene), ["call video waits", "call video"])
        scene.press(.call)
        XCTAssertEqual(self.invited(scene), ["sip:desk@far"])
    }

    func testTwiceInACallTheNewestWins() {
        let scene = Scene.inCall()
        scene.feed(Self.help(at: "sip:first@far"))
        scene.feed(Self.help(at: "sip:second@far"))
        scene.farDoes(.hangUp(scene.atFar, .normal))
        XCTAssertEqual(self.stories(scene), ["call waits", "call waits", "call"])
        scene.forget()
        scene.press(.call)
        XCTAssertEqual(self.invited(scene), ["sip:second@far"])
    }

    func testItWaitsInEachStateOfACall() {
        let dialling = Scene(resolver: .isSilent)
        dialling.press(.call)
        let calling = Scene()
        calling.press(.call)
        let ringing = Scene()
        ringing.press(.call)
        ringing.farAnswers(.ringing)
        let early = Scene()
        early.press(.call)
        early.farAnswers(.sessionProgress)
        let alerting = Scene("incoming = ring")
        alerting.farCalls()
        let ending = Scene.inCall()
        ending.isCut = true
        ending.press(.hook)
        let scenes = [dialling, calling, ringing, early, alerting, Scene.inCall(), ending]
        let states = ["lookingUp", "calling", "ringing", "early", "alerting", "connected", "ending"]
        for (scene, state) in zip(scenes, states) {
            XCTAssertEqual(scene.state, state)
            scene.feed(Self.help("[sip]\nlisten = any:5070"))
            XCTAssertEqual(scene.state, state)
            XCTAssertEqual(self.restarts(scene.outputs), 0, state)
            XCTAssertTrue(self.stories(scene).last?.hasSuffix("restart waits") ?? false, state)
            scene.press(.hook)
            scene.pass(120_000)
            XCTAssertEqual(self.restarts(scene.outputs), 1, state)
        }
    }

    // MARK: - Files of no use

    func testFileThatCannotBeReadKeepsTheFormerSettings() {
        let scene = Scene()
        scene.feed(Self.unreadable)
        XCTAssertEqual(self.stories(scene), ["kept"])
        XCTAssertEqual(scene.events("problem").last?["text"] as? String, "the file cannot be read")
        XCTAssertTrue(scene.screen?.banner.string.contains("cannot be read") ?? false)
        scene.press(.call)
        XCTAssertEqual(self.invited(scene), ["sip:help@far"])
    }

    func testFileWithoutAnAddressKeepsTheFormerSettings() {
        let scene = Scene()
        for text in ["", "[call]\nuri = nonsense\n", "[call]\nuri = sip:\n[sip]\nname = X\n"] {
            scene.forget()
            scene.feed(Self.reload(text))
            XCTAssertEqual(self.stories(scene), ["kept"], text)
            XCTAssertFalse(scene.events("problem").isEmpty, text)
        }
        XCTAssertEqual(scene.kiosk.configuration.sip.name, "Callbox")
        scene.press(.call)
        XCTAssertEqual(self.invited(scene), ["sip:help@far"])
    }

    func testWhereNobodyWasCalledAFileWithoutAnAddressIsTaken() {
        let scene = Scene(address: "")
        scene.feed(Self.reload("[sip]\nname = Gate\n"))
        XCTAssertEqual(self.stories(scene), ["sip"])
        XCTAssertEqual(scene.kiosk.configuration.sip.name, "Gate")
    }

    func testFileOfNoUseLeavesTheGoodOneThatWaits() {
        let scene = Scene.inCall()
        scene.feed(Self.help(at: "sip:desk@far"))
        scene.feed(Self.unreadable)
        scene.feed(Self.reload("[call]\n"))
        scene.press(.hook)
        XCTAssertEqual(self.stories(scene), ["call waits", "kept", "kept", "call"])
        XCTAssertEqual(scene.kiosk.configuration.call.uri?.printed, "sip:desk@far")
    }

    // MARK: - Passwords

    private func renewals(_ scene: Scene) -> [String] {
        scene.outputs.compactMap { if case .renewSecrets(let settings) = $0 { settings.sip.user.string } else { nil } }
    }

    /// Also those of a secrets file that changed while `callbox.conf` did not.
    func testPasswordsAreLookedForWhenAFileIsApplied() {
        let scene = Scene()
        scene.feed(Self.help())
        XCTAssertEqual(self.renewals(scene), ["callbox"])
        scene.press(.call)
        scene.farAnswers()
        scene.feed(Self.help("[sip]\nuser = south"))
        scene.feed(Self.unreadable)
        XCTAssertEqual(self.renewals(scene), ["callbox"], "not in a call, and not of a file of no use")
        scene.press(.hook)
        XCTAssertEqual(self.renewals(scene), ["callbox", "south"])
    }

    // MARK: - By the control socket

    func testTheWordAsksForTheFile() {
        let scene = Scene()
        scene.feed(.control(Scene.client, line: "reload"))
        XCTAssertEqual(scene.replies.last?["ok"] as? Bool, true)
        let reads = scene.outputs.filter { if case .readConfiguration = $0 { true } else { false } }
        XCTAssertEqual(reads.count, 1)
    }
}
