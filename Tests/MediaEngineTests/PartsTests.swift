// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire
import XCTest

@testable import MediaEngine

private func at(_ ms: Int) -> Instant { Instant(nanoseconds: 1_000_000_000) + Duration.milliseconds(ms) }

final class LatchTests: XCTestCase {
    private let announced = SocketAddress(.v4(1), port: 10)
    /// Of the host that the signalling comes from.
    private let translated = SocketAddress(.v4(2), port: 20)
    private let stranger = SocketAddress(.v4(2), port: 30)
    private let elsewhere = SocketAddress(.v4(3), port: 20)

    private func latch(_ announced: SocketAddress? = nil) -> Latch {
        Latch(announced: announced ?? self.announced, signalling: self.translated.address)
    }

    func testSendsToTheAnnouncedAddressUntilPacketsCome() {
        XCTAssertEqual(self.latch().target, self.announced)
    }

    func testTheFirstSourceIsLearnedOnce() {
        var latch = self.latch()
        XCTAssertTrue(latch.admits(self.translated))
        XCTAssertEqual(latch.target, self.translated)
        XCTAssertFalse(latch.admits(self.stranger))
        XCTAssertTrue(latch.admits(self.translated))
        XCTAssertEqual(latch.target, self.translated)
    }

    func testTheAnnouncedAddressTakesTheStreamBackForGood() {
        var latch = self.latch()
        XCTAssertTrue(latch.admits(self.stranger))
        XCTAssertTrue(latch.admits(self.announced))
        XCTAssertEqual(latch.target, self.announced)
        XCTAssertFalse(latch.admits(self.stranger))
    }

    func testAfterSilenceAnotherSourceIsLearned() {
        var latch = self.latch()
        latch.reopen()
        XCTAssertEqual(latch.target, self.announced)
        XCTAssertTrue(latch.admits(self.translated))
        latch.reopen()
        XCTAssertEqual(latch.target, self.translated, "what is sent still goes there")
        XCTAssertTrue(latch.admits(self.stranger))
        XCTAssertFalse(latch.admits(self.translated))
    }

    func testAnotherAnnouncedAddressIsFollowedAndWhatWasLearnedIsForgotten() {
        var latch = self.latch()
        XCTAssertTrue(latch.admits(self.translated))
        latch.follow(self.announced)
        XCTAssertEqual(latch.target, self.translated, "the same address is no news")
        let moved = SocketAddress(.v4(4), port: 40)
        latch.follow(moved)
        XCTAssertEqual(latch.target, moved)
        XCTAssertTrue(latch.admits(moved))
        XCTAssertFalse(latch.admits(self.translated))
    }

    func testLastPacketsFromTheOldAddressDoNotKeepTheNewSourceOut() {
        var latch = self.latch()
        XCTAssertTrue(latch.admits(self.translated))
        latch.follow(SocketAddress(.v4(4), port: 40))
        XCTAssertTrue(latch.admits(self.translated))
        XCTAssertEqual(latch.target, self.translated, "it may be where the peer is")
        XCTAssertTrue(latch.admits(self.stranger), "the peer behind a translator")
        XCTAssertFalse(latch.admits(self.translated))
        XCTAssertEqual(latch.target, self.stranger)
    }

    func testAnOldAddressThatGoesOnIsTheStreamAgain() {
        var latch = self.latch()
        XCTAssertTrue(latch.admits(self.translated))
        latch.follow(SocketAddress(.v4(4), port: 40))
        for _ in 0...MediaLimits.lingeringPacketsMax { XCTAssertTrue(latch.admits(self.translated)) }
        XCTAssertFalse(latch.admits(self.stranger))
        XCTAssertEqual(latch.target, self.translated)
    }

    func testHoldWithoutAnAddressSendsNowhere() {
        var unspecified = self.latch(SocketAddress(.v4(0), port: 10))
        XCTAssertNil(unspecified.target)
        XCTAssertTrue(unspecified.admits(self.translated))
        XCTAssertNil(unspecified.target)
        XCTAssertNil(self.latch(SocketAddress(.v4(1), port: 0)).target)
    }

    /// Who still sends from a former call, or just tries ports, gets nothing.
    func testNobodyElseIsLearnedCaseF97() {
        var latch = self.latch()
        XCTAssertFalse(latch.admits(self.elsewhere))
        XCTAssertEqual(latch.target, self.announced)
        XCTAssertTrue(latch.admits(SocketAddress(self.announced.address, port: 99)), "another port of the same host")
        latch.reopen()
        XCTAssertFalse(latch.admits(self.elsewhere))
        var alone = Latch(announced: self.announced)
        XCTAssertFalse(alone.admits(self.translated))
        XCTAssertTrue(alone.admits(self.announced))
    }

    /// A private address from a peer outside says nothing: its translator is learned, wherever it is.
    func testBehindATranslatorAnybodyIsLearnedCaseF98() {
        let hidden = SocketAddress(IPAddress("10.1.33.103")!, port: 10)
        var outside = Latch(announced: hidden, signalling: IPAddress("203.0.113.5"))
        XCTAssertTrue(outside.admits(self.elsewhere))
        XCTAssertEqual(outside.target, self.elsewhere)
        var inside = Latch(announced: hidden, signalling: IPAddress("192.168.1.5"))
        XCTAssertFalse(inside.admits(self.elsewhere))
    }

    func testTheLastPacketsOfAnOldHostDoNotBecomeTheStream() {
        var latch = Latch(announced: self.elsewhere, signalling: self.translated.address)
        XCTAssertTrue(latch.admits(self.elsewhere))
        latch.follow(self.announced)
        for _ in 0..<MediaLimits.lingeringPacketsMax { XCTAssertTrue(latch.admits(self.elsewhere)) }
        XCTAssertFalse(latch.admits(self.elsewhere))
        XCTAssertTrue(latch.admits(self.announced))
        XCTAssertEqual(latch.target, self.announced)
    }
}

final class SourceTrackerTests: XCTestCase {
    private func packet(_ ssrc: UInt32, _ sequence: UInt16) -> RTPPacket {
        RTPPacket(
            marker: false, payloadType: Call.pcmu, sequence: SequenceNumber(sequence), timestamp: RTPTimestamp(0),
            ssrc: SSRC(ssrc), payload: [])
    }

    private func name(_ verdict: SourceTracker.Verdict) -> String {
        switch verdict {
        case .current: return "current"
        case .waiting: return "waiting"
        case .began(let packets): return "began \(packets.map { $0.sequence.value })"
        }
    }

    func testVerdictsInOrder() {
        var tracker = SourceTracker()
        let table: [(ms: Int, ssrc: UInt32, sequence: UInt16, String)] = [
            (0, 1, 10, "began [10]"), (20, 1, 11, "current"),
            (30, 2, 50, "waiting"), (40, 1, 12, "current"),
            // The old source spoke in between, so the candidate begins anew.
            (50, 2, 51, "waiting"), (55, 2, 52, "began [51, 52]"), (60, 1, 13, "waiting"), (65, 2, 53, "current"),
            // Not in sequence: still a candidate only.
            (70, 3, 5, "waiting"), (75, 3, 9, "waiting"), (80, 4, 10, "waiting"), (85, 4, 11, "began [10, 11]"),
            // Quiet for longer than the hold: the first packet is enough.
            (286, 5, 1, "began [1]"),
        ]
        for (ms, ssrc, sequence, expected) in table {
            let verdict = tracker.admit(self.packet(ssrc, sequence), now: at(ms))
            XCTAssertEqual(self.name(verdict), expected, "\(ms)")
        }
        XCTAssertEqual(tracker.current, SSRC(5))
    }
}

final class SilenceWatchTests: XCTestCase {
    private let states: [String] = ["off", "listening", "silent"]

    private func watch(_ state: String) -> SilenceWatch {
        var watch = SilenceWatch()
        if state != "off" { watch.expect(true, now: at(0)) }
        if state == "silent" { _ = watch.expire(now: at(5000)) }
        return watch
    }

    func testEveryCell() {
        let table: [(String, input: String, after: SilenceWatch.State)] = [
            ("off", "expect", .listening(since: at(6000))), ("off", "not", .off), ("off", "heard", .off),
            ("off", "expire", .off), ("listening", "expect", .listening(since: at(0))), ("listening", "not", .off),
            ("listening", "heard", .listening(since: at(6000))), ("listening", "expire", .silent),
            ("silent", "expect", .silent), ("silent", "not", .off), ("silent", "heard", .listening(since: at(6000))),
            ("silent", "expire", .silent),
        ]
        XCTAssertEqual(table.count, self.states.count * 4)
        for (state, input, after) in table {
            var watch = self.watch(state)
            switch input {
            case "expect": watch.expect(true, now: at(6000))
            case "not": watch.expect(false, now: at(6000))
            case "heard":
                let isResumed = watch.heard(now: at(6000)) == .resumed
                XCTAssertEqual(isResumed, state == "silent")
            default: XCTAssertEqual(watch.expire(now: at(6000)), state == "listening" ? at(0) : nil)
            }
            XCTAssertEqual(watch.state, after, "\(state) \(input)")
        }
    }

    func testNothingExpiresEarly() {
        var watch = self.watch("listening")
        XCTAssertNil(watch.expire(now: at(4999)))
        XCTAssertEqual(watch.deadline, at(5000))
    }
}

final class PacerTests: XCTestCase {
    private func packets(_ count: Int, tag: UInt8 = 0) -> [[UInt8]] { (0..<count).map { [tag, UInt8($0)] } }
    private let frameTime = Duration.milliseconds(33)

    func testSmallPicturesGoOutAtOnce() {
        var pacer = Pacer()
        XCTAssertEqual(pacer.push(self.packets(12), frameTime: self.frameTime, now: at(0)).count, 12)
        XCTAssertNil(pacer.deadline)
    }

    func testBigPicturesAreSpreadOverHalfTheirTimeAtMost() {
        for count in [13, 20, 60, 200] {
            var pacer = Pacer()
            let all = self.packets(count)
            var sent = pacer.push(all, frameTime: self.frameTime, now: at(0))
            XCTAssertEqual(sent.count, 12)
            var last = at(0)
            while let deadline = pacer.deadline {
                last = deadline
                sent += pacer.expire(now: deadline)
            }
            XCTAssertEqual(sent, all, "\(count)")
            XCTAssertLessThanOrEqual(last, at(16), "\(count)")
        }
    }

    func testTheNextPicturePushesTheRestOut() {
        var pacer = Pacer()
        let first = self.packets(60, tag: 1)
        let second = self.packets(60, tag: 2)
        let sent =
            pacer.push(first, frameTime: self.frameTime, now: at(0))
            + pacer.push(second, frameTime: self.frameTime, now: at(1))
        XCTAssertEqual(sent, first + second[..<12])
    }

    func testMissedStepsAreMadeUpFor() {
        var pacer = Pacer()
        let all = self.packets(60)
        let sent = pacer.push(all, frameTime: self.frameTime, now: at(0)) + pacer.expire(now: at(500))
        XCTAssertEqual(sent, all)
        XCTAssertNil(pacer.deadline)
    }
}

final class ReportScheduleTests: XCTestCase {
    func testIntervalsAreRandomWithinTheirBounds() {
        var firsts = Set<Int>()
        for seed in 0..<200 as Range<UInt64> {
            var generator = Generator(seed: seed)
            var schedule = ReportSchedule(now: at(0), generator: &generator)
            let first = (schedule.deadline - at(0)).milliseconds
            XCTAssertTrue((1026...2500).contains(first), "\(first)")
            firsts.insert(first)
            for _ in 0..<20 {
                let due = schedule.deadline
                XCTAssertFalse(schedule.expire(now: due + Duration(nanoseconds: -1), generator: &generator))
                XCTAssertTrue(schedule.expire(now: due, generator: &generator))
                let interval = (schedule.deadline - due).milliseconds
                XCTAssertTrue((2052...6158).contains(interval), "\(interval)")
            }
        }
        XCTAssertGreaterThan(firsts.count, 100)
    }
}
