// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire
import XCTest

@testable import MediaEngine

private func at(_ ms: Int) -> Instant { Instant(nanoseconds: 1_000_000_000) + Duration.milliseconds(ms) }

final class ReceptionTests: XCTestCase {
    private func packet(_ sequence: Int, timestamp: UInt32 = 0) -> RTPPacket {
        RTPPacket(
            marker: false, payloadType: Call.pcmu, sequence: SequenceNumber(UInt16(truncatingIfNeeded: sequence)),
            timestamp: RTPTimestamp(timestamp), ssrc: SSRC(9), payload: [])
    }

    func testVerdicts() {
        var reception = Reception(first: self.packet(65_534))
        let table: [(Int, Reception.Verdict)] = [
            (65_535, .accepted), (65_536, .accepted), (65_535, .duplicate), (65_538, .accepted), (65_537, .accepted),
            (65_537, .duplicate), (65_538, .duplicate), (65_599, .accepted), (65_536, .duplicate), (65_539, .accepted),
            // Far away: dropped, unless the next goes on from there.
            (70_000, .wild), (65_601, .accepted), (70_001, .wild), (70_002, .restarted), (70_003, .accepted),
            (60_000, .wild), (60_002, .wild), (60_003, .restarted),
        ]
        for (index, (sequence, expected)) in table.enumerated() {
            XCTAssertEqual(reception.take(self.packet(sequence), rate: 8000, now: at(0)), expected, "\(index)")
        }
    }

    func testLossIsExpectedLessReceivedAcrossTheWrap() {
        var reception = Reception(first: self.packet(65_530))
        for sequence in 65_531..<65_630 where sequence % 10 != 0 {
            _ = reception.take(self.packet(sequence), rate: 8000, now: at(0))
        }
        XCTAssertEqual(reception.lost, 9)
        let block = reception.reportBlock(now: at(0))
        XCTAssertEqual(block?.cumulativeLost, 9)
        XCTAssertEqual(block?.highestSequence, 65_629)
        XCTAssertEqual(block?.fractionLost, UInt8(9 * 256 / 100))
        XCTAssertEqual(block?.lastSenderReport, 0)
        XCTAssertEqual(block?.delaySinceLastSenderReport, 0)
    }

    func testFractionStartsAnewAndSilenceIsNotReported() {
        var reception = Reception(first: self.packet(0))
        _ = reception.take(self.packet(3), rate: 8000, now: at(0))
        XCTAssertEqual(reception.reportBlock(now: at(0))?.fractionLost, 128)
        XCTAssertNil(reception.reportBlock(now: at(5000)))
        for sequence in 4...13 { _ = reception.take(self.packet(sequence), rate: 8000, now: at(0)) }
        let block = reception.reportBlock(now: at(0))
        XCTAssertEqual(block?.fractionLost, 0)
        XCTAssertEqual(block?.cumulativeLost, 2)
    }

    func testLossSurvivesARestart() {
        var reception = Reception(first: self.packet(0))
        _ = reception.take(self.packet(5), rate: 8000, now: at(0))
        _ = reception.take(self.packet(30_000), rate: 8000, now: at(0))
        XCTAssertEqual(reception.take(self.packet(30_001), rate: 8000, now: at(0)), .restarted)
        XCTAssertEqual(reception.lost, 4)
    }

    func testJitterOfAnEvenStreamIsNothing() {
        var reception = Reception(first: self.packet(0))
        for index in 1..<100 {
            _ = reception.take(self.packet(index, timestamp: UInt32(index) * 160), rate: 8000, now: at(index * 20))
        }
        XCTAssertEqual(reception.jitter, 0)
    }

    func testJitterNearsTheMeanDeviation() {
        // Every other packet 10 ms late: each difference is 80 units.
        var reception = Reception(first: self.packet(0))
        for index in 1..<400 {
            let late = index % 2 * 10
            _ = reception.take(
                self.packet(index, timestamp: UInt32(index) * 160), rate: 8000, now: at(index * 20 + late))
        }
        XCTAssertTrue((76...80).contains(reception.jitter), "\(reception.jitter)")
    }

    func testAJumpOfTheTimestampIsNotJitter() {
        var reception = Reception(first: self.packet(0))
        for index in 1..<50 {
            let jump: UInt32 = index > 25 ? 1_000_000_000 : 0
            _ = reception.take(
                self.packet(index, timestamp: UInt32(index) * 160 + jump), rate: 8000, now: at(index * 20))
        }
        XCTAssertEqual(reception.jitter, 0)
    }

    func testBlockEchoesTheLastSenderReport() {
        var reception = Reception(first: self.packet(0))
        var report = SenderReport(
            ssrc: SSRC(9), ntpTime: NTPTime(0x1234_5678_9ABC_DEF0), timestamp: RTPTimestamp(0), packets: 1,
            payloadBytes: 1, blocks: [])
        reception.noteSenderReport(report, now: at(0))
        report.ssrc = SSRC(8)
        report.ntpTime = NTPTime(0)
        reception.noteSenderReport(report, now: at(100))
        let block = reception.reportBlock(now: at(1500))
        XCTAssertEqual(block?.lastSenderReport, 0x5678_9ABC)
        XCTAssertEqual(block?.delaySinceLastSenderReport, 65_536 * 3 / 2)
    }
}

final class ReorderBufferTests: XCTestCase {
    private func packet(_ sequence: Int) -> RTPPacket {
        RTPPacket(
            marker: false, payloadType: Call.h264, sequence: SequenceNumber(UInt16(truncatingIfNeeded: sequence)),
            timestamp: RTPTimestamp(0), ssrc: SSRC(9), payload: [])
    }

    private func numbers(_ packets: [RTPPacket]) -> [UInt16] { packets.map { $0.sequence.value } }

    func testPacketsInOrderPassAtOnce() {
        var buffer = ReorderBuffer()
        for sequence in 65_530..<65_550 {
            XCTAssertEqual(self.numbers(buffer.insert(self.packet(sequence), now: at(0))), [UInt16(sequence & 0xFFFF)])
            XCTAssertNil(buffer.deadline)
        }
    }

    func testSwappedPacketsComeOutInOrder() {
        var buffer = ReorderBuffer()
        var out: [UInt16] = []
        for (index, sequence) in [1, 3, 2, 6, 5, 4, 7].enumerated() {
            out += self.numbers(buffer.insert(self.packet(sequence), now: at(index)))
        }
        XCTAssertEqual(out, [1, 2, 3, 4, 5, 6, 7])
        XCTAssertEqual(buffer.gaps, 0)
        XCTAssertNil(buffer.deadline)
    }

    func testAGapIsGivenUpAfterItsTime() {
        var buffer = ReorderBuffer()
        _ = buffer.insert(self.packet(1), now: at(0))
        XCTAssertEqual(buffer.insert(self.packet(3), now: at(10)).count, 0)
        XCTAssertEqual(buffer.insert(self.packet(6), now: at(15)).count, 0)
        XCTAssertEqual(buffer.deadline, at(30))
        XCTAssertEqual(buffer.expire(now: at(29)).count, 0)
        XCTAssertEqual(self.numbers(buffer.expire(now: at(30))), [3])
        XCTAssertEqual(buffer.deadline, at(35), "the next gap has its own time")
        XCTAssertEqual(self.numbers(buffer.expire(now: at(35))), [6])
        XCTAssertEqual(buffer.gaps, 2)
        XCTAssertNil(buffer.deadline)
    }

    func testLatePacketsAreCountedAndTeachPatience() {
        var buffer = ReorderBuffer()
        _ = buffer.insert(self.packet(1), now: at(0))
        _ = buffer.insert(self.packet(3), now: at(0))
        _ = buffer.expire(now: at(20))
        XCTAssertEqual(buffer.insert(self.packet(2), now: at(25)).count, 0)
        XCTAssertEqual(buffer.late, 1)
        _ = buffer.insert(self.packet(5), now: at(100))
        XCTAssertEqual(buffer.deadline, at(100) + Duration(nanoseconds: 37_500_000), "half as much again as 25 ms")
        _ = buffer.expire(now: at(200))
        _ = buffer.insert(self.packet(4), now: at(9000))
        _ = buffer.insert(self.packet(7), now: at(9100))
        XCTAssertEqual(buffer.deadline, at(9150), "never longer than 50 ms")
    }

    func testAJumpBeyondTheSpanGivesUpWhatIsBefore() {
        var buffer = ReorderBuffer()
        _ = buffer.insert(self.packet(1), now: at(0))
        XCTAssertEqual(self.numbers(buffer.insert(self.packet(1000), now: at(0))), [1000])
        XCTAssertEqual(buffer.gaps, 1)
        _ = buffer.insert(self.packet(1002), now: at(0))
        _ = buffer.insert(self.packet(1010), now: at(0))
        XCTAssertEqual(self.numbers(buffer.insert(self.packet(1066), now: at(0))), [1002])
        XCTAssertEqual(self.numbers(buffer.expire(now: at(20))), [1010])
        XCTAssertEqual(self.numbers(buffer.expire(now: at(20))), [1066])
    }

    func testShuffledPacketsKeepTheirOrderAndNoneIsGivenTwice() {
        for seed in 0..<50 as Range<UInt64> {
            var generator = Generator(seed: seed)
            var buffer = ReorderBuffer()
            var out: [UInt16] = []
            var pending: [(due: Int, sequence: Int)] = []
            for ms in 0..<2000 {
                let delay = generator.below(4) == 0 ? Int(generator.below(60)) : 0
                if generator.below(10) != 0 { pending.append((ms + delay, ms)) }
                for arrival in pending.filter({ $0.due == ms }) {
                    out += self.numbers(buffer.insert(self.packet(arrival.sequence), now: at(ms)))
                }
                pending.removeAll { $0.due <= ms }
                while let deadline = buffer.deadline, deadline <= at(ms) {
                    out += self.numbers(buffer.expire(now: at(ms)))
                }
            }
            XCTAssertEqual(out, out.sorted())
            XCTAssertEqual(Set(out).count, out.count)
            XCTAssertGreaterThan(out.count, 1300)
        }
    }
}
