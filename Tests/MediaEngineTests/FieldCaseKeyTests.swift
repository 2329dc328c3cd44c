// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire
import XCTest

@testable import MediaEngine

/// The same for keys that are pressed, and for key frames that are asked for by signalling.
final class FieldCaseKeyTests: XCTestCase {
    private let five = UInt8(ascii: "5")

    private func plan(rate: UInt32 = 8000, codec: AudioCodec = .pcmu, packetTimeMs: Int = 20) -> AudioPlan {
        var plan = Call.audio()
        plan.codec = codec
        plan.sendPayloadType = codec == .opus ? Call.opus : Call.pcmu
        plan.telephoneEventRate = rate
        plan.packetTimeMs = packetTimeMs
        return plan
    }

    private func events(_ bench: Bench) -> [(packet: RTPPacket, event: TelephoneEvent)] {
        bench.media(.audio).compactMap { sent in
            guard sent.packet.payloadType == Call.events else { return nil }
            return TelephoneEvent.parse(sent.packet.payload).map { (sent.packet, $0) }
        }
    }

    private func press(_ plan: AudioPlan, ms: Int) -> [(packet: RTPPacket, event: TelephoneEvent)] {
        var bench = Bench()
        bench.give(.start(Call.plan(audio: plan)))
        bench.give(.sendDigit(self.five, durationMs: ms))
        bench.pass(ms: ms + 200)
        return self.events(bench)
    }

    // MARK: - Sending

    func testCaseG109DurationsCountTheClockThatWasAnswered() {
        let narrow = self.press(self.plan(codec: .opus), ms: 100)
        XCTAssertEqual(narrow.last?.event.duration, 800)
        let wide = self.press(self.plan(rate: 48_000, codec: .opus), ms: 100)
        XCTAssertEqual(wide.last?.event.duration, 4800)
    }

    func testCaseG112TheFirstPacketHasADuration() {
        for ms in [1, 40, 100, 1000] {
            for rate in [8000, 48_000] as [UInt32] {
                XCTAssertGreaterThan(self.press(self.plan(rate: rate), ms: ms).first?.event.duration ?? 0, 0)
            }
        }
    }

    func testCaseG113ThreeClosingPacketsSayTheSame() {
        let closing = self.press(self.plan(), ms: 100).filter { $0.event.isEnd }
        XCTAssertEqual(closing.count, 3)
        XCTAssertEqual(Set(closing.map { $0.packet.timestamp }).count, 1)
        XCTAssertEqual(Set(closing.map { $0.event }).count, 1)
    }

    func testCaseG118WhateverThePacketTimeAKeyGetsThroughHeavyLoss() {
        let sent = self.press(self.plan(packetTimeMs: 60), ms: 100)
        XCTAssertEqual(sent.count, 8)
        var generator = Generator(seed: 118)
        var (missed, begun) = (0, 0)
        for _ in 0..<10_000 {
            var receiver = DigitReceiver()
            var keys = 0
            var hasBegun = false
            for (packet, event) in sent where generator.below(5) != 0 {
                if !event.isEnd { hasBegun = true }
                if receiver.take(event, timestamp: packet.timestamp) != nil { keys += 1 }
            }
            XCTAssertLessThanOrEqual(keys, 1)
            if keys == 0 { missed += 1 }
            if hasBegun { begun += 1 }
        }
        XCTAssertLessThan(missed, 2, "of ten thousand, at a fifth lost")
        XCTAssertGreaterThan(begun, 9_985, "for receivers that need more than closing packets")
    }

    func testCaseG119SoundGoesOnByTheClockAfterAKey() {
        for codec in [AudioCodec.pcmu, .opus] {
            let step = codec.clockRate / 50
            var bench = Bench()
            bench.give(.start(Call.plan(audio: self.plan(codec: codec))))
            for turn in 0..<40 {
                if turn == 10 { bench.give(.sendDigit(self.five, durationMs: 250)) }
                bench.give(.audioEncoded([0x78, 1], samples: step, captured: bench.now))
                bench.pass(ms: 20)
            }
            let sound = bench.media(.audio).map { $0.packet }.filter { $0.payloadType != Call.events }
            XCTAssertLessThan(sound.count, 30)
            XCTAssertEqual(sound.last?.timestamp.distance(from: sound[0].timestamp), 39 * Int32(step))
        }
    }

    // MARK: - Receiving

    private func heard(_ packets: [(event: TelephoneEvent, timestamp: UInt32)], marker: Bool) -> [MediaEvent] {
        var bench = Bench()
        bench.give(.start(Call.plan(audio: Call.audio())))
        for (index, packet) in packets.enumerated() {
            let bytes = RTPPacket(
                marker: marker && index == 0, payloadType: Call.events, sequence: SequenceNumber(UInt16(index)),
                timestamp: RTPTimestamp(packet.timestamp), ssrc: SSRC(1), payload: packet.event.printed()[...]
            ).printed()
            bench.give(.received(bytes, .audio, .rtp, from: Call.audioRTP))
        }
        return bench.events.filter { $0 != .firstPacket(.audio) }
    }

    func testCaseG113ClosingPacketsThatCountOnAreOneKey() {
        let packets = [
            (false, 160, 0), (false, 640, 0), (true, 800, 0), (true, 800, 160), (true, 800, 320),
        ].map { isEnd, duration, ahead in
            (
                event: TelephoneEvent(event: 5, isEnd: isEnd, volume: 10, duration: UInt16(duration)),
                timestamp: 4000 + UInt32(ahead)
            )
        }
        XCTAssertEqual(self.heard(packets, marker: true), [.digit(self.five)])
    }

    func testCaseG115KeysWithoutAMarkerAreKeys() {
        let packets = [4000, 4000, 12_000, 12_000].map {
            (event: TelephoneEvent(event: 11, isEnd: false, volume: 10, duration: 160), timestamp: UInt32($0))
        }
        let hash = MediaEvent.digit(UInt8(ascii: "#"))
        XCTAssertEqual(self.heard(packets, marker: false), [hash, hash])
    }

    // MARK: - Key frames by signalling (RFC 5168)

    /// Seconds after the first picture at which the kiosk is told to ask.
    private func wanted(_ feedback: VideoFeedback, seconds: Int, heal: Int? = nil) -> [Int] {
        var bench = Bench()
        var peer = PeerStream.video()
        bench.give(.start(Call.plan(video: Call.video(feedback: feedback))))
        var times: [Int] = []
        for turn in 0..<seconds * 10 {
            bench.forget()
            let heals = heal.map { turn == $0 * 10 } ?? false
            for packet in peer.picture(key: heals) { bench.give(.received(packet, .video, .rtp, from: Call.videoRTP)) }
            if heals { bench.give(.keyFrameDecoded) }
            bench.pass(ms: 100)
            if bench.events.contains(.keyFrameWanted) { times.append(turn / 10) }
        }
        return times
    }

    func testAPeerThatCannotBeAskedByRTCPIsAskedBySignallingEverLessOften() {
        let times = self.wanted(VideoFeedback(), seconds: 40)
        XCTAssertEqual(times.first, 0)
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        XCTAssertEqual(gaps, [1, 2, 4, 8, 8, 8, 8], "\(times)")
        XCTAssertEqual(self.wanted(VideoFeedback(), seconds: 20, heal: 5), [0, 1, 3], "no more once it is back")
    }

    func testAPeerThatCanBeAskedByRTCPIsNotAskedBySignalling() {
        XCTAssertEqual(self.wanted(VideoFeedback(pli: true), seconds: 10), [])
        XCTAssertEqual(self.wanted(VideoFeedback(fir: true), seconds: 10), [])
    }

    func testAfterALongTimeWithoutNeedTheFirstRequestGoesOutAtOnce() {
        var requests = SignalledRequests()
        var asked: [Int] = []
        let start = Instant(nanoseconds: 1)
        for second in 0...200 where second < 40 || second >= 100 {
            if requests.ask(now: start + .milliseconds(second * 1000)) { asked.append(second) }
        }
        XCTAssertEqual(Array(asked.prefix(8)), [0, 1, 3, 7, 15, 23, 31, 39])
        XCTAssertEqual(Array(asked.dropFirst(8).prefix(4)), [100, 101, 103, 107])
    }
}
