// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// What the person sees and hears between the press and the answer.
final class ProgressTests: XCTestCase {
    private func remote(_ scene: Scene) -> String? { scene.plan?.audio?.stream.remoteRTP.text.string }

    func testAQueueAndAForwardedCallAreSaidInTheirOwnWords() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(StatusCode(181), [])
        XCTAssertEqual(scene.screen?.detail, "Your call is being passed on. Please wait.")
        XCTAssertEqual(scene.tones, [], "nobody's telephone rings")
        scene.farAnswers(StatusCode(182), [])
        scene.farAnswers(StatusCode(182), [])
        XCTAssertEqual(scene.screen?.headline, "Please wait")
        XCTAssertEqual(scene.screen?.detail, "You are in a queue. Somebody will answer when it is your turn.")
        XCTAssertEqual(scene.tones.last, .ringback)
        scene.farAnswers(.ringing, [])
        XCTAssertEqual(scene.screen?.headline, "Ringing")
        let events = scene.events("call")
        XCTAssertEqual(scene.callStates, ["dialling", "ringing", "ringing", "ringing"])
        XCTAssertEqual(events.map { $0["forwarded"] as? Bool ?? false }, [false, true, false, false])
        XCTAssertEqual(events.map { $0["queued"] as? Bool ?? false }, [false, false, true, false])
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected")
    }

    func testAQueueIsGivenUpAfterTheRingTimeout() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(StatusCode(182), [])
        scene.pass(60_100)
        XCTAssertEqual(scene.endReason, "not-answered")
    }

    func testASignOfLifeThatIsNoRingingRingsNowhere() {
        for code in [183, 199] {
            let scene = Scene()
            scene.press(.call)
            scene.farAnswers(StatusCode(code), [])
            XCTAssertEqual(scene.state, "calling", "\(code)")
            XCTAssertEqual(scene.tones, [], "\(code)")
            scene.pass(60_100)
            XCTAssertEqual(scene.endReason, "not-answered", "\(code)")
        }
    }

    /// Case H 121: a 183 with a description but without media, then 180: ring back here until something is heard.
    func testCaseH121EarlyMediaThatNeverComeDoNotSilenceTheRinging() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.sessionProgress)
        XCTAssertEqual(scene.state, "early")
        XCTAssertEqual(scene.tones, [])
        scene.sipTells(.ringing(.ringing), of: scene.handle)
        XCTAssertEqual(scene.tones.last, .ringback)
        scene.pass(30_000)
        XCTAssertEqual(scene.tones.last, .ringback)
    }

    func testOfSeveralBranchesTheNewestIsHeardAndTheOneThatAnswersCounts() {
        let scene = Scene()
        scene.press(.call)
        scene.sipTells(.earlyMedia(Scene.description(address: "10.0.0.11"), .sessionProgress), of: scene.handle)
        XCTAssertEqual(self.remote(scene), "10.0.0.11:20000")
        scene.sipTells(.earlyMedia(Scene.description(address: "10.0.0.12"), .sessionProgress), of: scene.handle)
        XCTAssertEqual(self.remote(scene), "10.0.0.12:20000")
        scene.sipTells(.answered(Scene.description(address: "10.0.0.13")), of: scene.handle)
        XCTAssertEqual(self.remote(scene), "10.0.0.13:20000")
        XCTAssertEqual(scene.orderNames.filter { $0 == "start" }.count, 1)
        XCTAssertEqual(scene.state, "connected")
    }

    // MARK: - Size

    private func invitations(_ scene: Scene) -> [(size: Int, transport: SIPTransport)] {
        scene.outputs.compactMap { output in
            guard case .send(let bytes, let flow) = output, bytes.starts(with: Array("INVITE".utf8)) else { return nil }
            return (bytes.count, flow.transport)
        }
    }

    /// Case A 28: what would be cut into fragments is trimmed; what cannot be goes by TCP.
    func testCaseA28AnInvitationFitsOneDatagram() {
        let short = Scene()
        short.press(.call)
        for invitation in self.invitations(short) {
            XCTAssertLessThanOrEqual(invitation.size, SIPEngine.datagramSizeSafe)
            XCTAssertEqual(invitation.transport, .udp)
        }
        let long = Scene(address: "uri = sip:" + String(repeating: "x", count: 120) + "@far")
        long.press(.call)
        XCTAssertEqual(self.invitations(long).first?.transport, .udp)
        XCTAssertLessThanOrEqual(self.invitations(long).first?.size ?? .max, SIPEngine.datagramSizeSafe)
        long.farAnswers()
        XCTAssertEqual(long.state, "connected")
        let tooLong = Scene(address: "uri = sip:" + String(repeating: "x", count: 500) + "@far")
        tooLong.press(.call)
        XCTAssertEqual(self.invitations(tooLong).first?.transport, .tcp)
    }
}
