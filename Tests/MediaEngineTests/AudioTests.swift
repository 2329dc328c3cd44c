// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire
import XCTest

final class AudioTests: XCTestCase {
    private var bench = Bench()
    private var peer = PeerStream()

    override func setUp() {
        self.bench = Bench()
        self.peer = PeerStream()
        self.bench.give(.start(Call.plan(audio: Call.audio())))
    }

    private func hear(_ bytes: [UInt8], from source: SocketAddress = Call.audioRTP) {
        self.bench.give(.received(bytes, .audio, .rtp, from: source))
    }

    private var statistics: StreamStatistics { self.bench.engine.statistics.audio }

    // MARK: What comes

    func testSoundIsHandedOnAtOnceWithItsLength() {
        self.hear(self.peer.sound())
        self.peer.type = Call.opus
        self.hear(self.peer.sound([0x78, 1, 2, 3]))
        XCTAssertEqual(self.bench.sounds.map { $0.codec }, [.pcmu, .opus])
        XCTAssertEqual(self.bench.sounds.map { $0.samples }, [160, 960])
        XCTAssertEqual(self.bench.sounds.map { $0.payload.count }, [160, 4])
        XCTAssertEqual(self.bench.events, [.firstPacket(.audio)])
    }

    func testDuplicatesAreDroppedAndLatePacketsAreNot() {
        let packets = (0..<4).map { _ in self.peer.sound() }
        for index in [0, 1, 1, 3, 2, 3] { self.hear(packets[index]) }
        XCTAssertEqual(self.bench.sounds.map { $0.sequence.value }, [100, 101, 103, 102])
        XCTAssertEqual(self.statistics.packetsDuplicated, 2)
        XCTAssertEqual(self.statistics.packetsLost, 0)
    }

    func testWhatIsNoSoundIsDroppedAndCounted() {
        var wrongType = PeerStream(type: PayloadType(9))
        var brokenOpus = PeerStream(type: Call.opus, sequence: SequenceNumber(99))
        let table: [(String, [UInt8])] = [
            ("nothing", []), ("text", Array("OPTIONS sip:a@b SIP/2.0\r\n\r\n".utf8)),
            ("payload type not agreed", wrongType.sound()),
            ("fifteen contributors in twelve bytes", [0x8F, 0] + Array(repeating: 0, count: 10)),
            ("extension past the end", [0x90, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0xFF, 0xFF]),
            ("padding past the end", [0xA0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 255]),
            ("STUN", [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + Array(repeating: 0, count: 12)),
            ("oversized", Array(repeating: 0x80, count: 65_536)),
            ("Opus without frames", brokenOpus.sound([0x03, 0])),
        ]
        for (index, (name, bytes)) in table.enumerated() {
            self.hear(bytes)
            XCTAssertEqual(self.bench.sounds.count, 0, name)
            XCTAssertEqual(self.statistics.packetsDropped, UInt64(index + 1), name)
        }
        self.hear(self.peer.sound())
        XCTAssertEqual(self.bench.sounds.count, 1, "the stream is unharmed")
    }

    func testANewSourceWithAnotherPayloadTypeTakesOver() {
        for _ in 0..<10 { self.hear(self.peer.sound()) }
        var next = PeerStream(ssrc: SSRC(0x3333), type: Call.opus, sequence: SequenceNumber(9), step: 960)
        for _ in 0..<5 { self.hear(next.sound([0x78, 1])) }
        XCTAssertEqual(self.bench.sounds.suffix(5).map { $0.sequence.value }, [9, 10, 11, 12, 13], "none is missing")
        XCTAssertEqual(self.bench.events, [.firstPacket(.audio), .sourceChanged(.audio)])
        self.hear(self.peer.sound())
        XCTAssertEqual(self.bench.sounds.last?.ssrc, SSRC(0x3333), "a straggler of the old does not turn it back")
    }

    func testAJumpOfTheSequenceCostsOnePacket() {
        for _ in 0..<5 { self.hear(self.peer.sound()) }
        self.peer.sequence = self.peer.sequence.advanced(by: 20_000)
        for _ in 0..<5 { self.hear(self.peer.sound()) }
        XCTAssertEqual(self.bench.sounds.count, 9)
    }

    // MARK: Where from

    func testTheFirstSourceIsLearnedAndAThirdIsIgnored() {
        let translated = SocketAddress(.v4(0xC633_6401), port: 6000)
        self.hear(self.peer.sound(), from: translated)
        var thief = PeerStream(ssrc: SSRC(0x6666))
        for _ in 0..<20 { self.hear(thief.sound(), from: Call.stranger) }
        self.hear(self.peer.sound(), from: translated)
        XCTAssertEqual(Set(self.bench.sounds.map { $0.ssrc }), [self.peer.ssrc])
        self.bench.give(.audioEncoded([1], samples: 160, captured: self.bench.now))
        XCTAssertEqual(self.bench.sent.last?.to, translated)
        XCTAssertEqual(self.statistics.packetsDropped, 20)
    }

    func testGarbageFromAStrangerIsNotLearned() {
        var wrongType = PeerStream(type: PayloadType(9))
        self.hear([0x80], from: Call.stranger)
        self.hear(wrongType.sound(), from: Call.stranger)
        self.bench.give(.audioEncoded([1], samples: 160, captured: self.bench.now))
        XCTAssertEqual(self.bench.sent.last?.to, Call.audioRTP)
    }

    func testANewAddressInTheSessionDescriptionIsFollowed() {
        self.hear(self.peer.sound())
        let moved = SocketAddress(.v4(0xC000_0209), port: 5000)
        self.bench.give(.update(Call.plan(audio: Call.audio(rtp: moved))))
        self.bench.give(.audioEncoded([1], samples: 160, captured: self.bench.now))
        XCTAssertEqual(self.bench.sent.last?.to, moved)
        var after = PeerStream(ssrc: SSRC(0x4444))
        self.hear(after.sound(), from: moved)
        self.hear(after.sound(), from: moved)
        XCTAssertEqual(self.bench.sounds.suffix(2).map { $0.ssrc }, [after.ssrc, after.ssrc])
        self.hear(self.peer.sound())
        XCTAssertEqual(self.bench.sounds.count, 3, "the old address is a stranger now")
    }

    func testAnUpdateThatChangesNothingKeepsWhatWasLearned() {
        let translated = SocketAddress(.v4(0xC633_6401), port: 6000)
        self.hear(self.peer.sound(), from: translated)
        self.bench.give(.audioEncoded([1], samples: 160, captured: self.bench.now))
        let before = self.bench.media(.audio).last?.packet.sequence
        self.bench.give(.update(Call.plan(audio: Call.audio())))
        self.bench.give(.audioEncoded([1], samples: 160, captured: self.bench.now))
        XCTAssertEqual(self.bench.sent.last?.to, translated)
        XCTAssertEqual(self.bench.media(.audio).last?.packet.sequence, before?.next)
    }

    func testPacketsLeftOverFromAFormerCallAreDropped() {
        for _ in 0..<5 { self.hear(self.peer.sound()) }
        self.bench.give(.stop)
        self.hear(self.peer.sound())
        let other = SocketAddress(.v4(0xC000_0203), port: 8000)
        self.bench.give(.start(Call.plan(audio: Call.audio(rtp: other))))
        self.bench.forget()
        for _ in 0..<5 { self.hear(self.peer.sound()) }
        XCTAssertEqual(self.bench.sounds.count, 0)
        var next = PeerStream(ssrc: SSRC(0x5555))
        self.hear(next.sound(), from: other)
        XCTAssertEqual(self.bench.sounds.map { $0.ssrc }, [SSRC(0x5555)])
        self.bench.give(.audioEncoded([1], samples: 160, captured: self.bench.now))
        XCTAssertEqual(self.bench.sent.last?.to, other)
    }

    func testAPeerThatCallsAgainWithItsOldSourceIsHeard() {
        for _ in 0..<5 { self.hear(self.peer.sound()) }
        self.bench.give(.stop)
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        self.bench.forget()
        self.hear(self.peer.sound())
        XCTAssertEqual(self.bench.sounds.count, 1)
    }

    // MARK: Silence

    func testSilenceIsReportedOnceAndItsEndToo() {
        self.hear(self.peer.sound())
        let last = self.bench.now
        self.bench.pass(ms: 4999)
        XCTAssertEqual(self.bench.events, [.firstPacket(.audio)])
        self.bench.pass(ms: 30_000)
        XCTAssertEqual(self.bench.events, [.firstPacket(.audio), .silent(.audio, since: last)])
        self.hear(self.peer.sound())
        XCTAssertEqual(self.bench.events.last, .resumed(.audio))
        self.bench.pass(ms: 5000)
        XCTAssertEqual(self.bench.events.count, 4)
    }

    func testAStreamThatNeverBeganIsSilentFromTheStart() {
        let start = self.bench.now
        self.bench.pass(ms: 5000)
        XCTAssertEqual(self.bench.events, [.silent(.audio, since: start)])
        self.hear(self.peer.sound())
        XCTAssertEqual(Set(self.bench.events), [.silent(.audio, since: start), .resumed(.audio), .firstPacket(.audio)])
    }

    func testNothingIsMissedOnHold() {
        self.bench.give(.update(Call.plan(audio: Call.audio(receives: false))))
        self.bench.pass(ms: 20_000)
        self.hear(self.peer.sound())
        XCTAssertEqual(self.bench.events, [])
        XCTAssertEqual(self.bench.sounds.count, 0)
        self.bench.give(.update(Call.plan(audio: Call.audio())))
        let resumed = self.bench.now
        self.bench.pass(ms: 5000)
        XCTAssertEqual(self.bench.events, [.silent(.audio, since: resumed)])
    }

    func testAfterSilenceAnotherSourceMaySpeak() {
        self.hear(self.peer.sound())
        self.bench.pass(ms: 6000)
        var moved = PeerStream(ssrc: SSRC(0x7777))
        self.hear(moved.sound(), from: SocketAddress(Call.peer, port: 9000))
        XCTAssertEqual(self.bench.sounds.count, 2)
    }

    func testStatisticsAddUp() {
        for index in 0..<100 {
            let packet = self.peer.sound()
            if index % 10 != 5 { self.hear(packet) }
            self.bench.pass(ms: 20)
        }
        XCTAssertEqual(self.statistics.packetsReceived, 90)
        XCTAssertEqual(self.statistics.bytesReceived, 90 * 160)
        XCTAssertEqual(self.statistics.packetsLost, 10)
        XCTAssertEqual(self.statistics.jitterMs, 0)
    }
}
