// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import KioskEngine

/// In which order servers are tried.
final class HopTests: XCTestCase {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func hop(_ number: UInt32) -> Hop {
        Hop(.udp, SocketAddress(.v4(number), port: 5060), name: "")
    }

    private func order(_ memory: HopMemory, afterMs: Int) -> [UInt32] {
        memory.sorted([1, 2, 3].map(self.hop), now: self.start + .milliseconds(afterMs)).map {
            guard case .v4(let number) = $0.remote.address else { return 0 }
            return number
        }
    }

    func testAHopThatFailedIsTriedLastForTwoMinutesAndTwiceAsLongEachTime() {
        var memory = HopMemory()
        var nowMs = 0
        for lengthMs in [120_000, 240_000, 480_000, 960_000, 1_800_000, 1_800_000] {
            memory.failed(self.hop(1), now: self.start + .milliseconds(nowMs))
            XCTAssertEqual(self.order(memory, afterMs: nowMs + lengthMs - 1), [2, 3, 1])
            nowMs += lengthMs
            XCTAssertEqual(self.order(memory, afterMs: nowMs), [1, 2, 3])
        }
        memory.worked(self.hop(1))
        memory.failed(self.hop(1), now: self.start + .milliseconds(nowMs))
        XCTAssertEqual(self.order(memory, afterMs: nowMs + 120_000), [1, 2, 3], "it begins anew")
    }

    func testWhereAllFailedTheOneThatFailedFirstIsTriedFirst() {
        var memory = HopMemory()
        for (index, number) in [2, 1, 3].enumerated() {
            memory.failed(self.hop(UInt32(number)), now: self.start + .milliseconds(index * 2_000))
        }
        XCTAssertEqual(self.order(memory, afterMs: 7_000), [2, 1, 3])
    }

    func testTheMemoryIsBounded() {
        var memory = HopMemory()
        for number in 1...UInt32(HopMemory.entriesMax + 1) { memory.failed(self.hop(number), now: self.start) }
        XCTAssertEqual(self.order(memory, afterMs: 0), [1, 2, 3], "the oldest is forgotten: the first counts as good")
    }

    // MARK: - RFC 2782

    private func record(_ priority: UInt16, _ weight: UInt16, _ target: ByteString) -> ServiceRecord {
        ServiceRecord(priority: priority, weight: weight, port: 5060, target: target)
    }

    func testAmongEqualsEachIsFirstAsOftenAsItsWeightSays() {
        var generator = Generator(seed: 1)
        var firsts: [ByteString: Int] = [:]
        let records = [self.record(1, 0, "none"), self.record(1, 30, "few"), self.record(1, 60, "many")]
        for _ in 0..<9_000 {
            let ordered = ServiceOrder.ordered(records + [self.record(0, 1, "leader")], &generator)
            XCTAssertEqual(ordered.first?.target, "leader")
            XCTAssertEqual(ordered.count, 4)
            firsts[ordered[1].target, default: 0] += 1
        }
        XCTAssertEqual(Double(firsts["few"] ?? 0), 3_000, accuracy: 250)
        XCTAssertEqual(Double(firsts["many"] ?? 0), 6_000, accuracy: 250)
        XCTAssertGreaterThan(firsts["none"] ?? 0, 10)
        XCTAssertLessThan(firsts["none"] ?? 0, 300)
    }

    func testTheLargestWeightsOverflowNothing() {
        var generator = Generator(seed: 2)
        let records = (0..<64).map { _ in self.record(.max, .max, "x") }
        XCTAssertEqual(ServiceOrder.ordered(records, &generator).count, 64)
    }
}
