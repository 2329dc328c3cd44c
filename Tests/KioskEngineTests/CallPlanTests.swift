// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// In which order targets are called, how often, and what is told of it in the end.
final class CallPlanTests: XCTestCase {
    private func plan(_ names: String..., cycles: Int = 1, pauseMs: Int = 0) -> CallPlan {
        var order = CallOrder(
            names.map { CallStep(SIPURI(user: ByteString(utf8Of: $0), host: .name("x"))) }, ringTimeout: .seconds(60))
        order.cycles = cycles
        order.pause = .milliseconds(pauseMs)
        return CallPlan(order)
    }

    private func walk(_ plan: CallPlan) -> [String] {
        var plan = plan
        var names = [plan.current?.targets[0].uri.user?.string ?? "-"]
        while names.count < 100 {
            switch plan.next() {
            case .step(let step): names.append(step.targets[0].uri.user?.string ?? "-")
            case .pause: names.append("pause")
            case .over: return names
            }
        }
        return names
    }

    func testStepsAndCycles() {
        XCTAssertEqual(self.walk(self.plan("a")), ["a"])
        XCTAssertEqual(self.walk(self.plan("a", "b")), ["a", "b"])
        XCTAssertEqual(self.walk(self.plan("a", "b", cycles: 2)), ["a", "b", "a", "b"])
        XCTAssertEqual(self.walk(self.plan("a", cycles: 3, pauseMs: 5)), ["a", "pause", "pause"])
    }

    func testAfterAPauseTheFirstStepIsTheCurrentOne() {
        var plan = self.plan("a", "b", cycles: 2, pauseMs: 5)
        _ = plan.next()
        XCTAssertEqual(plan.next(), .pause(.milliseconds(5)))
        XCTAssertEqual(plan.current?.targets[0].uri.user, "a")
        XCTAssertEqual(plan.cycle, 2)
        XCTAssertTrue(plan.hasNext)
        _ = plan.next()
        XCTAssertFalse(plan.hasNext)
        XCTAssertEqual(plan.next(), .over)
    }

    func testACallWithoutAPlanHasNothingAfterIt() {
        var plan = CallPlan()
        XCTAssertNil(plan.current)
        XCTAssertNil(plan.ringTimeout)
        XCTAssertEqual(plan.next(), .over)
    }

    func testTheMostTellingOutcomeIsTold() {
        let busy = CallOutcome.refused(.busyHere, phrase: "", q850: nil)
        let cases: [([CallOutcome], CallOutcome)] = [
            ([.unreachable, busy, .noResponse], busy), ([.notAnswered, .unknownHost], .notAnswered),
            ([.noResponse, .unreachable], .unreachable), ([busy, .notAnswered], busy),
        ]
        for (outcomes, telling) in cases {
            var plan = self.plan("a")
            for outcome in outcomes { plan.note("sip:x", outcome) }
            XCTAssertEqual(plan.mostTelling?.outcome, telling)
        }
    }

    func testOnlySoManyFailuresAreKept() {
        var plan = self.plan("a")
        for number in 0..<100 { plan.note(ByteString(decimal: number), .noResponse) }
        XCTAssertEqual(plan.failures.count, CallPlan.failuresMax)
        XCTAssertEqual(plan.failures.last?.peer, "99")
    }

    func testKeysAfterTheAnswerWithTheirPauses() throws {
        var keys = try XCTUnwrap(PostDial("12pp3", now: .zero))
        XCTAssertEqual(keys.dueAt, Instant.zero + .seconds(1))
        XCTAssertEqual(keys.take(now: keys.dueAt), Array("12".utf8))
        XCTAssertEqual(keys.dueAt, Instant.zero + .seconds(3))
        XCTAssertEqual(keys.take(now: keys.dueAt), Array("3".utf8))
        XCTAssertTrue(keys.isOver)
        XCTAssertNil(PostDial("", now: .zero))
    }
}
