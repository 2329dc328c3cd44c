// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

final class TimeAndQueueTests: XCTestCase {
    func testInstantsStopAtBothEndsOfTime() {
        let end = Instant(nanoseconds: .max)
        XCTAssertEqual(end + .seconds(1), end)
        XCTAssertEqual(Instant.zero + Duration(nanoseconds: .min), .zero)
        XCTAssertEqual(Instant(nanoseconds: 5) + Duration(nanoseconds: -3), Instant(nanoseconds: 2))
        XCTAssertEqual(Instant(nanoseconds: 5) - Instant(nanoseconds: 8), Duration(nanoseconds: -3))
        XCTAssertLessThan(Instant.zero, end)
    }

    func testTheDistanceBetweenFarInstantsKeepsItsSign() {
        let end = Instant(nanoseconds: .max)
        XCTAssertGreaterThan(end - .zero, .zero)
        XCTAssertLessThan(.zero - end, .zero)
    }

    func testDurationsAreClampedInsteadOfWrapping() {
        let most = Duration(nanoseconds: .max)
        let least = Duration(nanoseconds: .min)
        XCTAssertEqual(Duration.seconds(.max), most)
        XCTAssertEqual(Duration.milliseconds(.min), least)
        XCTAssertEqual(most + .seconds(1), most)
        XCTAssertEqual(least - .seconds(1), least)
        XCTAssertEqual(Duration.seconds(1) - most, Duration(nanoseconds: 1_000_000_000 - Int64.max))
        XCTAssertEqual(Duration.zero - least, most)
        XCTAssertEqual(least - least, .zero)
        XCTAssertEqual(most * 2, most)
        XCTAssertEqual(most * -2, least)
        XCTAssertEqual(Duration.milliseconds(1_999).milliseconds, 1_999)
        XCTAssertEqual(Duration(nanoseconds: -1_999_999).milliseconds, -1)
    }

    func testAFullQueueDropsItsOldest() {
        var queue = BoundedQueue<Int>(capacity: 3)
        XCTAssertNil(queue.pop())
        for value in 1...5 { queue.push(value) }
        XCTAssertEqual(queue.count, 3)
        XCTAssertEqual(queue.dropped, 2)
        XCTAssertEqual([queue.pop(), queue.pop(), queue.pop(), queue.pop()], [3, 4, 5, nil])
        XCTAssertTrue(queue.isEmpty)
    }

    func testAQueueGoesRoundForEver() {
        var queue = BoundedQueue<Int>(capacity: 2)
        for value in 0..<1_000 {
            queue.push(value)
            XCTAssertEqual(queue.pop(), value)
        }
        queue.push(1)
        queue.push(2)
        queue.removeAll()
        XCTAssertEqual(queue.count, 0)
        XCTAssertEqual(queue.dropped, 0)
    }

    func testTheGeneratorReplaysFromItsSeed() {
        var left = Generator(seed: 42)
        var right = Generator(seed: 42)
        var other = Generator(seed: 43)
        let numbers = (0..<100).map { _ in left.next() }
        XCTAssertEqual(numbers, (0..<100).map { _ in right.next() })
        XCTAssertNotEqual(numbers, (0..<100).map { _ in other.next() })
        XCTAssertEqual(Set(numbers).count, 100)
    }

    func testTheGeneratorMatchesPublishedSplitMix64() {
        var generator = Generator(seed: 1_234_567)
        XCTAssertEqual(generator.next(), 6_457_827_717_110_365_317)
        XCTAssertEqual(generator.next(), 3_203_168_211_198_807_973)
    }

    func testBoundedNumbersReachEveryValueAndNeverTheBound() {
        var generator = Generator(seed: 9)
        var counts = [Int](repeating: 0, count: 6)
        for _ in 0..<6_000 { counts[Int(generator.below(6))] += 1 }
        for count in counts { XCTAssertGreaterThan(count, 800) }
        XCTAssertEqual(generator.below(0), 0)
        XCTAssertEqual(generator.below(1), 0)
    }

    func testTokensHaveTheLengthAskedForAndDiffer() {
        var generator = Generator(seed: 3)
        XCTAssertEqual(generator.token(digits: 0), "")
        XCTAssertEqual(generator.token(digits: 33).count, 33)
        XCTAssertEqual(Set((0..<1_000).map { _ in generator.token(digits: 16) }).count, 1_000)
    }
}
