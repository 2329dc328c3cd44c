// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Calls that the kiosk places, from the press to the outcome.
final class OutgoingCallTests: XCTestCase {
    func testAPressSendsTheInviteBeforeAnythingIsDrawn() {
        let scene = Scene()
        scene.forget()
        scene.resolver = .isSilent
        scene.pass(61_000)
        scene.feed(.button(.call, .pressed))
        scene.resolves(to: Scene.farAddress.address)
        XCTAssertEqual(scene.sent, ["INVITE sip:help@far SIP/2.0"])
        let kinds = scene.outputs.map { KioskMachineTests.name($0) }
        XCTAssertEqual(kinds.first, "event", "the press is logged")
        XCTAssertEqual(kinds.suffix(2), ["send", "chime"], "all that the answer of the resolver leads to")
        XCTAssertEqual(scene.callStates, ["dialling"])
        XCTAssertEqual(scene.lampPatterns, ["slow"])
        XCTAssertEqual(scene.clicks, [.key])
        XCTAssertEqual(scene.screen?.headline, "Calling")
    }

    func testTheLampBlinksByItselfWhileCallingAndIsNeverOrderedTwiceTheSame() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.ringing)
        scene.pass(3_200)
        scene.farAnswers()
        scene.press(.hook)
        let edges = scene.outputs.compactMap { output -> Bool? in
            guard case .lamp(.call, let isOn) = output else { return nil }
            return isOn
        }
        XCTAssertEqual(edges, [true, false, true, false, true, false, true, false])
    }

    func testTheInviteGoesWhereTheAddressLeads() {
        let cases: [(String, String)] = [
            ("sip:a@host", "10.0.0.1:5060 udp"), ("sip:a@host:99;transport=tcp", "10.0.0.1:99 tcp"),
            ("sip:a@[2001:db8::1]", "[2001:db8::1]:5060 udp"), ("sip:a@host;maddr=192.0.2.7", "192.0.2.7:5060 udp"),
            ("sip:a@host;transport=tls", "10.0.0.1:5061 tls host"),
        ]
        for (address, way) in cases {
            let scene = Scene(address: "uri = \(address)")
            scene.press(.call)
            let ways = scene.outputs.compactMap { output -> String? in
                guard case .send(let bytes, let flow) = output, bytes.starts(with: Array("INVITE".utf8)) else {
                    return nil
                }
                let name = flow.name.isEmpty ? "" : " " + flow.name.string
                return "\(flow.remote.text.string) \(flow.transport)" + name
            }
            XCTAssertEqual(ways, [way])
        }
    }

    func testAWholeCallGoesThroughAllItsStatesAndBackToIdle() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.ringing)
        XCTAssertEqual(scene.tones.last, .ringback)
        scene.pass(3_000)
        scene.farAnswers()
        XCTAssertEqual(scene.tones.last, Tone.none)
        XCTAssertEqual(scene.screen?.headline, "Connecting")
        XCTAssertEqual(scene.orderNames, ["mute false", "sendVideo true", "start"])
        scene.pass(120)
        scene.feed(.media(.firstSoundPlayed))
        scene.pass(180)
        scene.feed(.media(.firstFrameShown))
        XCTAssertEqual(scene.screen?.remote, .shown)
        XCTAssertEqual(scene.events("first_sound").first?["ms_since_answer"] as? Double, 120)
        XCTAssertEqual(scene.events("first_frame").first?["ms_since_answer"] as? Double, 300)
        scene.pass(4_700)
        scene.press(.hook)
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("BYE") }.count, 1, "the BYE is out with the press")
        XCTAssertEqual(scene.orderNames.last, "stop")
        XCTAssertEqual(scene.callStates, ["dialling", "ringing", "connected", "ending", "ended"])
        XCTAssertEqual(scene.endReason, "hangup")
        XCTAssertEqual(scene.events("call").last?["duration_ms"] as? Double, 5_000)
        XCTAssertEqual(scene.lampPatterns, ["slow", "on", "off"])
        XCTAssertEqual(scene.state, "idle")
        XCTAssertEqual(scene.screen?.headline, "Press to call")
        XCTAssertEqual(scene.screen?.selfView, .hidden)
    }

    func testTheOfferTellsWhatIsFitted() {
        for (hasCamera, hasScreen, line) in [
            (true, true, "a=sendrecv"), (false, true, "a=recvonly"), (true, false, "a=sendonly"), (false, false, ""),
        ] {
            let scene = Scene {
                $0.hasCamera = hasCamera
                $0.hasScreen = hasScreen
            }
            scene.press(.call)
            let media = scene.offerAtFar.components(separatedBy: "m=")
            XCTAssertEqual(media.count, line.isEmpty ? 2 : 3, scene.offerAtFar)
            XCTAssertTrue(media[1].hasPrefix("audio 40000 "), media[1])
            if !line.isEmpty {
                XCTAssertTrue(media[2].hasPrefix("video 40002 "), media[2])
                XCTAssertTrue(media[2].contains(line), media[2])
            }
        }
    }

    func testASecondPressOfAFrightenedPersonDoesNotHangUp() {
        let scene = Scene()
        for _ in 0..<5 { scene.press(.call) }
        scene.farAnswers(.ringing)
        for _ in 0..<5 { scene.press(.call) }
        scene.farAnswers()
        for _ in 0..<5 { scene.press(.call) }
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("INVITE") }.count, 1)
    }

    func testACallButtonThatIsTheOnlyOneEndsCallsWhereTheFileSaysSo() {
        let scene = Scene.inCall("[button.call]\nends_call = yes")
        scene.press(.call)
        XCTAssertEqual(scene.endReason, "hangup")
        scene.press(.call)
        scene.farAnswers(.ringing)
        scene.press(.call)
        XCTAssertEqual(scene.endReason, "cancelled")
    }

    func testPressedAwayEarlyTheCallIsCancelledAtEveryPoint() {
        for signs in [[], [StatusCode.trying], [.ringing], [.sessionProgress]] as [[StatusCode]] {
            let scene = Scene()
            scene.press(.call)
            for status in signs { scene.farAnswers(status) }
            scene.press(.hook)
            XCTAssertEqual(scene.screen?.headline, signs.isEmpty ? "Call cancelled" : "Press to call")
            // Without a sign of life CANCEL must wait for the far end's own 100.
            scene.pass(300)
            XCTAssertEqual(scene.callStates.suffix(2), ["ending", "ended"], "\(signs)")
            XCTAssertEqual(scene.endReason, "cancelled")
            XCTAssertEqual(scene.state, "idle")
            XCTAssertEqual(scene.farEnd(of: scene.atFar), .cancelled)
        }
    }

    func testTheNextPressWorksWhileAnUnreachableFarEndIsStillBeingTold() {
        let scene = Scene.inCall()
        scene.isCut = true
        scene.press(.hook)
        XCTAssertEqual(scene.state, "ending")
        XCTAssertEqual(scene.lampPatterns.last, "off")
        scene.pass(500)
        scene.isCut = false
        scene.press(.call)
        XCTAssertEqual(scene.endReason, "hangup")
        XCTAssertEqual(scene.callStates.suffix(2), ["ended", "dialling"])
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected")
        scene.pass(60_000)
        XCTAssertEqual(scene.callStates.filter { $0 == "ended" }.count, 2, "vanished after ten seconds, once")
    }

    func testHangingUpOnAFarEndThatIsGoneEndsAfterTwoSeconds() {
        let scene = Scene.inCall()
        scene.isCut = true
        scene.press(.hook)
        scene.pass(1_999)
        XCTAssertEqual(scene.state, "ending")
        scene.pass(2)
        XCTAssertEqual(scene.state, "idle")
        XCTAssertEqual(scene.endReason, "hangup")
    }

    func testTheFarEndHangsUp() {
        let scene = Scene.inCall()
        scene.farDoes(.hangUp(scene.atFar, .normal))
        XCTAssertEqual(scene.endReason, "remote-hangup")
        XCTAssertEqual(scene.screen?.headline, "Call ended")
        XCTAssertEqual(scene.lampPatterns.last, "off")
        XCTAssertEqual(scene.orderNames.last, "stop")
        scene.pass(4_001)
        XCTAssertEqual(scene.state, "idle")
        XCTAssertEqual(scene.tones.last, Tone.none)
    }

    func testMuteAndVideoAreOrderedInTheCallAndKeptFromBeforeTheAnswer() {
        let scene = Scene()
        scene.press(.mute)
        XCTAssertEqual(scene.events("mute").count, 0, "there is no call to mute")
        scene.press(.call)
        scene.press(.mute)
        scene.press(.video)
        XCTAssertEqual(scene.orderNames, [])
        XCTAssertEqual(scene.screen?.muted, true)
        scene.farAnswers()
        XCTAssertEqual(scene.orderNames, ["mute true", "sendVideo false", "start"])
        scene.press(.mute)
        scene.press(.video)
        XCTAssertEqual(scene.orderNames.suffix(2), ["mute false", "sendVideo true"])
        XCTAssertEqual(scene.events("mute").compactMap { $0["on"] as? Bool }, [true, false])
        XCTAssertEqual(scene.events("video").compactMap { $0["on"] as? Bool }, [false, true])
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("INVITE") }.count, 1, "no re-INVITE for that")
    }

    func testCasesH121AndH122RingBackGoesOnUntilEarlyMediaAreHeardAndNothingElseIsTold() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.ringing)
        scene.farAnswers(.sessionProgress)
        XCTAssertEqual(scene.callStates, ["dialling", "ringing", "early"])
        XCTAssertEqual(scene.orderNames, ["mute true", "sendVideo false", "start"])
        XCTAssertNil(scene.plan?.video)
        XCTAssertEqual(scene.tones.last, .ringback, "180 came, and no sound yet")
        scene.feed(.media(.firstPacket(.audio)))
        XCTAssertEqual(scene.tones.last, .ringback, "it may be silence")
        scene.feed(.media(.firstSoundPlayed))
        XCTAssertEqual(scene.tones.last, Tone.none)
        scene.farAnswers()
        XCTAssertEqual(scene.orderNames.suffix(3), ["mute false", "sendVideo true", "update"])
        XCTAssertNotNil(scene.plan?.video)
        XCTAssertEqual(scene.events("first_sound").first?["ms_since_answer"] as? Double, 0)
    }
}
