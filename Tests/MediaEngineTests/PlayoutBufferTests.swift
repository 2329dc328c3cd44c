// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire
import XCTest

final class PlayoutBufferTests: XCTestCase {
    private var sound = SoundThread()
    private var generator = Generator(seed: 11)

    override func setUp() {
        self.sound = SoundThread()
        self.generator = Generator(seed: 11)
    }

    private var indices: [Int] { self.sound.played.map { $0.index } }
    private var delays: [Int] { self.sound.played.map { $0.delayMs } }

    /// The mean of the delays, in milliseconds.
    private var meanDelay: Int { self.delays.reduce(0, +) / max(1, self.delays.count) }

    // MARK: Paths

    func testAnEvenPathIsPlayedWholeWithLittleDelay() {
        self.sound.run(ms: 60_000) { _ in [5] }
        XCTAssertEqual(self.indices, Array(0..<self.indices.count))
        XCTAssertGreaterThan(self.indices.count, 2990)
        XCTAssertEqual(self.sound.concealedMs, 0)
        XCTAssertLessThanOrEqual(self.delays.max() ?? 999, 5 + 45)
        XCTAssertEqual(self.sound.buffer.targetMs, 20)
        XCTAssertLessThanOrEqual(self.sound.silentMs, 50, "only while it filled")
        XCTAssertEqual(self.sound.played.map { $0.followsGap }.filter { $0 }.count, 1)
    }

    func testTheDelayFollowsTheJitterBothWays() {
        let table: [(jitterMs: UInt64, delay: ClosedRange<Int>, concealed: Int)] = [
            (10, 15...60, 2), (40, 40...90, 2), (100, 90...170, 2), (160, 130...240, 3),
        ]
        for (jitterMs, delay, concealedPercent) in table {
            self.setUp()
            var generator = self.generator
            self.sound.run(ms: 10_000) { _ in [5 + Int(generator.below(jitterMs))] }
            self.sound.forget()
            self.sound.run(ms: 60_000) { _ in [5 + Int(generator.below(jitterMs))] }
            XCTAssertTrue(delay.contains(self.meanDelay), "jitter \(jitterMs): \(self.meanDelay)")
            XCTAssertLessThan(self.sound.concealedMs, 600 * concealedPercent, "jitter \(jitterMs)")
            XCTAssertEqual(self.indices, self.indices.sorted(), "jitter \(jitterMs)")
            self.sound.run(ms: 60_000) { _ in [5] }
            self.sound.forget()
            self.sound.run(ms: 5000) { _ in [5] }
            XCTAssertLessThanOrEqual(self.meanDelay, 60, "jitter \(jitterMs) is over")
        }
    }

    func testEachLostPacketIsConcealedOnceAndNoOther() {
        var generator = self.generator
        var lost = 0
        self.sound.run(ms: 60_000) { index in
            guard index > 10, generator.below(20) == 0 else { return [5] }
            lost += 1
            return []
        }
        XCTAssertGreaterThan(lost, 80)
        XCTAssertLessThanOrEqual(abs(self.sound.concealedMs - lost * 20), 40)
        XCTAssertEqual(self.sound.buffer.counts.late, 0)
        XCTAssertLessThanOrEqual(self.meanDelay, 50)
    }

    func testABurstOfLossDoesNotLengthenTheDelay() {
        self.sound.run(ms: 10_000) { _ in [5] }
        self.sound.forget()
        self.sound.run(ms: 10_000) { index in (520..<524).contains(index) ? [] : [5] }
        XCTAssertEqual(self.sound.concealedMs, 80)
        XCTAssertLessThanOrEqual(self.delays.max() ?? 999, 50)
    }

    func testReorderedAndDoubledPacketsPlayOnceInOrder() {
        self.sound.run(ms: 2000) { _ in [5] }
        var generator = self.generator
        self.sound.run(ms: 20_000) { index in
            let delay = index % 7 == 0 ? 30 : 5
            return generator.below(5) == 0 ? [delay, delay + 3] : [delay]
        }
        XCTAssertEqual(self.indices, self.indices.sorted())
        XCTAssertEqual(Set(self.indices).count, self.indices.count)
        XCTAssertLessThan(self.sound.concealedMs, 100)
        XCTAssertGreaterThan(self.sound.buffer.counts.duplicates + self.sound.buffer.counts.late, 100)
    }

    func testAStallIsFollowedByFreshSoundAndNotByOld() {
        for stallMs in [200, 400, 1000, 3000] {
            self.setUp()
            self.sound.run(ms: 10_000) { _ in [5] }
            self.sound.forget()
            let start = 10_000
            self.sound.run(ms: stallMs + 5000) { index in
                let sentAt = index * 20
                return [max(5, start + stallMs - sentAt + 5)]
            }
            let after = self.sound.played.filter { $0.atMs > start + stallMs }
            XCTAssertLessThanOrEqual(after.map { $0.delayMs }.max() ?? 999, 150, "\(stallMs)")
            let lastGap = self.sound.gapsAtMs.last ?? 0
            XCTAssertLessThanOrEqual(lastGap - start - stallMs, 130, "\(stallMs)")
            XCTAssertLessThanOrEqual(self.sound.concealedMs, 100, "\(stallMs)")
        }
    }

    func testOneShortStallDoesNotLengthenTheDelayForLong() {
        for stallMs in [60, 100, 200] {
            self.setUp()
            self.sound.run(ms: 10_000) { _ in [5] }
            self.sound.run(ms: 2000 + stallMs) { index in [max(5, 10_000 + stallMs - index * 20 + 5)] }
            self.sound.forget()
            self.sound.run(ms: 1000) { _ in [5] }
            XCTAssertLessThanOrEqual(self.meanDelay, 70, "\(stallMs)")
        }
    }

    func testClocksThatDriftApartNeitherStarveNorPileUp() {
        for drift in [-300, 300] {
            self.setUp()
            self.sound.driftPPM = drift
            self.sound.run(ms: 600_000) { _ in [5] }
            XCTAssertLessThanOrEqual(self.delays.suffix(1000).max() ?? 999, 90, "\(drift)")
            XCTAssertLessThanOrEqual(self.sound.concealedMs, 400, "\(drift)")
            XCTAssertLessThanOrEqual(self.sound.buffer.counts.skipped, 20, "\(drift)")
            XCTAssertLessThanOrEqual(self.sound.buffer.targetMs, 40, "\(drift)")
        }
    }

    // MARK: Breaks in the stream

    private func gapAfter(_ change: (inout SoundThread) -> Void) -> Int {
        self.setUp()
        self.sound.run(ms: 5000) { _ in [5] }
        self.sound.forget()
        change(&self.sound)
        self.sound.run(ms: 3000) { _ in [5] }
        XCTAssertGreaterThan(self.indices.count, 140)
        XCTAssertEqual(self.sound.buffer.counts.resyncs, 1)
        return self.sound.concealedMs + self.sound.silentMs
    }

    func testANewSourceIsANewEpoch() {
        let gap = self.gapAfter {
            $0.ssrc = SSRC(8)
            $0.sequence = SequenceNumber(3)
            $0.timestamp = RTPTimestamp(77)
        }
        XCTAssertLessThanOrEqual(gap, 100)
    }

    func testTimestampJumpsAreFollowedAtOnce() {
        for jump in [1_000_000_000, 0 &- 1_000_000_000, 8000, 0 &- 8000, 1 << 31] as [UInt32] {
            let gap = self.gapAfter { $0.timestamp = $0.timestamp.advanced(by: jump) }
            XCTAssertLessThanOrEqual(gap, 100, "\(jump)")
        }
    }

    func testASmallStepBackOfTheTimestampHeals() {
        self.sound.run(ms: 5000) { _ in [5] }
        self.sound.forget()
        self.sound.timestamp = self.sound.timestamp.moved(back: 2400)
        self.sound.run(ms: 3000) { _ in [5] }
        XCTAssertLessThanOrEqual(self.sound.concealedMs + self.sound.silentMs, 400)
        XCTAssertGreaterThan(self.sound.played.filter { $0.atMs > 6000 }.count, 95)
    }

    func testAPauseOfTheSpeakerIsSilenceAndNotEndlessInvention() {
        self.sound.run(ms: 5000) { _ in [5] }
        self.sound.forget()
        self.sound.run(ms: 2000) { _ in [] }
        XCTAssertTrue((80...120).contains(self.sound.concealedMs), "\(self.sound.concealedMs)")
        self.sound.forget()
        self.sound.run(ms: 2000) { _ in [5] }
        XCTAssertEqual(self.sound.concealedMs, 0)
        XCTAssertLessThanOrEqual(self.sound.silentMs, 60)
        XCTAssertEqual(self.sound.played.first?.followsGap, true)
        XCTAssertEqual(self.sound.buffer.counts.resyncs, 0)
    }

    func testResetForgetsTheCall() {
        self.sound.run(ms: 1000) { _ in [5, 90] }
        self.sound.buffer.reset()
        XCTAssertEqual(self.sound.buffer.bufferedMs, 0)
        guard case .silence = self.sound.buffer.next(now: Instant(nanoseconds: 7_000_000_000)) else {
            return XCTFail("nothing is left")
        }
    }

    // MARK: Hostile

    func testAFloodStaysWithinItsBounds() {
        var buffer = PlayoutBuffer()
        let now = Instant(nanoseconds: 1_000_000_000)
        for index in 0..<10_000 {
            buffer.insert(
                AudioPacket(
                    payload: [0], codec: .opus, ssrc: SSRC(1),
                    sequence: SequenceNumber(UInt16(truncatingIfNeeded: index)),
                    timestamp: RTPTimestamp(UInt32(index)), samples: 5760),
                now: now)
            XCTAssertLessThanOrEqual(buffer.bufferedMs, 500)
        }
    }

    func testNoiseNeverTrapsAndTheSoundThreadAlwaysGoesOn() {
        var generator = Generator(seed: 5)
        var buffer = PlayoutBuffer()
        var nanoseconds: UInt64 = 1_000_000_000
        for _ in 0..<100_000 {
            nanoseconds += generator.below(60_000_000)
            let now = Instant(nanoseconds: nanoseconds)
            let codec: AudioCodec = generator.below(20) == 0 ? .opus : .pcma
            let isNear = generator.below(4) != 0
            let timestamp =
                isNear ? UInt32(truncatingIfNeeded: nanoseconds / 125_000) : UInt32(generator.below(1 << 32))
            buffer.insert(
                AudioPacket(
                    payload: [0], codec: codec, ssrc: SSRC(UInt32(generator.below(20) / 19)),
                    sequence: SequenceNumber(UInt16(generator.below(isNear ? 300 : 65_536))),
                    timestamp: RTPTimestamp(timestamp), samples: UInt32(generator.below(5761))),
                now: now)
            for _ in 0..<generator.below(3) {
                if case .conceal(let samples) = buffer.next(now: now) {
                    XCTAssertGreaterThan(samples, 0)
                    XCTAssertLessThanOrEqual(samples, 5760)
                }
            }
            XCTAssertTrue((20...200).contains(buffer.targetMs))
            XCTAssertLessThanOrEqual(buffer.bufferedMs, 1500)
        }
    }
}
