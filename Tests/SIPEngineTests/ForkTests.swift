// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// One INVITE and more than one 2xx: copies, forks, tags that change.
final class ForkTests: XCTestCase {
    func testRepeated200IsAcknowledgedWithTheSameAck() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        let ack = script.next()
        script.answer(invite, 200, body: Script.description)
        XCTAssertEqual(script.next(), ack)
        script.expectEvents("answered")
    }

    func testRepeated200IsAcknowledgedAfterTheCallEnded() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        script.input(.hangUp(handle, .normal))
        script.answer(script.expect("ACK", "BYE")[1], 200)
        script.answer(invite, 200, body: Script.description)
        script.expect("ACK")
    }

    func testDialogIsMadeByThe200AndNotByThe180WithAnotherTag() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 180, tag: "a")
        script.answer(invite, 200, tag: "b", body: Script.description)
        XCTAssertEqual(script.next().to?.tag, "b")
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.next().to?.tag, "b")
        script.expectEvents("ringing 180", "answered")
    }

    func testLosersOfAForkAreAcknowledgedAndEnded() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 200, tag: "a", body: Script.description)
        script.expect("ACK")
        script.pass(ms: 20)
        script.answer(invite, 200, tag: "b", body: Script.description)
        let loser = script.expect("ACK", "BYE")
        XCTAssertEqual(loser.map { $0.to?.tag }, ["b", "b"])
        script.pass(ms: 480)
        script.answer(invite, 200, tag: "b", body: Script.description)
        XCTAssertEqual(script.outbox.map { $0.message.name }.filter { $0 == "ACK" }, ["ACK"])
        script.expectEvents("answered")
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testForkThatAnswersAfterTheCallEndedIsEnded() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 200, tag: "a", body: Script.description)
        script.input(.hangUp(handle, .normal))
        script.answer(script.expect("ACK", "BYE")[1], 200)
        script.answer(invite, 200, tag: "b", body: Script.description)
        let late = script.expect("ACK", "BYE")
        XCTAssertEqual(late[1].to?.tag, "b")
    }

    func testMoreForksThanWeCanHoldAreCountedAndDropped() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        for fork in 0..<20 { script.answer(invite, 200, tag: "t\(fork)", body: Script.description) }
        XCTAssertEqual(script.outbox.filter { $0.message.name == "ACK" }.count, Limits.forksMax)
        XCTAssertEqual(script.engine.counters[.tooManyForks], UInt64(20 - Limits.forksMax))
    }

    func testAnswerWithoutDescriptionUsesTheOneOfTheSameBranch() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 183, body: Script.description)
        script.answer(invite, 200)
        script.expect("ACK")
        script.expectEvents("earlyMedia 183", "answered")
    }

    func testAnswerThatDescribesNothingIsAcknowledgedAndEnded() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 183, tag: "other", body: Script.description)
        script.answer(invite, 200)
        let bye = script.expect("ACK", "BYE")[1]
        XCTAssertEqual(bye.reasons.first?.cause, 488)
        script.answer(bye, 200)
        guard case .ended(.protocolFault)? = script.events.last?.event else { return XCTFail("no fault told") }
    }
}
