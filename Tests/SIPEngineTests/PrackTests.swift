// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Provisional responses that are acknowledged: RFC 3262.
final class PrackTests: XCTestCase {
    private func reliable(_ number: UInt32) -> [(HeaderName, ByteString)] {
        [(.require, "100rel"), (.rseq, ByteString(decimal: number))]
    }

    // MARK: - As the caller

    func testReliable1xxIsAcknowledgedOnceAndInOrder() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        XCTAssertTrue(invite.supported.contains("100rel"))
        script.answer(invite, 180, headers: self.reliable(7))
        let prack = script.expect("PRACK")[0]
        XCTAssertEqual(prack.rack, RAck(RSeq(7), CSeq(1, .invite)))
        XCTAssertEqual(prack.cseq, CSeq(2, .prack))
        XCTAssertEqual(prack.to?.tag, "there")
        XCTAssertEqual(prack.requestURI?.printed, "sip:desk@192.0.2.2:5070")
        script.answer(prack, 200)
        script.answer(invite, 180, headers: self.reliable(7))
        script.answer(invite, 183, headers: self.reliable(9))
        script.expect()
        script.expectEvents("ringing 180")
        script.answer(invite, 183, headers: self.reliable(8))
        XCTAssertEqual(script.expect("PRACK")[0].rack, RAck(RSeq(8), CSeq(1, .invite)))
        script.answer(invite, 180, headers: self.reliable(7))
        script.expect()
        script.expectEvents("ringing 183")
    }

    func testLostPrackIsSentAgainByItsTransactionUntilItsAnswer() {
        let script = Script()
        _ = script.call()
        script.answer(script.next(), 180, headers: self.reliable(1))
        let prack = script.next()
        script.pass(ms: 1_600)
        XCTAssertEqual(script.expect("PRACK", "PRACK"), [prack, prack])
        script.answer(prack, 200)
        script.pass(ms: 10_000)
        script.expect()
    }

    func testUnreliable1xxIsNeverAcknowledged() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 180)
        script.answer(invite, 180, headers: [(.rseq, "1")])
        script.answer(invite, 183, headers: [(.require, "100rel")])
        script.answer(invite, 183, headers: [(.require, "100rel"), (.rseq, "0")])
        script.answer(invite, 183, headers: [(.require, "100rel"), (.rseq, "4294967296")])
        script.answer(invite, 183, tag: nil, headers: self.reliable(1))
        script.expect()
        XCTAssertEqual(script.events.count, 6)
    }

    func testHighestNumberIsFollowedByNothingAndTrapsNothing() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 180, headers: self.reliable(UInt32.max))
        script.expect("PRACK")
        script.answer(invite, 183, headers: self.reliable(1))
        script.expect()
    }

    func testEachBranchOfAForkHasItsOwnNumbersAndDialog() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 180, tag: "a", headers: self.reliable(5))
        script.answer(invite, 180, tag: "b", headers: self.reliable(5))
        let pracks = script.expect("PRACK", "PRACK")
        XCTAssertEqual(pracks.map { $0.to?.tag }, ["a", "b"])
        XCTAssertEqual(pracks.map { $0.cseq?.number }, [2, 2])
        // The numbers go on where the early dialog was.
        script.answer(invite, 200, tag: "b", body: Script.description)
        XCTAssertEqual(script.expect("ACK")[0].cseq, CSeq(1, .ack))
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.expect("BYE")[0].cseq, CSeq(3, .bye))
    }

    func testAnswerInAReliable1xxIsTheAnswer() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        let preview = Script.description + "a=preview\r\n"
        script.answer(invite, 183, body: Script.description, headers: self.reliable(1))
        script.answer(invite, 183, body: preview, headers: self.reliable(2))
        script.answer(invite, 200)
        script.expect("PRACK", "PRACK", "ACK")
        guard case .answered(let answer)? = script.events.last?.event else { return XCTFail("not answered") }
        XCTAssertEqual(answer, Array(Script.description.utf8))
    }

    func testReliable1xxIsAcknowledgedWhileTheCallIsCancelled() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.input(.hangUp(handle, .normal))
        script.answer(invite, 180, headers: self.reliable(1))
        script.expect("PRACK", "CANCEL")
    }

    func testPracksThatAreNeverAnsweredLeaveNothingBehind() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        for number in 1...200 { script.answer(invite, 180, headers: self.reliable(UInt32(number))) }
        XCTAssertLessThanOrEqual(script.engine.clients.count, Limits.clientTransactionsMax)
        script.answer(invite, 200, body: Script.description)
        script.input(.hangUp(handle, .normal))
        script.pass(ms: 100_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    // MARK: - As the callee

    private static let wants = "Require: 100rel\r\n"

    private func prack(_ script: Script, _ rack: String, branch: String, body: String = "") -> String {
        script.within("PRACK", number: 2, branch: branch, body: body, headers: "RAck: \(rack)\r\n")
    }

    func testCase19RequiredReliable1xxGoesReliablyUntilItsPrack() {
        let script = Script()
        script.receive(script.stranger(headers: Self.wants))
        let handle = script.incoming()
        script.input(.respond(handle, .ringing, body: []))
        let ringing = script.expect("180")[0]
        XCTAssertTrue(ringing.require.contains("100rel"))
        let rseq = ringing.rseq!.number
        XCTAssertTrue((1...(1 << 31 - 1)).contains(Int(rseq)))
        var times: [Int] = []
        for ms in 1...4_000 {
            script.pass(ms: 1)
            for copy in script.outbox {
                XCTAssertEqual(copy.message, ringing)
                times.append(ms)
            }
            script.outbox = []
        }
        XCTAssertEqual(times, [500, 1500, 3500])
        script.receive(self.prack(script, "\(rseq) 1 INVITE", branch: "p1"))
        script.expect("200")
        script.pass(ms: 20_000)
        script.expect()
        script.input(.respond(handle, .ok, body: World.answer))
        XCTAssertEqual(script.expect("200")[0].supported.contains("100rel"), true)
    }

    func testOnlySupportedReliable1xxGoesPlainly() {
        let script = Script()
        script.receive(script.stranger(headers: "Supported: 100rel\r\n"))
        script.input(.respond(script.incoming(), .ringing, body: []))
        XCTAssertNil(script.expect("180")[0].rseq)
        script.pass(ms: 10_000)
        script.expect()
    }

    func testPrackThatMatchesNothingGets481() {
        let script = Script()
        script.receive(script.stranger(headers: Self.wants))
        script.input(.respond(script.incoming(), .ringing, body: []))
        let rseq = script.expect("180")[0].rseq!.number
        for (index, rack) in [
            "\(rseq + 1) 1 INVITE", "\(rseq) 2 INVITE", "\(rseq) 1 UPDATE", "0 1 INVITE", "99999999999 1 INVITE", "x",
        ].enumerated() {
            script.receive(self.prack(script, rack, branch: "p\(index)"))
            script.expect("481")
        }
        script.receive(script.within("PRACK", number: 3, branch: "none"))
        script.expect("481")
        script.receive(self.prackLater(script, "\(rseq) 1 INVITE", branch: "right"))
        script.expect("200")
        script.receive(self.prackLater(script, "\(rseq) 1 INVITE", branch: "again"))
        script.expect("481")
    }

    private func prackLater(_ script: Script, _ rack: String, branch: String) -> String {
        script.within("PRACK", number: 4, branch: branch, headers: "RAck: \(rack)\r\n")
    }

    func testSecond1xxWaitsForThePrackOfTheFirst() {
        let script = Script()
        script.receive(script.stranger(headers: Self.wants))
        let handle = script.incoming()
        script.input(.respond(handle, .ringing, body: []))
        script.input(.respond(handle, StatusCode(182), body: []))
        script.input(.respond(handle, .sessionProgress, body: []))
        let first = script.expect("180")[0].rseq!.number
        script.receive(self.prack(script, "\(first) 1 INVITE", branch: "p1"))
        XCTAssertEqual(script.expect("200", "183")[1].rseq?.number, first + 1)
    }

    func testNoPrackAtAllEndsTheInviteWith504() {
        let script = Script()
        script.receive(script.stranger(headers: Self.wants))
        script.input(.respond(script.incoming(), .ringing, body: []))
        script.pass(ms: 32_000)
        XCTAssertEqual(script.outbox.last?.message.name, "504")
        script.expectEvents("incoming", "ended timedOut")
    }

    func testFinalAnswerDoesNotWaitAndThePrackIsStillAnswered() {
        let script = Script()
        script.receive(script.stranger(headers: Self.wants))
        let handle = script.incoming()
        script.input(.respond(handle, .ringing, body: []))
        let rseq = script.expect("180")[0].rseq!.number
        script.input(.respond(handle, .ok, body: World.answer))
        let answer = script.expect("200")[0]
        script.receive(script.acknowledge(answer))
        script.pass(ms: 2_000)
        script.expect()
        script.receive(self.prack(script, "\(rseq) 1 INVITE", branch: "p1"))
        script.expect("200")
    }

    func testOfferInAPrackIsRefusedAndThePrackCounts() {
        let script = Script()
        script.receive(script.stranger(headers: Self.wants))
        script.input(.respond(script.incoming(), .ringing, body: []))
        let rseq = script.expect("180")[0].rseq!.number
        script.receive(self.prack(script, "\(rseq) 1 INVITE", branch: "p1", body: Script.description))
        script.expect("488")
        script.pass(ms: 20_000)
        script.expect()
        script.expectEvents("incoming")
    }

    /// Our offer would have to be in the 1xx; we keep it for the 2xx.
    func testCallerWithoutOfferThatRequiresReliable1xxGetsNoneBut100() {
        let script = Script()
        script.receive(script.stranger(body: "", headers: Self.wants))
        let handle = script.incoming()
        script.input(.respond(handle, .ringing, body: []))
        script.pass(ms: 1_000)
        script.expect("100")
        script.input(.respond(handle, .ok, body: World.answer))
        script.expect("200")
    }

    func testCancelEndsAReliable1xx() {
        let script = Script()
        script.receive(script.stranger(headers: Self.wants))
        script.input(.respond(script.incoming(), .ringing, body: []))
        script.receive(script.stranger("CANCEL"))
        let answers = script.expect("180", "200", "487")
        script.receive(script.stranger("ACK", toTag: answers[2].to!.tag!.string))
        script.pass(ms: 40_000)
        script.expect()
        XCTAssertTrue(script.engine.isIdle)
    }

    func testUnknownExtensionGets420WithItsNameOnly() {
        let script = Script()
        script.receive(script.stranger(headers: "Require: 100rel, foo, timer\r\n"))
        XCTAssertEqual(script.expect("420")[0].unsupported, ["foo"])
    }
}
