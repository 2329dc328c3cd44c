// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// The flow of a registration: how others see it, what keeps it open, and what goes over it.
final class FlowTests: XCTestCase {
    /// A 200 from behind a NAT that shows us as 203.0.113.9:`port`.
    private func grant(_ script: Script, _ register: SIPMessage, seenAt port: UInt16) {
        var request = register
        var via = register.topVia!
        via.parameters.set("received", "203.0.113.9")
        via.parameters.set("rport", ByteString(decimal: port))
        request.replaceTopVia(via)
        script.grant(request, 600)
    }

    // MARK: - NAT

    func testContactFollowsTheAddressThatOthersSee() {
        let script = Script()
        script.register()
        self.grant(script, script.next(), seenAt: 1024)
        XCTAssertEqual(
            script.registrations.map { $0.event },
            [
                .registered(
                    Registered(
                        expiresSeconds: 600, serviceRoute: [],
                        publicAddress: SocketAddress(.v4(0xCB00_7109), port: 1024), isOutbound: false))
            ])
        script.pass(ms: Limits.registerRefreshMsMin)
        let second = script.next()
        XCTAssertEqual(
            second.values(.contact).map { $0.string },
            ["<sip:kiosk@203.0.113.9:1024>;expires=600", "<sip:kiosk@192.0.2.1:5060>;expires=0"])
        self.grant(script, second, seenAt: 1024)
        script.pass(ms: 100_000)
        script.expect()
        _ = script.call()
        XCTAssertEqual(script.next().values(.contact).map { $0.string }, ["<sip:kiosk@203.0.113.9:1024>"])
    }

    func testRegistrarThatLiesAboutThePortIsNotFlooded() {
        let script = Script()
        script.register()
        var sent = 0
        for port in 1000..<1012 as Range<UInt16> {
            self.grant(script, script.next(), seenAt: port)
            script.pass(ms: Limits.registerRefreshMsMin - 1)
            sent += script.outbox.count
            script.pass(ms: 1)
        }
        XCTAssertEqual(sent, 0)
    }

    func testContactThatTheRegistrarDoesNotTakeIsGivenUp() {
        let script = Script()
        script.register()
        self.grant(script, script.next(), seenAt: 1024)
        script.pass(ms: Limits.registerRefreshMsMin)
        script.answer(script.next(), 403)
        script.expectRegistrations("registered 600", "refused 403")
        script.register()
        let third = script.next()
        XCTAssertEqual(third.values(.contact).map { $0.string }, [RegisterTests.contact + ";expires=600"])
        self.grant(script, third, seenAt: 1024)
        script.pass(ms: Limits.registerRefreshMsMin)
        script.expect()
    }

    // MARK: - Outbound and routes

    private let outbound: [(HeaderName, ByteString)] = [(.require, "outbound")]

    func testOutboundContactOfADialogSaysSo() {
        let script = Script(.tcp)
        script.register { $0.setOutbound() }
        script.grant(script.next(), 600, headers: self.outbound)
        _ = script.call()
        XCTAssertEqual(
            script.next().values(.contact).map { $0.string }, ["<sip:kiosk@192.0.2.1:5060;transport=tcp;ob>"])
    }

    func testServiceRouteIsToldAndUsedForCallsAndTexts() {
        let script = Script()
        script.register()
        let route: ByteString = "<sip:edge.example.com;lr>, <sip:home.example.com;lr>"
        script.grant(script.next(), 600, headers: [(.other("Service-Route"), route)])
        guard case .registered(let registered)? = script.registrations.first?.event else { return XCTFail("not told") }
        let sender = Sender(identity: SIPURI("sip:gate@example.com;transport=tcp"), routes: registered.serviceRoute)
        let target = SIPURI("sip:desk@example.com")!
        let handle = script.engine.newHandle()
        script.input(.invite(handle, InviteRequest(target: target, flow: script.flow, offer: [], sender: sender)))
        script.input(.message(MessageID(1), .address(target, script.flow, by: sender), text: "hello"))
        for request in script.expect("INVITE", "MESSAGE") {
            XCTAssertEqual(
                request.values(.route).map { $0.string }, ["<sip:edge.example.com;lr>", "<sip:home.example.com;lr>"])
            XCTAssertEqual(request.from?.uri.printed.string, "sip:gate@example.com")
        }
    }

    func testServiceRouteThatIsOfNoUseIsNone() {
        let many = (0...SIPEngine.routesMax).map { "<sip:\($0).example.com;lr>" }.joined(separator: ", ")
        for route in ["<sip:strict.example.com>", "<tel:+123>", "<<", many] {
            let script = Script()
            script.register()
            script.grant(script.next(), 600, headers: [(.other("Service-Route"), ByteString(utf8Of: route))])
            guard case .registered(let registered)? = script.registrations.first?.event else { return XCTFail(route) }
            XCTAssertEqual(registered.serviceRoute, [], route)
        }
    }

    func testWhomWeRegisterWithMayTalkToUs() {
        let script = Script(.udp, .withAccess { _ in })
        script.receive(script.stranger())
        script.expect()
        script.register()
        script.grant(script.next(), 600)
        script.pass(ms: 60_000)
        script.receive(script.stranger())
        script.expectEvents("incoming")
    }

    // MARK: - A call that moves

    func testCallOnAStreamMovesToAnotherAddress() {
        let script = Script(.tcp)
        let handle = script.connectedCall()
        let here = SocketAddress(.v4(0xC633_6407), port: 5060)
        script.input(.move(handle, to: here))
        XCTAssertEqual(script.closed, [script.flow])
        script.input(.move(handle, to: here))
        XCTAssertEqual(script.closed.count, 1)
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.outbox.last?.flow.local, here)
        XCTAssertEqual(script.next().topVia?.host, .address(here.address))
    }

    // MARK: - Keep-alive

    func testStreamIsPingedAndAPongThatStaysOutIsTheEndOfIt() {
        let script = Script(.tcp)
        script.register { $0.setOutbound() }
        script.grant(script.next(), 3_600, headers: self.outbound)
        script.pass(ms: 94_999)
        XCTAssertEqual(script.rawOutbox, [])
        script.pass(ms: 25_002)
        XCTAssertEqual(script.rawOutbox, [SIPStreamFramer.ping])
        script.receive("\r\n")
        script.pass(ms: 20_000)
        XCTAssertEqual(script.closed, [])
        script.pass(ms: 100_001)
        XCTAssertEqual(script.rawOutbox.count, 2)
        script.pass(ms: 10_000)
        XCTAssertEqual(script.closed, [script.flow])
        script.expectRegistrations("registered 3600", "failed flowFailed")
        XCTAssertEqual(script.engine.counters[.pingUnanswered], 1)
        XCTAssertTrue(script.engine.keepAlives.isEmpty)
    }

    /// Some servers never answer a ping: their streams are pinged, and that is all.
    func testPongIsWaitedForOnlyWhereThePeerKnowsOfIt() {
        let script = Script(.tcp)
        script.register()
        script.grant(script.next(), 3_600)
        script.pass(ms: 240_010)
        XCTAssertEqual(script.rawOutbox.count, 2)
        XCTAssertEqual(script.closed, [])
        script.receive("\r\n")
        script.pass(ms: 131_000)
        XCTAssertEqual(script.closed, [script.flow])
    }

    /// Case 43: a pong is no part of the message that follows it, however the bytes are cut.
    func testPongAndAMessageInAnyCut() {
        for cut in 1..<6 {
            let script = Script(.tcp)
            script.register { $0.setOutbound() }
            script.grant(script.next(), 3_600, headers: self.outbound)
            script.pass(ms: 120_001)
            let bytes = Array(("\r\n" + script.stranger("OPTIONS")).utf8)
            script.input(.received(Array(bytes[..<cut]), on: script.flow))
            script.input(.received(Array(bytes[cut...]), on: script.flow))
            script.expect("200")
            script.pass(ms: 11_000)
            XCTAssertEqual(script.closed, [])
        }
    }

    func testFlowTimerOfTheRegistrarIsKept() {
        let script = Script(.tcp)
        script.register()
        script.grant(script.next(), 3_600, headers: [(.other("Flow-Timer"), "60")])
        script.pass(ms: 47_999)
        XCTAssertEqual(script.rawOutbox, [])
        script.pass(ms: 12_002)
        XCTAssertEqual(script.rawOutbox, [SIPStreamFramer.ping])
        let hasty = Script(.tcp)
        hasty.register()
        hasty.grant(hasty.next(), 3_600, headers: [(.other("Flow-Timer"), "0")])
        hasty.pass(ms: 7_999)
        XCTAssertEqual(hasty.rawOutbox, [])
    }

    func testDatagramsArePingedBehindANATOnly() {
        let plain = Script()
        plain.register()
        plain.grant(plain.next(), 3_600)
        plain.pass(ms: 300_000)
        XCTAssertEqual(plain.rawOutbox, [])
        let script = Script()
        script.register()
        self.grant(script, script.next(), seenAt: 1024)
        script.pass(ms: Limits.registerRefreshMsMin)
        self.grant(script, script.next(), seenAt: 1024)
        script.pass(ms: 115_000)
        XCTAssertTrue((3...5).contains(script.rawOutbox.count), "\(script.rawOutbox.count)")
        script.input(.unregister(RegistrationID(1), withinMs: 1_000))
        script.pass(ms: 1_000)
        XCTAssertTrue(script.engine.keepAlives.isEmpty)
    }

    func testAccountsOnOneFlowSharePings() {
        let script = Script(.tcp)
        for number in 1...4 as ClosedRange<UInt64> {
            script.register(RegistrationID(number))
            script.grant(script.next(), 3_600)
        }
        script.pass(ms: 120_001)
        XCTAssertEqual(script.rawOutbox.count, 1)
    }
}
