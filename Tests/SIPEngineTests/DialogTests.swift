// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Route sets, targets, the next hop, and bodies.
final class DialogTests: XCTestCase {
    /// The BYE of a call whose 200 carried these, and the way it goes.
    private func bye(contact: String, recordRoutes: [String] = [], _ transport: SIPTransport = .udp) -> (
        message: SIPMessage, flow: Flow
    ) {
        let script = Script(transport)
        let handle = script.call()
        let routes = recordRoutes.map { (HeaderName.recordRoute, ByteString(utf8Of: $0)) }
        script.answer(script.next(), 200, body: Script.description, contact: contact, headers: routes)
        let ack = script.outbox.removeFirst()
        script.input(.hangUp(handle, .normal))
        let bye = script.outbox.removeFirst()
        XCTAssertEqual(ack.flow, bye.flow)
        XCTAssertEqual(ack.message.requestURI, bye.message.requestURI)
        XCTAssertEqual(ack.message.fields(.route), bye.message.fields(.route))
        return bye
    }

    private func address(_ text: ByteString, _ port: UInt16) -> SocketAddress {
        SocketAddress(IPAddress(text)!, port: port)
    }

    func testRequestsGoToTheContact() {
        let bye = self.bye(contact: "<sip:desk@192.0.2.7:5099>")
        XCTAssertEqual(bye.message.requestURI?.printed, "sip:desk@192.0.2.7:5099")
        XCTAssertEqual(bye.flow.remote, self.address("192.0.2.7", 5099))
        XCTAssertEqual(bye.message.fields(.route), [])
    }

    func testMaddrIsTheHopWhereTheContactNamesOne() {
        let bye = self.bye(contact: "<sip:desk@host.example.org:5099;maddr=192.0.2.8>")
        XCTAssertEqual(bye.flow.remote, self.address("192.0.2.8", 5099))
    }

    func testLooseRoutesAreReversedAndTheFirstIsTheNextHop() {
        let bye = self.bye(
            contact: "<sip:desk@192.0.2.7>", recordRoutes: ["<sip:192.0.2.4;lr>", "<sip:192.0.2.3:5061;lr>"])
        XCTAssertEqual(bye.message.requestURI?.printed, "sip:desk@192.0.2.7")
        XCTAssertEqual(bye.message.routes?.map { $0.printed }, ["<sip:192.0.2.3:5061;lr>", "<sip:192.0.2.4;lr>"])
        XCTAssertEqual(bye.flow.remote, self.address("192.0.2.3", 5061))
    }

    func testStrictRouterGetsItsAddressInTheFirstLineAndTheTargetLast() {
        let bye = self.bye(
            contact: "<sip:desk@192.0.2.7>", recordRoutes: ["<sip:192.0.2.4;lr>", "<sip:192.0.2.3>"])
        XCTAssertEqual(bye.message.requestURI?.printed, "sip:192.0.2.3")
        XCTAssertEqual(bye.message.routes?.map { $0.printed }, ["<sip:192.0.2.4;lr>", "<sip:desk@192.0.2.7>"])
        XCTAssertEqual(bye.flow.remote, self.address("192.0.2.3", 5060))
    }

    func testStrictRouterInTheMiddleIsTheAffairOfTheHopBeforeIt() {
        let bye = self.bye(
            contact: "<sip:desk@192.0.2.7>",
            recordRoutes: ["<sip:192.0.2.5;lr>, <sip:192.0.2.4>", "<sip:192.0.2.3;lr>"])
        XCTAssertEqual(bye.message.requestURI?.printed, "sip:desk@192.0.2.7")
        XCTAssertEqual(
            bye.message.routes?.map { $0.printed }, ["<sip:192.0.2.3;lr>", "<sip:192.0.2.4>", "<sip:192.0.2.5;lr>"])
        XCTAssertEqual(bye.flow.remote, self.address("192.0.2.3", 5060))
    }

    func testSeveralStrictRoutersAreWalkedOneByOne() {
        let bye = self.bye(
            contact: "<sip:desk@192.0.2.7>", recordRoutes: ["<sip:192.0.2.5>", "<sip:192.0.2.4>", "<sip:192.0.2.3>"])
        XCTAssertEqual(bye.message.requestURI?.printed, "sip:192.0.2.3")
        XCTAssertEqual(
            bye.message.routes?.map { $0.printed },
            ["<sip:192.0.2.4>", "<sip:192.0.2.5>", "<sip:desk@192.0.2.7>"])
    }

    /// The callee's route set is in the order of the request (RFC 3261 section 12.1.1).
    func testRoutesOfACallThatCameInKeepTheirOrderAndAreCopiedIntoOurAnswer() {
        let script = Script()
        let routes = "Record-Route: <sip:192.0.2.3;lr>, <sip:192.0.2.4;lr>\r\nRecord-Route: <sip:192.0.2.5;lr>\r\n"
        script.receive(script.stranger(headers: routes))
        let handle = script.incoming()
        script.input(.respond(handle, .ok, body: World.answer))
        let answer = script.next()
        XCTAssertEqual(answer.recordRoutes?.map { $0.uri.printed }.count, 3)
        script.receive(script.acknowledge(answer))
        script.input(.hangUp(handle, .normal))
        let flow = script.outbox[0].flow
        XCTAssertEqual(
            script.expect("BYE")[0].routes?.map { $0.printed },
            ["<sip:192.0.2.3;lr>", "<sip:192.0.2.4;lr>", "<sip:192.0.2.5;lr>"])
        XCTAssertEqual(flow.remote, self.address("192.0.2.3", 5060))
    }

    /// The route set is that of the 2xx, even where the 1xx of the same branch had another (section 13.2.2.4), and
    /// re-INVITEs do not change it (section 12.2).
    func testRouteSetIsThatOfTheAnswerForGood() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 180, headers: [(.recordRoute, "<sip:192.0.2.3;lr>")])
        script.answer(invite, 200, body: Script.description, headers: [(.recordRoute, "<sip:192.0.2.4;lr>")])
        XCTAssertEqual(script.expect("ACK")[0].routes?.map { $0.printed }, ["<sip:192.0.2.4;lr>"])
        script.input(.reoffer(handle, offer: World.offer))
        script.answer(
            script.expect("INVITE")[0], 200, body: Script.description, headers: [(.recordRoute, "<sip:192.0.2.9;lr>")])
        XCTAssertEqual(script.expect("ACK")[0].routes?.map { $0.printed }, ["<sip:192.0.2.4;lr>"])
    }

    func testNamesAndImplausibleTargetsStayOnTheFlow() {
        for contact in [
            "<sip:desk@host.example.org>", "<sips:desk@192.0.2.7>", "<sip:desk@0.0.0.0>", "<sip:desk@127.0.0.1>",
            "<sip:desk@224.0.1.75>", "<sip:desk@255.255.255.255>", "<sip:desk@[::1]>", "<sip:desk@[ff02::1]>",
            "<sip:desk@192.0.2.7;transport=ws>",
        ] {
            XCTAssertEqual(self.bye(contact: contact).flow, Script().flow, contact)
        }
    }

    func testTransportOfTheContactIsFollowed() {
        let bye = self.bye(contact: "<sip:desk@192.0.2.7;transport=TCP>")
        XCTAssertEqual(bye.flow.transport, .tcp)
        XCTAssertEqual(bye.message.topVia?.transport, "TCP")
    }

    func testOpenConnectionToTheSameHostIsUsedAgainAndAClosedOneIsNot() {
        let contact = "<sip:desk@192.0.2.2:5999;transport=tcp>"
        XCTAssertEqual(self.bye(contact: contact, .tcp).flow, Script(.tcp).flow)
        let script = Script(.tcp)
        let handle = script.call()
        script.answer(script.next(), 200, body: Script.description, contact: contact)
        script.input(.flowFailed(script.flow))
        script.expectEvents("answered")
        script.expect("ACK")
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.outbox.first?.flow.remote, self.address("192.0.2.2", 5999))
    }

    func testNewConnectionOfThePeerIsUsedForOurRequests() {
        let script = Script(.tcp)
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 200, body: Script.description, contact: "<sip:desk@192.0.2.2:5999;transport=tcp>")
        script.expect("ACK")
        var other = script.flow
        other.remote.port = 40_001
        script.receive(script.inDialog("OPTIONS", of: invite, number: 1, branch: "o"), on: other)
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.outbox.map { $0.flow }, [other, other])
    }

    func testContactOfATCPCallSaysSo() {
        let script = Script(.tcp)
        _ = script.call()
        XCTAssertEqual(script.next().contacts?.first?.uri.printed, "sip:kiosk@192.0.2.1:5060;transport=tcp")
    }

    func testRecordRouteOfARequestIsKeptInItsOrderAndCopiedToAnswers() {
        let script = Script()
        script.receive(
            script.stranger(headers: "Record-Route: <sip:192.0.2.3;lr>\r\nRecord-Route: <sip:192.0.2.4;lr>\r\n"))
        let handle = script.events[0].handle
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        XCTAssertEqual(answer.recordRoutes?.map { $0.printed }, ["<sip:192.0.2.3;lr>", "<sip:192.0.2.4;lr>"])
        script.receive(script.stranger("ACK", branch: "ack", toTag: answer.to!.tag!.string))
        script.input(.hangUp(handle, .normal))
        let bye = script.outbox.removeFirst()
        XCTAssertEqual(bye.message.routes?.map { $0.printed }, ["<sip:192.0.2.3;lr>", "<sip:192.0.2.4;lr>"])
        XCTAssertEqual(bye.flow.remote, self.address("192.0.2.3", 5060))
    }

    func testPeerWithoutTagsAsInRFC2543IsServed() {
        let script = Script()
        let handle = script.call()
        script.answer(script.next(), 200, tag: nil, body: Script.description)
        XCTAssertNil(script.next().to?.tag)
        script.input(.hangUp(handle, .normal))
        XCTAssertNil(script.next().to?.tag)
        script.expectEvents("answered")
    }

    // MARK: - Bodies

    private func description(_ body: String, boundary: ByteString = "b") -> String? {
        Multipart.sessionDescription(in: Array(body.utf8), boundary: boundary).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    func testDescriptionIsFoundInAMultipartBody() {
        let part = "Content-Type: application/sdp\r\n\r\nv=0\r\ns=-"
        XCTAssertEqual(self.description("preamble\r\n--b\r\n\(part)\r\n--b--\r\n"), "v=0\r\ns=-")
        XCTAssertEqual(self.description("--b\n\(part)\n--b--"), "v=0\r\ns=-")
        XCTAssertEqual(
            self.description("--b\r\n\r\nplain\r\n--b\r\nX: y\r\ncontent-type: Application/SDP\r\n\r\nv=0\r\n--b--"),
            "v=0")
    }

    func testBodyThatWasCutHasNoDescription() {
        let whole = "--b\r\nContent-Type: application/sdp\r\n\r\nv=0\r\ns=-\r\n--b--"
        for length in 0..<whole.utf8.count {
            let part = String(decoding: whole.utf8.prefix(length), as: UTF8.self)
            XCTAssertNil(self.description(part), "cut at \(length)")
        }
        XCTAssertNil(self.description("--b\r\n--b--"))
        XCTAssertNil(self.description("--b--"))
        XCTAssertNil(self.description(whole, boundary: ""))
        let long = String(repeating: "b", count: 71)
        let bounded = whole.replacingOccurrences(of: "--b", with: "--" + long)
        XCTAssertNil(self.description(bounded, boundary: ByteString(utf8Of: long)))
        XCTAssertNil(self.description("--b\r\nContent-Type: text/plain\r\n\r\nv=0\r\n--b--"))
    }
}
