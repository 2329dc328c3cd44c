// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// REGISTER as a registrar sees it.
final class RegisterTests: XCTestCase {
    private let id = RegistrationID(1)
    static let contact = "<sip:kiosk@192.0.2.1:5060>"

    // MARK: - The request

    func testRegisterSaysWhoAndWhere() {
        let script = Script()
        script.register(self.id)
        let register = script.next()
        XCTAssertEqual(register.requestURI?.printed.string, "sip:example.com")
        XCTAssertEqual(register.to?.printed.string, "<sip:gate@example.com>")
        XCTAssertEqual(register.from?.uri.printed.string, "sip:gate@example.com")
        XCTAssertEqual(register.values(.contact).map { $0.string }, [Self.contact + ";expires=600"])
        XCTAssertEqual(register.expiresSeconds, 600)
        XCTAssertEqual(register.supported, ["path"])
        XCTAssertNotNil(register.allow)
    }

    func testOutboundNamesTheInstanceAndTheFlow() {
        let script = Script(.tcp)
        script.register(self.id) { $0.setOutbound() }
        let register = script.next()
        XCTAssertEqual(
            register.values(.contact).map { $0.string },
            [
                "<sip:kiosk@192.0.2.1:5060;transport=tcp>;+sip.instance=\"<urn:uuid:0001>\";reg-id=1;expires=600"
            ])
        XCTAssertEqual(register.supported, ["path", "outbound"])
    }

    func testAddressThatCannotBeWrittenIsRefusedAtOnce() {
        let script = Script()
        script.register(self.id) { $0.address.user = "a b>\r\n" }
        script.expect()
        script.expectRegistrations("refused 400")
    }

    // MARK: - Refresh

    func testRefreshesKeepCallIDAndContactAndCountUp() {
        let script = Script()
        script.register(self.id)
        var last = script.next()
        for _ in 0..<10 {
            script.grant(last, 120)
            script.expectRegistrations("registered 120")
            script.passUntilSent()
            let refresh = script.next()
            XCTAssertEqual(refresh.callID, last.callID)
            XCTAssertEqual(refresh.from?.tag, last.from?.tag)
            XCTAssertEqual(refresh.values(.contact), last.values(.contact))
            XCTAssertEqual(refresh.cseq?.number, last.cseq!.number + 1)
            last = refresh
        }
    }

    /// From the grant to the next REGISTER.
    private func refreshMs(_ seconds: Int, seed: UInt64) -> Int {
        let script = Script(seed: seed)
        script.register(self.id)
        script.grant(script.next(), seconds)
        let start = script.now
        script.passUntilSent()
        return (script.now - start).milliseconds
    }

    func testRefreshFallsBetweenHalfAndNineTenths() {
        let delays = (0..<40).map { self.refreshMs(600, seed: $0) }
        XCTAssertTrue(delays.allSatisfy { (300_000...540_001).contains($0) }, "\(delays)")
        XCTAssertGreaterThan(Set(delays).count, 20)
    }

    func testGrantsOfASecondAndOfAWeekAreBounded() {
        for seed in 0..<10 as Range<UInt64> {
            XCTAssertTrue((5_000...9_001).contains(self.refreshMs(1, seed: seed)))
            XCTAssertTrue((1_800_000...3_240_001).contains(self.refreshMs(604_800, seed: seed)))
            XCTAssertTrue((1_800_000...3_240_001).contains(self.refreshMs(4_294_967_295, seed: seed)))
        }
    }

    // MARK: - Whose binding

    private func granted(_ contacts: String..., expires: String? = nil, outbound: Bool = true) -> String {
        let script = Script(.tcp)
        script.register(self.id) { if outbound { $0.setOutbound() } }
        var headers = contacts.map { (HeaderName.contact, ByteString(utf8Of: $0)) }
        if let expires { headers.append((.expires, ByteString(utf8Of: expires))) }
        script.answer(script.next(), 200, headers: headers)
        return script.registrations.map { $0.event.name }.joined(separator: ",")
    }

    func testBindingIsFoundByInstanceThenURIThenTheSmallest() {
        let ours = "<sip:kiosk@192.0.2.1:5060;transport=tcp>"
        let instance = ";+sip.instance=\"<URN:uuid:0001>\""
        let rewritten = "<sip:kiosk@203.0.113.9:1024;transport=tcp>"
        XCTAssertEqual(
            self.granted("<sip:kiosk@192.0.2.9>;expires=0", rewritten + instance + ";expires=120"), "registered 120")
        XCTAssertEqual(
            self.granted("<sip:x@192.0.2.9>;expires=30", rewritten + instance + ";reg-id=1;expires=120"),
            "registered 120")
        // Another flow of ours is not this one.
        XCTAssertEqual(
            self.granted(rewritten + instance + ";reg-id=2;expires=30", ours + ";expires=120"), "registered 120")
        // An old address of the same instance beside the new one.
        XCTAssertEqual(
            self.granted(
                "<sip:kiosk@198.51.100.1>" + instance + ";expires=20", ours + instance + ";expires=120"),
            "registered 120")
        XCTAssertEqual(self.granted("<sip:x@192.0.2.9>;expires=50", ours + ";expires=120"), "registered 120")
        XCTAssertEqual(
            self.granted("<sip:x@192.0.2.9>;expires=50", "<sip:y@192.0.2.8>;expires=0", rewritten + ";expires=40"),
            "registered 40")
    }

    func testExpiresHeaderStandsInForTheParameter() {
        let ours = "<sip:kiosk@192.0.2.1:5060;transport=tcp>"
        XCTAssertEqual(self.granted(ours, expires: "90"), "registered 90")
        XCTAssertEqual(self.granted(ours + ";expires=nonsense", expires: "90"), "registered 90")
        XCTAssertEqual(self.granted(ours), "registered 600")
        XCTAssertEqual(self.granted(ours, expires: "99999999999999999999"), "registered 600")
        XCTAssertEqual(self.granted(expires: "90"), "registered 90")
    }

    func testSuccessWithoutOurBindingIsARefusal() {
        XCTAssertEqual(self.granted(), "refused 200")
        XCTAssertEqual(self.granted(expires: "0"), "refused 200")
        XCTAssertEqual(self.granted("<sip:kiosk@192.0.2.1:5060;transport=tcp>;expires=0"), "refused 200")
        XCTAssertEqual(
            self.granted("<sip:kiosk@192.0.2.1:5060;transport=tcp>;expires=0", "<sip:x@192.0.2.9>;expires=60"),
            "refused 200")
        XCTAssertEqual(self.granted("<<<"), "refused 200")
    }

    // MARK: - Refusals

    func testIntervalTooBriefIsTriedAgainAtOnceWithTheMinimum() {
        let script = Script()
        script.register(self.id)
        let first = script.next()
        script.answer(first, 423, headers: [(.minExpires, "3600")])
        let second = script.next()
        XCTAssertEqual(second.expiresSeconds, 3_600)
        XCTAssertEqual(second.cseq?.number, 2)
        XCTAssertEqual(second.callID, first.callID)
        script.expectRegistrations()
        script.grant(second, 3_600)
        script.expectRegistrations("registered 3600")
    }

    func testIntervalTooBriefWithoutAMinimumIsDoubledAndBounded() {
        let script = Script()
        script.register(self.id)
        var asked: [UInt32] = []
        for _ in 0...Limits.registerRetriesMax {
            let register = script.next()
            asked.append(register.expiresSeconds ?? 0)
            script.answer(register, 423)
        }
        XCTAssertEqual(asked, [600, 1_200, 2_400, 4_800, 9_600])
        script.expect()
        script.expectRegistrations("refused 423")
        // What was learned is not forgotten.
        script.register(self.id)
        XCTAssertEqual(script.next().expiresSeconds, 9_600)
    }

    func testMinimumThatMakesNoSenseIsARefusal() {
        for minimum in ["10", "600", "604801", "4294967295", "99999999999"] as [ByteString] {
            let script = Script()
            script.register(self.id) { $0.expiresSeconds = minimum == "99999999999" ? 86_400 : 600 }
            script.answer(script.next(), 423, headers: [(.minExpires, minimum)])
            script.expect()
            script.expectRegistrations("refused 423")
        }
    }

    func testFirstHopWithoutOutboundIsAskedWithoutIt() {
        let script = Script()
        script.register(self.id) { $0.setOutbound() }
        script.answer(script.next(), 439)
        let second = script.next()
        XCTAssertEqual(second.supported, ["path"])
        XCTAssertNil(second.contacts?.first?.parameters.value("reg-id"))
        XCTAssertNotNil(second.contacts?.first?.parameters.value("+sip.instance"))
        script.answer(second, 439)
        script.expect()
        script.expectRegistrations("refused 439")
    }

    func testRetryAfterIsToldAndCut() {
        for (header, told) in [("30", "refused 503 after 30"), ("4000000000", "refused 503 after 300")] {
            let script = Script()
            script.register(self.id)
            script.answer(script.next(), 503, headers: [(.retryAfter, ByteString(utf8Of: header))])
            script.expectRegistrations(told)
        }
        let script = Script()
        script.register(self.id)
        script.answer(script.next(), 403)
        script.expectRegistrations("refused 403")
        // Nobody but who ordered it tries again.
        script.pass(ms: 3_600_000)
        script.expect()
    }

    // MARK: - Failures

    func testSilenceIsToldOnce() {
        let script = Script()
        script.register(self.id)
        script.pass(ms: 33_000)
        XCTAssertGreaterThan(script.outbox.count, 5)
        script.expectRegistrations("failed timedOut")
        script.outbox = []
        script.pass(ms: 3_600_000)
        script.expect()
    }

    func testAnswerLimitIsKeptAndALateAnswerMeansNothing() {
        let script = Script()
        script.register(self.id) { $0.answerLimitMs = 4_000 }
        let register = script.next()
        script.pass(ms: 4_000)
        script.expectRegistrations("failed timedOut")
        script.grant(register, 600)
        script.expectRegistrations()
        script.outbox = []
        script.register(self.id)
        XCTAssertEqual(script.next().cseq?.number, 2)
    }

    func testBrokenConnectionIsToldWhileItRegistersAndAfterwards() {
        let script = Script(.tcp)
        script.register(self.id)
        script.input(.flowFailed(script.flow))
        script.expectRegistrations("failed flowFailed")
        script.outbox = []
        script.register(self.id)
        script.grant(script.next(), 600)
        script.expectRegistrations("registered 600")
        script.input(.flowFailed(script.flow))
        script.expectRegistrations("failed flowFailed")
    }

    // MARK: - Another flow

    /// A node of the server has died with our stream. The far end of a call that stands is reached by the other one.
    func testCallsGoOnByTheNodeThatHasUsNow() {
        let script = Script(.tls, name: "example.com")
        script.register(self.id)
        script.grant(script.next(), 600)
        let handle = script.connectedCall()
        let other = Flow(
            transport: .tls, local: Script.here, remote: SocketAddress(.v4(0xC000_0203), port: 5061),
            name: "example.com")
        script.input(.flowFailed(script.flow))
        script.register(self.id) { $0.flow = other }
        script.grant(script.next(), 600)
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.outbox.last?.message.method, .bye)
        XCTAssertEqual(script.outbox.last?.flow, other)
    }

    func testCallsByAnotherServerStayWhereTheyAre() {
        let script = Script(.tls, name: "example.com")
        let handle = script.connectedCall()
        script.input(.flowFailed(script.flow))
        let other = Flow(
            transport: .tls, local: Script.here, remote: SocketAddress(.v4(0xC000_0203), port: 5061),
            name: "example.org")
        script.register(self.id) { $0.flow = other }
        script.grant(script.next(), 600)
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.outbox.last?.flow, script.flow)
    }

    func testNewFlowOvertakesAndRemovesTheOldBinding() {
        let script = Script()
        script.register(self.id)
        let first = script.next()
        script.grant(first, 600)
        let moved = Flow(
            transport: .udp, local: SocketAddress(.v4(0xC633_6407), port: 5060), remote: Script.there)
        script.register(self.id) { $0.flow = moved }
        let second = script.next()
        XCTAssertEqual(second.callID, first.callID)
        XCTAssertEqual(second.cseq?.number, 2)
        XCTAssertEqual(second.topVia?.host, .address(moved.local.address))
        XCTAssertEqual(
            second.values(.contact).map { $0.string },
            ["<sip:kiosk@198.51.100.7:5060>;expires=600", Self.contact + ";expires=0"])
        // Before the answer comes, once more: the second is not waited for.
        let third = script.flow
        script.register(self.id) { $0.flow = third }
        let last = script.next()
        XCTAssertEqual(last.values(.contact).map { $0.string }, [Self.contact + ";expires=600"])
        script.answer(second, 503)
        script.grant(last, 300)
        script.expectRegistrations("registered 600", "registered 300")
    }

    // MARK: - Leaving

    func testUnregisterRemovesOurContactOnly() {
        let script = Script()
        script.register(self.id)
        script.grant(script.next(), 600)
        script.input(.unregister(self.id, withinMs: 3_000))
        let leave = script.next()
        XCTAssertEqual(leave.values(.contact).map { $0.string }, [Self.contact + ";expires=0"])
        XCTAssertEqual(leave.expiresSeconds, 0)
        XCTAssertEqual(leave.cseq?.number, 2)
        script.answer(leave, 200)
        script.expectRegistrations("registered 600", "unregistered")
        XCTAssertTrue(script.engine.registrations.isEmpty)
        script.pass(ms: 3_600_000)
        script.expect()
    }

    func testUnregisterEndsAtItsDeadline() {
        let script = Script()
        script.register(self.id)
        script.grant(script.next(), 600)
        script.input(.unregister(self.id, withinMs: 3_000))
        script.pass(ms: 2_999)
        script.expectRegistrations("registered 600")
        script.pass(ms: 1)
        script.expectRegistrations("unregistered")
        script.outbox = []
        script.pass(ms: 60_000)
        script.expect()
    }

    func testUnregisterWaitsForTheAnswerThatIsToCome() {
        let script = Script()
        script.register(self.id)
        let register = script.next()
        script.input(.unregister(self.id, withinMs: 3_000))
        script.expect()
        script.grant(register, 600)
        XCTAssertEqual(script.next().expiresSeconds, 0)
        script.pass(ms: 3_000)
        script.expectRegistrations("unregistered")
    }

    func testUnregisterOfWhatWasNeverRegistered() {
        let script = Script()
        script.input(.unregister(self.id, withinMs: 3_000))
        script.expectRegistrations("unregistered")
        script.register(self.id)
        script.answer(script.next(), 403)
        script.input(.unregister(self.id, withinMs: 3_000))
        script.expectRegistrations("refused 403", "unregistered")
    }
}
