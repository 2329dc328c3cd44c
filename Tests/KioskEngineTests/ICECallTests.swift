// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Calls whose media find their way by ICE.
final class ICECallTests: XCTestCase {
    private static let credentials = ["a=ice-ufrag:theirs", "a=ice-pwd:0123456789abcdef01234567"]
    private static let candidate = "a=candidate:1 1 UDP 2130706431 10.0.0.1 20000 typ host"

    private static func described(fragment: String = "theirs", version: Int = 1) -> [UInt8] {
        let lines = [
            "v=0", "o=- 1 \(version) IN IP4 10.0.0.1", "s=-", "c=IN IP4 10.0.0.1", "t=0 0",
            "m=audio 20000 RTP/AVP 0", "a=ice-ufrag:\(fragment)", Self.credentials[1], Self.candidate,
        ]
        return Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
    }

    private func found(_ scene: Scene, _ ways: ICEWays = ICEMachineCellTests.ways) {
        guard let search = self.searches(scene).last else { return XCTFail("nothing was looked for") }
        scene.feed(.ice(.found(search.number, ways)))
    }

    private func searches(_ scene: Scene) -> [ICESearch] {
        scene.orders.compactMap { if case .findWays(let search) = $0 { return search } else { return nil } }
    }

    private func protection(_ scene: Scene) -> MediaProtection? {
        for order in scene.orders.reversed() {
            if case .start(_, _, let protection) = order { return protection }
            if case .update(_, _, let protection) = order { return protection }
        }
        return nil
    }

    // MARK: - Out

    func testWithoutAWordNothingIsOfferedAndNothingWaits() {
        let scene = Scene()
        scene.press(.call)
        XCTAssertEqual(scene.offers.count, 1)
        XCTAssertFalse(scene.offers[0].contains("a=ice-"))
        XCTAssertEqual(self.searches(scene), [])
    }

    func testACallWaitsForItsWaysAndOffersThem() throws {
        let scene = Scene("[ice]\nuse = on\nstun = 192.0.2.7:3479\nturn = turns:192.0.2.8\nturn_user = kiosk")
        scene.press(.call)
        XCTAssertEqual(scene.offers, [])
        let search = try XCTUnwrap(self.searches(scene).last)
        XCTAssertEqual(search.stun, SocketAddress(.v4(0xC000_0207), port: 3479))
        let relay = try XCTUnwrap(search.relays.first)
        XCTAssertEqual(relay.address, SocketAddress(.v4(0xC000_0208), port: 5349))
        XCTAssertEqual(relay.transport, .tls)
        self.found(scene)
        XCTAssertEqual(scene.offers.count, 1)
        XCTAssertTrue(scene.offers[0].contains("a=ice-ufrag:\(search.credentials.fragment.string)"))
        XCTAssertTrue(scene.offers[0].contains("a=candidate:1 1 UDP 9 10.0.0.2 40010 typ host"))
        XCTAssertTrue(scene.offers[0].contains("m=audio 40010 "))
        scene.farAnswers(.ok, Self.described())
        let way = try XCTUnwrap(self.protection(scene)?.audioWay)
        XCTAssertEqual(way.local, search.credentials)
        XCTAssertTrue(way.isControlling)
        scene.press(.hook)
        XCTAssertEqual(scene.orderNames.suffix(2), ["stop", "forgetWays"])
    }

    func testACallGoesOutWithoutWaysWhereNoneAreFound() {
        for silent in [true, false] {
            let scene = Scene("[ice]\nuse = on")
            scene.press(.call)
            if silent {
                scene.pass(ICELimits.silenceMs)
            } else {
                self.found(scene, ICEWays())
            }
            XCTAssertEqual(scene.offers.count, 1)
            XCTAssertFalse(scene.offers[0].contains("a=ice-"))
            XCTAssertTrue(scene.offers[0].contains("m=audio 40000 "))
            scene.farAnswers()
            XCTAssertEqual(scene.state, "connected")
        }
    }

    func testAPressThatIsTakenBackWhileWaysAreLookedForEndsThere() {
        let scene = Scene("[ice]\nuse = on")
        scene.press(.call)
        scene.press(.hook)
        XCTAssertEqual(scene.endReason, "cancelled")
        XCTAssertEqual(scene.orderNames.last, "forgetWays")
        self.found(scene)
        scene.pass(2_000)
        XCTAssertEqual(scene.offers, [])
    }

    func testAFarEndWithoutICEIsReachedOnThePortsThatItWasOffered() throws {
        let scene = Scene("[ice]\nuse = on")
        scene.press(.call)
        self.found(scene)
        scene.farAnswers()
        let protection = try XCTUnwrap(self.protection(scene))
        XCTAssertFalse(protection.isByICE)
        XCTAssertEqual(protection.ports?.audio, StreamPorts(rtp: 40_010, rtcp: 40_011))
        scene.feed(.control(Scene.client, line: "hold"))
        XCTAssertTrue(scene.offers.last?.contains("m=audio 40010 ") ?? false)
        XCTAssertFalse(scene.offers.last?.contains("a=ice-ufrag") ?? true)
    }

    func testServersAreFoundByName() throws {
        let scene = Scene("[ice]\nuse = on\nstun = stun.example\nturn = turn:relay.example:99?transport=tcp")
        scene.press(.call)
        let search = try XCTUnwrap(self.searches(scene).last)
        XCTAssertEqual(search.stun, SocketAddress(Scene.farAddress.address, port: 3478))
        XCTAssertEqual(search.relays.first?.address, SocketAddress(Scene.farAddress.address, port: 99))
        XCTAssertEqual(search.relays.first?.transport, .tcp)
    }

    func testTheRelaysPasswordIsForRelaysOnly() throws {
        let scene = Scene("[ice]\nuse = on\nturn = turn:192.0.2.8")
        scene.feed(
            .secrets([
                Credential(username: "kiosk", password: "word", realm: ICESettings.realm),
                Credential(username: "sip", password: "other"),
            ]))
        scene.press(.call)
        let search = try XCTUnwrap(self.searches(scene).last)
        XCTAssertEqual(search.user, "kiosk")
        XCTAssertEqual(search.password, "word")
        XCTAssertEqual(scene.kiosk.passwords.relay?.username, "kiosk")
    }

    // MARK: - In

    func testACallWithICEIsAnsweredWithOurWays() throws {
        let scene = Scene("incoming = answer\nincoming_from = anyone")
        let handle = scene.farCalls(Self.described())
        scene.pass(1_200)
        XCTAssertEqual(scene.state, "alerting")
        self.found(scene)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertNil(scene.farEnd(of: handle))
        let way = try XCTUnwrap(self.protection(scene)?.audioWay)
        XCTAssertFalse(way.isControlling)
        XCTAssertEqual(way.remote.credentials.fragment, "theirs")
    }

    func testACallWithICEIsAnsweredPlainlyWhereItIsOff() {
        let scene = Scene("incoming = answer\nincoming_from = anyone\n[ice]\nuse = off")
        scene.farCalls(Self.described())
        scene.pass(1_200)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(self.protection(scene)?.isByICE, false)
        XCTAssertNil(self.protection(scene)?.ports)
    }

    func testACallerThatGoesWhileWaysAreLookedForIsNotAnswered() {
        let scene = Scene("incoming = answer\nincoming_from = anyone")
        scene.farCalls(Self.described())
        scene.pass(1_200)
        guard case .searching(_, _, _, .accepting(let handle, _)?) = scene.kiosk.ice.state else {
            return XCTFail("the answer waits")
        }
        scene.sipTells(.ended(.cancelled), of: handle)
        XCTAssertEqual(scene.orderNames.last, "forgetWays")
        self.found(scene)
        XCTAssertNotEqual(scene.state, "connected")
    }

    func testWhileItRingsWaysAreFound() {
        let scene = Scene("incoming = ring")
        scene.farCalls(Self.described())
        XCTAssertEqual(scene.state, "alerting")
        self.found(scene)
        XCTAssertEqual(scene.state, "alerting")
        scene.press(.call)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(self.protection(scene)?.isByICE, true)
    }

    // MARK: - Changes

    private func inCall() -> Scene {
        let scene = Scene("[ice]\nuse = on")
        scene.press(.call)
        self.found(scene)
        scene.farAnswers(.ok, Self.described())
        return scene
    }

    func testTheFarEndBeginsAnew() throws {
        let scene = self.inCall()
        let before = try XCTUnwrap(self.protection(scene)?.audioWay)
        scene.farDoes(.reoffer(scene.atFar, offer: Self.described(version: 2)))
        XCTAssertEqual(self.protection(scene)?.audioWay?.local, before.local)
        scene.farDoes(.reoffer(scene.atFar, offer: Self.described(fragment: "others", version: 3)))
        let after = try XCTUnwrap(self.protection(scene)?.audioWay)
        XCTAssertEqual(after.remote.credentials.fragment, "others")
        XCTAssertNotEqual(after.local, before.local)
    }

    func testAWayThatFailsIsReplacedAndTheNextFailureEndsTheCall() throws {
        let scene = self.inCall()
        let first = try XCTUnwrap(self.searches(scene).last)
        scene.feed(.ice(.failed(first.number, .audio)))
        XCTAssertEqual(scene.events("ice").last?["restarts"] as? Bool, true)
        let second = try XCTUnwrap(self.searches(scene).last)
        XCTAssertNotEqual(second.number, first.number)
        self.found(scene)
        XCTAssertEqual(scene.offers.count, 2)
        XCTAssertTrue(scene.offers[1].contains("a=ice-ufrag:\(second.credentials.fragment.string)"))
        scene.farAnswers(.ok, Self.described(fragment: "theirs2", version: 2))
        XCTAssertEqual(self.protection(scene)?.audioWay?.local, second.credentials)
        scene.feed(.ice(.failed(second.number, .audio)))
        XCTAssertEqual(scene.endReason, "vanished")
    }

    func testAnotherAddressMeansOtherWays() throws {
        let scene = self.inCall()
        scene.address = SocketAddress(.v4(0x0A00_0063), port: 5060)
        scene.feed(.networkChanged)
        XCTAssertEqual(scene.offers.count, 1)
        self.found(scene)
        XCTAssertEqual(scene.offers.count, 2)
    }

    func testTheWayIsTold() throws {
        let scene = self.inCall()
        let number = try XCTUnwrap(self.searches(scene).last).number
        let pair = ICEPair(local: .relayed, remote: .host, address: Scene.farAddress)
        scene.feed(.ice(.selected(number &+ 1, .audio, pair)))
        XCTAssertEqual(scene.events("ice").last?["state"] as? String, "found")
        scene.feed(.ice(.selected(number, .audio, pair)))
        let event = try XCTUnwrap(scene.events("ice").last)
        XCTAssertEqual(event["local"] as? String, "relay")
        XCTAssertEqual(event["remote"] as? String, "host")
        XCTAssertEqual(event["media"] as? String, "audio")
    }
}
