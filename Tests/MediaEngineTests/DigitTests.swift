// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire
import XCTest

@testable import MediaEngine

final class DigitTests: XCTestCase {
    private let five = UInt8(ascii: "5")

    // MARK: Receiving

    /// Event, end, duration, timestamp → key.
    private func keys(_ packets: [(UInt8, Bool, UInt16, UInt32)]) -> String {
        var receiver = DigitReceiver()
        let keys = packets.compactMap { event, isEnd, duration, timestamp in
            receiver.take(
                TelephoneEvent(event: event, isEnd: isEnd, volume: 10, duration: duration),
                timestamp: RTPTimestamp(timestamp))
        }
        return String(decoding: keys, as: UTF8.self)
    }

    func testOnePressIsOneKeyHoweverItsPacketsFare() {
        let press: [(UInt8, Bool, UInt16, UInt32)] = [
            (5, false, 160, 1000), (5, false, 560, 1000), (5, false, 960, 1000), (5, true, 1200, 1000),
            (5, true, 1200, 1000), (5, true, 1200, 1000),
        ]
        XCTAssertEqual(self.keys(press), "5")
        for index in press.indices { XCTAssertEqual(self.keys([press[index]]), "5", "only packet \(index) arrives") }
        XCTAssertEqual(self.keys(press.reversed()), "5")
    }

    func testClosingPacketsWithNewTimestampsBelongToThePress() {
        let press: [(UInt8, Bool, UInt16, UInt32)] = [
            (5, false, 160, 1000), (5, true, 800, 1000), (5, true, 800, 1160), (5, true, 800, 1320),
        ]
        XCTAssertEqual(self.keys(press), "5")
    }

    func testPressesAreToldApart() {
        XCTAssertEqual(self.keys([(5, true, 800, 1000), (5, false, 160, 2000)]), "55")
        XCTAssertEqual(self.keys([(5, true, 800, 1000), (5, true, 800, 9000)]), "55")
        XCTAssertEqual(self.keys([(5, true, 800, 1000), (6, true, 800, 1160)]), "56")
        XCTAssertEqual(self.keys([(10, true, 800, 0xFFFF_FFF0), (11, true, 800, 2000)]), "*#")
        XCTAssertEqual(self.keys([(5, true, 800, 9000), (4, true, 800, 8500)]), "5", "an older packet is late")
    }

    func testEventsThatAreNoKeysAreIgnored() {
        XCTAssertEqual(self.keys([(16, true, 800, 1000), (200, true, 800, 4000)]), "")
    }

    func testKeysComeThroughTheEngineAndNotAsSound() {
        var bench = Bench()
        bench.give(.start(Call.plan(audio: Call.audio())))
        var peer = PeerStream()
        bench.give(.received(peer.sound(), .audio, .rtp, from: Call.audioRTP))
        peer.type = Call.events
        peer.step = 0
        for event in [
            TelephoneEvent(event: 5, isEnd: false, volume: 10, duration: 160),
            TelephoneEvent(event: 5, isEnd: true, volume: 10, duration: 800),
        ] {
            bench.give(.received(peer.sound(event.printed()), .audio, .rtp, from: Call.audioRTP))
        }
        XCTAssertEqual(bench.events, [.firstPacket(.audio), .digit(self.five)])
        XCTAssertEqual(bench.sounds.count, 1)
    }

    func testPayloadType101IsTakenForKeysWhereNothingWasAgreed() {
        var bench = Bench()
        bench.give(.start(Call.plan(audio: Call.audio(events: nil))))
        var peer = PeerStream(type: Call.events)
        bench.give(.received(peer.sound([5, 0x8A, 0, 160]), .audio, .rtp, from: Call.audioRTP))
        bench.give(.received(peer.sound([6, 0x8A, 0, 160, 0]), .audio, .rtp, from: Call.audioRTP))
        XCTAssertEqual(bench.events, [.firstPacket(.audio), .digit(self.five)])
    }

    func testKeysComeUnderTheNumberAgreedForThatDirection() {
        var plan = Call.audio(events: PayloadType(100))
        plan.telephoneEventReceivePayloadType = PayloadType(126)
        var bench = Bench()
        bench.give(.start(Call.plan(audio: plan)))
        var peer = PeerStream(type: PayloadType(100))
        bench.give(.received(peer.sound([4, 0x8A, 0, 160]), .audio, .rtp, from: Call.audioRTP))
        peer.type = PayloadType(126)
        bench.give(.received(peer.sound([5, 0x8A, 0, 160]), .audio, .rtp, from: Call.audioRTP))
        XCTAssertEqual(bench.events, [.firstPacket(.audio), .digit(self.five)])
        bench.give(.sendDigit(self.five, durationMs: 100))
        XCTAssertEqual(bench.media(.audio).last?.packet.payloadType, PayloadType(100))
    }

    // MARK: Sending

    private func events(_ bench: Bench) -> [(at: Instant, packet: RTPPacket, event: TelephoneEvent)] {
        bench.media(.audio).compactMap { sent in
            guard sent.packet.payloadType == Call.events else { return nil }
            return TelephoneEvent.parse(sent.packet.payload).map { (sent.at, sent.packet, $0) }
        }
    }

    func testAPressIsUpdatedClosedThriceAndKeepsItsTimestamp() {
        var bench = Bench()
        bench.give(.start(Call.plan(audio: Call.audio())))
        bench.give(.sendDigit(self.five, durationMs: 120))
        let start = bench.now
        bench.pass(ms: 500)
        let sent = self.events(bench)
        XCTAssertEqual(sent.map { ($0.at - start).milliseconds }, [0, 20, 40, 60, 80, 100, 120, 140, 160])
        XCTAssertEqual(sent.map { $0.event.duration }, [160, 160, 320, 480, 640, 800, 960, 960, 960])
        XCTAssertEqual(sent.map { $0.event.isEnd }, [false, false, false, false, false, false, true, true, true])
        XCTAssertEqual(sent.map { $0.packet.marker }, [true, false, false, false, false, false, false, false, false])
        XCTAssertEqual(Set(sent.map { $0.packet.timestamp }).count, 1)
        XCTAssertEqual(Set(sent.map { $0.event.event }), [5])
        XCTAssertFalse(sent.contains { $0.event.duration == 0 })
    }

    func testSoundPausesWhileAKeyIsDownAndGoesOnByTheClock() {
        var bench = Bench()
        bench.give(.start(Call.plan(audio: Call.audio())))
        for turn in 0..<30 {
            if turn == 5 { bench.give(.sendDigit(self.five, durationMs: 100)) }
            bench.give(.audioEncoded(Array(repeating: 0xFF, count: 160), samples: 160, captured: bench.now))
            bench.pass(ms: 20)
        }
        let sound = bench.media(.audio).map { $0.packet }.filter { $0.payloadType == Call.pcmu }
        XCTAssertEqual(sound.count, 30 - 7)
        XCTAssertEqual(sound.last.map { $0.timestamp.distance(from: sound[0].timestamp) }, 29 * 160)
        XCTAssertEqual(sound.filter { $0.marker }.count, 2, "after the key a talkspurt begins")
        let all = bench.media(.audio).map { $0.packet.sequence }
        XCTAssertEqual(all, all.indices.map { all[0].advanced(by: $0) }, "one sequence for both")
    }

    func testKeysQueueWithAPauseBetweenAndTheQueueIsBounded() {
        var bench = Bench()
        bench.give(.start(Call.plan(audio: Call.audio())))
        for _ in 0..<100 { bench.give(.sendDigit(self.five, durationMs: 40)) }
        bench.pass(ms: 10_000)
        let starts = self.events(bench).filter { $0.packet.marker }.map { $0.at }
        XCTAssertEqual(starts.count, 17)
        for (earlier, later) in zip(starts, starts.dropFirst()) {
            XCTAssertEqual((later - earlier).milliseconds, 40 + 40 + 60)
        }
    }

    func testKeysAreNotSentWhereNotAgreedNorWhenTheyAreNone() {
        var bench = Bench()
        bench.give(.start(Call.plan(audio: Call.audio(events: nil))))
        bench.give(.sendDigit(self.five, durationMs: 100))
        bench.pass(ms: 300)
        bench.give(.update(Call.plan(audio: Call.audio())))
        bench.give(.sendDigit(UInt8(ascii: "x"), durationMs: 100))
        bench.pass(ms: 300)
        XCTAssertEqual(bench.media(.audio).count, 0)
    }
}
