// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Who may talk to the kiosk.
final class AccessTests: XCTestCase {
    private func policy(_ settings: String) -> AccessPolicy {
        AccessPolicy(Configuration.parse(Array("[call]\nuri = sip:a@b\n[sip]\n\(settings)".utf8)).0.sip)
    }

    private func range(_ text: StaticString) -> AddressRange {
        guard let range = AddressRange(ByteString(text)) else { preconditionFailure("a range by hand") }
        return range
    }

    func testTheFileDecidesWhoMayTalkToUs() {
        XCTAssertFalse(self.policy("").isOpen)
        XCTAssertEqual(self.policy("").allowed, [])
        XCTAssertEqual(self.policy("").automaticAnswer, [])
        XCTAssertTrue(self.policy("accept_from = anyone").isOpen)
        let listed = self.policy("accept_from = 192.0.2.0/24, 2001:db8::7\nauto_answer_from = 192.0.2.9")
        XCTAssertFalse(listed.isOpen)
        XCTAssertEqual(
            listed.allowed, [self.range("192.0.2.0/24"), self.range("2001:db8::7"), self.range("192.0.2.9")])
        XCTAssertEqual(listed.automaticAnswer, [self.range("192.0.2.9")])
    }

    func testListsThatCannotBeReadAreProblemsAndLeaveTheDefault() {
        let many = (0..<33).map { "10.0.0.\($0)" }.joined(separator: " ")
        for value in ["server", "192.0.2.0/33", "192.0.2", ",", many] {
            let (configuration, problems) = Configuration.parse(
                Array("[call]\nuri = sip:a@b\n[sip]\naccept_from = \(value)".utf8))
            XCTAssertEqual(configuration.sip.acceptFrom, .servers, value)
            XCTAssertEqual(problems.count, 1, value)
        }
    }

    func testStrangersGetNothingAndAreCounted() {
        let scene = Scene.inCall()
        let stranger = Flow(
            transport: .udp, local: Scene.kioskAddress, remote: SocketAddress(.v4(0x0A00_0063), port: 5060))
        scene.forget()
        for method in ["OPTIONS", "INVITE", "REGISTER", "NONSENSE"] {
            let lines = [
                "\(method) sip:callbox@10.0.0.2 SIP/2.0", "Via: SIP/2.0/UDP 10.0.0.99;branch=z9hG4bK1",
                "Max-Forwards: 70", "From: <sip:x@10.0.0.99>;tag=1", "To: <sip:callbox@10.0.0.2>", "Call-ID: 1",
                "CSeq: 1 \(method)", "Content-Length: 0", "", "",
            ]
            scene.feed(.received(Array(lines.joined(separator: "\r\n").utf8), on: stranger))
        }
        scene.feed(.received(Array("garbage".utf8), on: stranger))
        scene.feed(.received(Array("\r\n\r\n".utf8), on: stranger))
        XCTAssertEqual(scene.outputs.count, 0)
        let local = LocalCounters(descriptors: 0, threads: 0, residentKiB: 0, framebuffers: 0)
        scene.feed(.localCounters(Scene.client, local))
        XCTAssertGreaterThanOrEqual(scene.replies.last?["strangers"] as? Int ?? 0, 5)
        XCTAssertEqual(scene.replies.last?["calls"] as? Int, 1)
    }

    // MARK: - The addresses of the server

    private func questions(_ scene: Scene) -> Int {
        scene.outputs.filter {
            if case .ask(_, .addresses) = $0 { return true }
            return false
        }.count
    }

    func testAnAddressInTheFileIsTrustedAtOnceAndNeverAskedFor() {
        let scene = Scene(address: "uri = sip:a@192.0.2.7")
        XCTAssertEqual(scene.kiosk.servers.addresses, [.v4(0xC000_0207)])
        scene.pass(1_000_000)
        XCTAssertEqual(self.questions(scene), 0)
    }

    func testANameIsAskedForAtTheStartAndEveryTenMinutes() {
        let scene = Scene()
        XCTAssertEqual(self.questions(scene), 1)
        XCTAssertEqual(scene.kiosk.servers.addresses, [Scene.farAddress.address])
        scene.pass(599_000)
        XCTAssertEqual(self.questions(scene), 1)
        scene.pass(2_000)
        XCTAssertEqual(self.questions(scene), 2)
    }

    func testWhereNothingIsFoundItIsAskedAgainEveryMinuteAndFormerAddressesStay() {
        let scene = Scene()
        scene.resolver = .knowsNothing
        scene.pass(600_500)
        XCTAssertEqual(self.questions(scene), 2)
        scene.pass(60_000)
        XCTAssertEqual(self.questions(scene), 3)
        XCTAssertEqual(scene.kiosk.servers.addresses, [Scene.farAddress.address])
    }

    func testWhereNobodyAnswersWhatWasFoundBeforeCounts() {
        let scene = Scene()
        scene.resolver = .isSilent
        scene.pass(605_000)
        XCTAssertEqual(self.questions(scene), 2)
        XCTAssertEqual(scene.kiosk.servers.addresses, [Scene.farAddress.address])
    }

    func testDiallingTheServerAnswersTheQuestionToo() {
        let scene = Scene()
        scene.pass(500_000)
        scene.resolver = .isSilent
        scene.press(.call)
        let moved = IPAddress.v4(0x0A00_0009)
        scene.resolves(to: moved)
        XCTAssertEqual(scene.kiosk.servers.addresses, [moved])
        let asked = self.questions(scene)
        scene.pass(599_000)
        XCTAssertEqual(self.questions(scene), asked)
    }

    func testSomebodyElseWhoIsDialledIsNotTakenForTheServer() {
        let scene = Scene()
        scene.resolver = .isSilent
        scene.feed(.control(Scene.client, line: "call sip:x@other"))
        scene.resolves(to: .v4(0x0A00_0009))
        XCTAssertEqual(scene.kiosk.servers.addresses, [Scene.farAddress.address])
    }

    func testTheQuestionDoesNotDisturbACallThatIsBeingDialled() {
        let scene = Scene()
        scene.resolver = .isSilent
        scene.pass(601_000)
        scene.press(.call)
        XCTAssertEqual(scene.state, "lookingUp")
        scene.resolves(to: Scene.farAddress.address)
        XCTAssertEqual(scene.state, "calling")
    }

    func testWithoutAnAddressNobodyIsTrustedAndNothingIsAsked() {
        let scene = Scene(address: "")
        scene.pass(1_000_000)
        XCTAssertEqual(scene.kiosk.servers.addresses, [])
        XCTAssertEqual(self.questions(scene), 0)
    }
}
