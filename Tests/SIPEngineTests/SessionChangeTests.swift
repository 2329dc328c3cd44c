// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Requests of the peer's within a call: re-INVITE, UPDATE.
final class SessionChangeTests: XCTestCase {
    func testReinviteIsReportedAndAnswered() {
        let script = Script()
        let handle = script.connectedIncoming()
        script.receive(script.within("INVITE", number: 2, branch: "re", body: Script.description))
        script.expectEvents("reoffered")
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        script.pass(ms: 600)
        XCTAssertEqual(script.next(), answer)
        script.receive(script.acknowledge(answer, branch: "ack2", number: 2))
        script.expectEvents("confirmed")
        script.pass(ms: 40_000)
        script.expect()
        XCTAssertEqual(script.engine.callCount, 1)
    }

    /// Held and resumed fast: what waits for copies of old re-INVITEs gives way to new ones.
    func testReinvitesWithoutEndFindRoom() {
        let script = Script()
        let handle = script.connectedIncoming()
        for number in 2..<3 * Limits.serverTransactionsMax {
            script.receive(script.within("INVITE", number: number, branch: "re\(number)", body: Script.description))
            script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
            let answer = script.expect("200")[0]
            script.receive(script.acknowledge(answer, branch: "ack\(number)", number: number))
            script.pass(ms: 10)
        }
        XCTAssertEqual(script.engine.counters[.tooManyTransactions], 0)
        script.pass(ms: 64_000)
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testReinviteThatMovesThePeerMovesOurRequests() {
        let script = Script()
        let handle = script.connectedIncoming()
        let text = script.within("INVITE", number: 2, branch: "re", body: Script.description)
        script.receive(text.replacingOccurrences(of: "<sip:desk@192.0.2.2:5070>", with: "<sip:new@192.0.2.9:5090>"))
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        _ = script.next()
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.outbox[0].flow.remote, SocketAddress(.v4(0xC000_0209), port: 5090))
        XCTAssertEqual(script.next().requestURI?.printed, "sip:new@192.0.2.9:5090")
    }

    func testUpdateWithoutOfferMovesOurRequestsToo() {
        let script = Script()
        let handle = script.connectedIncoming()
        let text = script.within("UPDATE", number: 2, branch: "u1")
        script.receive(text.replacingOccurrences(of: "<sip:desk@192.0.2.2:5070>", with: "<sip:new@192.0.2.9:5090>"))
        script.expect("200")
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.next().requestURI?.printed, "sip:new@192.0.2.9:5090")
    }

    func testReinviteWhileOneWaitsGets500WithRetryAfterAndTheNextIsTaken() {
        let script = Script()
        let handle = script.connectedIncoming()
        script.receive(script.within("INVITE", number: 2, branch: "re1", body: Script.description))
        script.receive(script.within("INVITE", number: 3, branch: "re2", body: Script.description))
        let refusal = script.expect("500")[0]
        XCTAssertLessThanOrEqual(refusal.retryAfter?.seconds ?? 99, 10)
        script.input(.respond(handle, .notAcceptableHere, body: []))
        script.expect("488")
        script.receive(script.within("INVITE", number: 4, branch: "re3", body: Script.description))
        script.expectEvents("reoffered", "reoffered")
    }

    func testCase10ReinviteBeforeTheAckIsTakenAsTheAck() {
        let script = Script()
        script.receive(script.stranger())
        let handle = script.incoming()
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        script.receive(script.within("INVITE", number: 2, branch: "re", body: Script.description))
        script.expectEvents("incoming", "confirmed", "reoffered")
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        script.expect("200", "200")
    }

    func testCase10ReinviteBeforeTheAckThatOwesUsAnAnswerGets491AndLeavesNothingBehind() {
        let script = Script()
        script.receive(script.stranger(body: ""))
        script.input(.respond(script.incoming(), .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        script.receive(script.within("INVITE", number: 2, branch: "re", body: Script.description))
        script.expect("491")
        script.receive(script.acknowledge(answer, body: Script.description))
        script.receive(script.within("INVITE", number: 3, branch: "re2", body: Script.description))
        script.expectEvents("incoming", "confirmed with answer", "reoffered")
    }

    func testReinviteWithoutOfferAsksForOurs() {
        let script = Script()
        let handle = script.connectedIncoming()
        script.receive(script.within("INVITE", number: 2, branch: "re"))
        script.expectEvents("reoffered empty")
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        script.receive(script.acknowledge(answer, branch: "ack2", number: 2, body: Script.description))
        script.expectEvents("confirmed with answer")
    }

    func testCancelledReinviteGets487AndTheCallGoesOn() {
        let script = Script()
        let handle = script.connectedIncoming()
        script.receive(script.within("INVITE", number: 2, branch: "re", body: Script.description))
        script.receive(script.within("CANCEL", number: 2, branch: "re"))
        script.expect("200", "487")
        script.input(.respond(handle, .ok, body: []))
        script.expect()
        XCTAssertEqual(script.engine.counters[.lateOrder], 1)
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testHangUpWhileAReinviteWaitsRefusesItAndSendsBye() {
        let script = Script()
        let handle = script.connectedIncoming()
        script.receive(script.within("INVITE", number: 2, branch: "re", body: Script.description))
        script.input(.hangUp(handle, .normal))
        script.expect("487", "BYE")
    }

    func testUpdateIsAnsweredAtOnceWithoutAndByTheCallWithAnOffer() {
        let script = Script()
        let handle = script.connectedIncoming()
        script.receive(script.within("UPDATE", number: 2, branch: "u1"))
        script.expect("200")
        script.receive(script.within("UPDATE", number: 3, branch: "u2", body: Script.description))
        script.expectEvents("reoffered")
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        script.pass(ms: 1000)
        script.expect("200")
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testRequestWithALowerNumberGets500() {
        let script = Script()
        _ = script.connectedIncoming()
        script.receive(script.within("OPTIONS", number: 9, branch: "o1"))
        script.receive(script.within("OPTIONS", number: 8, branch: "o2"))
        script.expect("200", "500")
    }

    func testUnknownRequestsInTheCallAreRefusedAndTheCallGoesOn() {
        let script = Script()
        _ = script.connectedIncoming()
        script.receive(script.within("PUBLISH", number: 2, branch: "r1"))
        script.receive(script.within("FROB", number: 3, branch: "r2"))
        script.expect("405", "501")
        XCTAssertEqual(script.engine.callCount, 1)
    }

    /// Its copy gets the same answer, after the end of the call too.
    func testCopyOfARefusedRequestIsRefusedAsBefore() {
        let script = Script()
        _ = script.connectedIncoming()
        let late = script.within("OPTIONS", number: 3, branch: "o3")
        script.receive(script.within("OPTIONS", number: 4, branch: "o4"))
        script.receive(late)
        script.receive(script.within("BYE", number: 5, branch: "bye"))
        script.receive(late)
        script.expect("200", "500", "200", "500")
    }
}
