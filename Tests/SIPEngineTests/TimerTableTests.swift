// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import SIPEngine

final class TimerTableTests: XCTestCase {
    func testEveryTimerHasAPlaceAndIsSetAndStoppedAlone() {
        for timer in SIPTimer.allCases {
            var table = TimerTable()
            XCTAssertNil(table.next)
            table.set(timer, afterMs: 500, now: .milliseconds(100))
            XCTAssertEqual(table.running, [timer])
            XCTAssertEqual(table.next, WakeUp(at: .milliseconds(600), reason: timer))
            table.stop(timer)
            XCTAssertEqual(table.running, [])
        }
    }

    func testTimersExpireOnceInTheOrderOfTheirDeadlines() {
        var table = TimerTable()
        table.set(.b, afterMs: 300, now: .zero)
        table.set(.a, afterMs: 200, now: .zero)
        table.set(.accept, afterMs: 100, now: .zero)
        XCTAssertNil(table.expire(now: .milliseconds(99)))
        XCTAssertEqual(table.expire(now: .milliseconds(250)), .accept)
        XCTAssertEqual(table.expire(now: .milliseconds(250)), .a)
        XCTAssertNil(table.expire(now: .milliseconds(250)))
        XCTAssertEqual(table.running, [.b])
    }

    func testDeadlineAtTheEndOfTimeDoesNotWrap() {
        var table = TimerTable()
        table.set(.a, afterMs: Int.max, now: Instant(nanoseconds: UInt64.max - 5))
        XCTAssertNil(table.expire(now: .milliseconds(1)))
    }

    func testEngineNamesTheReasonOfItsNextWakeUp() {
        let script = Script()
        XCTAssertNil(script.engine.nextWakeUp)
        let handle = script.call()
        XCTAssertEqual(script.engine.nextWakeUp, WakeUp(at: .milliseconds(500), reason: .a))
        script.answer(script.next(), 180)
        XCTAssertNil(script.engine.nextWakeUp)
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.engine.nextWakeUp?.reason, .e)
    }

    func testCopiesOfARefusalAreAwaitedFor32SecondsHoweverShortT1() {
        var configuration = SIPConfiguration.standard
        configuration.t1Ms = 10
        XCTAssertEqual(TimerLengths(configuration, isReliable: false).answerCopiesMs, 32_000)
        XCTAssertEqual(TimerLengths(configuration, isReliable: false).transactionMs, 640)
    }

    func testLengthsThatWouldFireForEverAreMended() {
        var configuration = SIPConfiguration.standard
        (configuration.t1Ms, configuration.t2Ms, configuration.t4Ms) = (0, -1, 0)
        let lengths = TimerLengths(configuration, isReliable: false)
        XCTAssertGreaterThan(lengths.t1Ms, 0)
        XCTAssertGreaterThanOrEqual(lengths.t2Ms, lengths.t1Ms)
        XCTAssertGreaterThan(lengths.t4Ms, 0)
    }

    func testCountersHaveAPlaceForEveryKind() {
        for kind in SIPCount.allCases {
            var counters = SIPCounters()
            counters.add(kind)
            XCTAssertEqual(SIPCount.allCases.filter { counters[$0] == 1 }, [kind])
        }
    }
}
