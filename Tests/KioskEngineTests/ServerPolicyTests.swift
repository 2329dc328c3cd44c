// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// The servers that the file lists: in their order, left where they fail, and gone back to.
final class ServerPolicyTests: XCTestCase {
    private static let first = IPAddress.v4(0x0A00_0008)

    /// Two servers: the first is nobody, the second the far end.
    private func scene(_ failback: String = "auto", firstIsDead: Bool = true) -> Scene {
        let scene = Scene(
            "[servers]\nproxies = sip:10.0.0.8, sip:10.0.0.1;transport=udp\nfailback = \(failback)",
            address: "uri = sip:help@anywhere.example")
        scene.dead = firstIsDead ? [Self.first] : []
        return scene
    }

    private func sentTo(_ scene: Scene, _ method: String) -> [String] {
        scene.outputs.reduce(into: []) { list, output in
            guard case .send(let bytes, let flow) = output, bytes.starts(with: Array(method.utf8)) else { return }
            let address = flow.remote.address.text.string
            if list.last != address { list.append(address) }
        }
    }

    /// A call that the second server takes because the first is silent.
    private func failedOver(_ failback: String = "auto") -> Scene {
        let scene = self.scene(failback)
        scene.press(.call)
        scene.pass(2_100)
        scene.farAnswers(.busyHere, [])
        scene.pass(8_100)
        XCTAssertEqual(scene.state, "idle")
        scene.forget()
        return scene
    }

    func testTheFileListsUpToEightServersEachWithItsTransport() {
        let list = (1...8).map { "sip:proxy\($0).example.com;transport=tcp" }.joined(separator: ", ")
        let cases: [(String, Int, Int)] = [
            (list, 8, 0), ("none", 0, 0), ("sip:a.example, sip:192.0.2.1:5070", 2, 0), (list + ", sip:x", 0, 1),
            ("sip:a, sip:a", 0, 1), ("sip:a,", 0, 1), ("a.example", 0, 1), ("sip:a;transport=sctp", 0, 1),
        ]
        for (value, count, faults) in cases {
            let text = "[call]\nuri = sip:a@b\n[servers]\nproxies = \(value)"
            let (configuration, problems) = Configuration.parse(Array(text.utf8))
            XCTAssertEqual(configuration.servers.proxies.count, count, value)
            XCTAssertEqual(problems.count, faults, value)
        }
    }

    func testEverythingGoesToTheServersAndTheAddressStaysThatOfWhomIsCalled() {
        let scene = self.scene(firstIsDead: false)
        scene.press(.call)
        XCTAssertEqual(self.sentTo(scene, "INVITE"), ["10.0.0.8"])
        XCTAssertEqual(scene.sent.last { $0.hasPrefix("INVITE") }, "INVITE sip:help@anywhere.example SIP/2.0")
        scene.feed(.control(Scene.client, line: "message sip:x@elsewhere.example Hello"))
        XCTAssertEqual(self.sentTo(scene, "MESSAGE"), ["10.0.0.8"])
    }

    func testAllOfThemMayTalkToUs() {
        let scene = self.scene()
        XCTAssertEqual(scene.kiosk.servers.addresses, [Self.first, Scene.farAddress.address])
        let named = Scene("[servers]\nproxies = sip:one.example;transport=udp, sip:10.0.0.8")
        XCTAssertEqual(named.kiosk.servers.addresses, [Self.first, Scene.farAddress.address])
    }

    func testTheOneThatTookACallStaysInUse() {
        let scene = self.failedOver("never")
        XCTAssertEqual(scene.kiosk.policy.current, 1)
        scene.pass(3_600_000)
        scene.forget()
        scene.press(.call)
        XCTAssertEqual(self.sentTo(scene, "INVITE"), ["10.0.0.1"])
        scene.farAnswers(.busyHere, [])
        XCTAssertEqual(scene.kiosk.policy.current, 1)
    }

    func testTheFirstComesBackOnceItHasAnsweredForAMinute() {
        let scene = self.failedOver()
        scene.pass(60_000)
        XCTAssertEqual(scene.kiosk.policy.current, 1, "it is still dead")
        scene.dead = []
        scene.pass(59_000)
        XCTAssertEqual(scene.kiosk.policy.current, 1)
        scene.pass(50_000)
        XCTAssertEqual(scene.kiosk.policy.current, 0)
        XCTAssertEqual(scene.events("server").last?["uri"] as? String, "sip:10.0.0.8")
        XCTAssertEqual(scene.events("server").last?["in_use"] as? Bool, true)
        scene.forget()
        scene.press(.call)
        XCTAssertEqual(self.sentTo(scene, "INVITE"), ["10.0.0.8"])
    }

    func testAProbeThatFailsBeginsTheMinuteAnew() {
        let scene = self.failedOver()
        scene.dead = []
        scene.pass(50_000)
        scene.dead = [Self.first]
        scene.pass(30_000)
        scene.dead = []
        scene.pass(55_000)
        XCTAssertEqual(scene.kiosk.policy.current, 1)
    }

    func testItDoesNotComeBackDuringACall() {
        let scene = self.failedOver()
        scene.dead = []
        scene.press(.call)
        scene.farAnswers()
        scene.feed(.media(.firstPacket(.audio)))
        scene.pass(200_000)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.kiosk.policy.current, 1)
        scene.press(.hook)
        scene.pass(1)
        XCTAssertEqual(scene.state, "idle")
        XCTAssertEqual(scene.kiosk.policy.current, 0)
    }

    func testByHandItComesBackAtOnceAndOtherwiseNever() {
        let scene = self.failedOver("manual")
        scene.dead = []
        scene.pass(3_600_000)
        XCTAssertEqual(scene.kiosk.policy.current, 1)
        scene.feed(.control(Scene.client, line: "failback"))
        XCTAssertEqual(scene.replies.last?["ok"] as? Bool, true)
        XCTAssertEqual(scene.kiosk.policy.current, 0)
        let plain = Scene()
        plain.feed(.control(Scene.client, line: "failback"))
        XCTAssertEqual(plain.replies.last?["ok"] as? Bool, false)
    }

    func testTheOneInUseIsProbedAndWhatIsSaidOfItIsItsOwn() {
        let scene = self.failedOver("manual")
        scene.pass(60_000)
        XCTAssertEqual(self.sentTo(scene, "OPTIONS"), ["10.0.0.1"])
        let local = LocalCounters(descriptors: 0, threads: 0, residentKiB: 0, framebuffers: 0)
        scene.feed(.localCounters(Scene.client, local))
        let server = scene.replies.last?["server"] as? [String: Any]
        XCTAssertEqual(server?["uri"] as? String, "sip:10.0.0.1;transport=udp")
        XCTAssertEqual(server?["state"] as? String, "ok")
    }

    func testAServerThatDiesBeforeThePressIsLeftWithoutWaiting() {
        let scene = self.scene(firstIsDead: false)
        scene.pass(30_000)
        scene.dead = [Self.first]
        scene.pass(30_000)
        XCTAssertEqual(scene.events("server").last?["state"] as? String, "bad")
        scene.forget()
        scene.press(.call)
        XCTAssertEqual(self.sentTo(scene, "INVITE"), ["10.0.0.1"])
    }

    func testWithOneServerOrNoneNothingIsProbed() {
        for settings in ["", "[servers]\nproxies = sip:10.0.0.1"] {
            let scene = Scene(settings)
            scene.pass(3_600_000)
            XCTAssertEqual(self.sentTo(scene, "OPTIONS"), [])
        }
    }

    func testNoServerHasSoManyHopsThatAnotherGetsNone() {
        let text = "[servers]\nproxies = " + (0..<8).map { "sip:h\($0)" }.joined(separator: ",")
        var policy = ServerPolicy(Configuration.parse(Array(text.utf8)).0.servers, now: .zero)
        let hops = (0..<8).map { server in
            (0..<16).map { Hop(.udp, SocketAddress(.v4(UInt32(server * 100 + $0 + 1)), port: 5060), name: "") }
        }
        let found = policy.found(hops)
        XCTAssertEqual(found.count, 16)
        XCTAssertEqual(Set(found.map { hop in hops.firstIndex { $0.contains(hop) } }).count, 8)
        XCTAssertTrue(policy.worked(hops[3][1]))
        XCTAssertFalse(policy.worked(hops[3][0]), "the same server")
        XCTAssertEqual(policy.found(hops).first, hops[3][0])
        XCTAssertFalse(policy.worked(Hop(.udp, SocketAddress(.v4(9_999), port: 5060), name: "")))
    }
}
