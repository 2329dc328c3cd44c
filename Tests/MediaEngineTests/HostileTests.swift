// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire
import XCTest

/// Datagrams of a call, changed at random from a seed, from anywhere, in any order of the call's orders.
final class HostileTests: XCTestCase {
    private var generator = Generator(seed: 1)

    private func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<self.generator.below(4) {
            guard !bytes.isEmpty else { break }
            let position = Int(self.generator.below(UInt64(bytes.count)))
            switch self.generator.below(5) {
            case 0: bytes[position] ^= 1 << UInt8(self.generator.below(8))
            case 1: bytes[position] = UInt8(truncatingIfNeeded: self.generator.next())
            case 2: bytes = Array(bytes.prefix(position))
            case 3: bytes[position] = 0xFF
            default: bytes += bytes.suffix(Int(self.generator.below(20)))
            }
        }
        return bytes
    }

    private func datagram(_ audio: inout PeerStream, _ video: inout PeerStream) -> ([UInt8], StreamKind, Channel) {
        switch self.generator.below(6) {
        case 0: return (audio.sound(), .audio, .rtp)
        case 1:
            audio.type = Call.opus
            defer { audio.type = Call.pcmu }
            return (audio.sound([0x7B, UInt8(self.generator.below(256)), 1, 2]), .audio, .rtp)
        case 2:
            audio.type = Call.events
            defer { audio.type = Call.pcmu }
            return (audio.sound([UInt8(self.generator.below(20)), 0x8A, 3, 4]), .audio, .rtp)
        case 3:
            let packets = video.picture(key: self.generator.below(3) == 0, size: Int(self.generator.below(4000)))
            return (packets[Int(self.generator.below(UInt64(packets.count)))], .video, .rtp)
        default:
            let kind: StreamKind = self.generator.below(2) == 0 ? .audio : .video
            return (RTCPCompound.print(self.reports()), kind, .rtcp)
        }
    }

    private func reports() -> [RTCPPacket] {
        let block = ReportBlock(
            source: self.generator.below(2) == 0 ? Call.ourVideo : Call.ourAudio,
            fractionLost: UInt8(self.generator.below(256)), cumulativeLost: -1,
            highestSequence: UInt32(self.generator.below(1 << 32)), jitter: UInt32.max,
            lastSenderReport: UInt32(self.generator.below(1 << 32)),
            delaySinceLastSenderReport: UInt32(self.generator.below(1 << 32)))
        let report = SenderReport(
            ssrc: SSRC(0x2222), ntpTime: NTPTime(self.generator.next()), timestamp: RTPTimestamp(1), packets: 1,
            payloadBytes: 1, blocks: [block])
        let all: [RTCPPacket] = [
            .senderReport(report), .receiverReport(SSRC(0x1111), [block]), .bye([SSRC(0x2222)], reason: nil),
            .pictureLoss(sender: SSRC(1), media: SSRC(2)), .fullIntra(sender: SSRC(1), []),
            .nack(sender: SSRC(1), media: SSRC(2), [SequenceNumber(9)]),
            .feedback(isTransport: false, format: 15, sender: SSRC(1), media: SSRC(0), body: [1, 2, 3, 4]),
        ]
        return all.filter { _ in self.generator.below(2) == 0 }
    }

    private func order(_ bench: inout Bench) {
        let receives = self.generator.below(4) != 0
        let sends = self.generator.below(4) != 0
        let plan = Call.plan(
            audio: self.generator.below(8) == 0
                ? nil : Call.audio(mux: self.generator.below(3) == 0, sends: sends, receives: receives),
            video: self.generator.below(8) == 0 ? nil : Call.video(sends: sends, receives: receives))
        switch self.generator.below(8) {
        case 0: bench.give(.start(plan))
        case 1, 2, 3: bench.give(.update(plan))
        case 4:
            bench.give(.sendDigit(UInt8(self.generator.below(256)), durationMs: Int(self.generator.below(9000)) - 99))
        case 5: bench.give(.keyFrameDecoded)
        case 6: bench.give(.pictureBroken)
        default: if self.generator.below(8) == 0 { bench.give(.stop) } else { bench.give(.timeout) }
        }
    }

    func testNothingFromOutsideTrapsTheEngineAndItAlwaysComesToRest() {
        for seed in 0..<12 as Range<UInt64> {
            self.generator = Generator(seed: seed)
            var bench = Bench(seed: seed)
            var audio = PeerStream()
            var video = PeerStream.video()
            bench.give(.start(Call.plan(audio: Call.audio(), video: Call.video())))
            let sources = [Call.audioRTP, Call.videoRTP, Call.audioRTCP, Call.videoRTCP, Call.stranger]
            for turn in 0..<3000 {
                let (bytes, kind, channel) = self.datagram(&audio, &video)
                let own = kind == .audio ? (channel == .rtp ? 0 : 2) : (channel == .rtp ? 1 : 3)
                let isOwn = self.generator.below(4) != 0
                let source = sources[isOwn ? own : Int(self.generator.below(UInt64(sources.count)))]
                bench.give(.received(self.mutated(bytes), kind, channel, from: source))
                if turn % 40 == 0 { self.order(&bench) }
                if turn % 3 == 0 {
                    bench.give(.audioEncoded([1, 2], samples: 160, captured: bench.now))
                    bench.give(.videoEncoded(Pictures.units(key: true), isKeyFrame: true, captured: bench.now))
                }
                bench.pass(ms: Int(self.generator.below(30)))
            }
            XCTAssertGreaterThan(bench.sent.count, 500, "seed \(seed)")
            XCTAssertGreaterThan(bench.sounds.count, 100, "seed \(seed)")
            for picture in bench.pictures { XCTAssertTrue(picture.isComplete) }
        }
    }

    func testAFloodFromAStrangerDisturbsNothing() {
        var bench = Bench()
        bench.give(.start(Call.plan(audio: Call.audio(), video: Call.video())))
        var audio = PeerStream()
        var video = PeerStream.video()
        var other = PeerStream(ssrc: SSRC(0x1111), sequence: SequenceNumber(9000))
        bench.give(.received(audio.sound(), .audio, .rtp, from: Call.audioRTP))
        for packet in video.picture(key: true) { bench.give(.received(packet, .video, .rtp, from: Call.videoRTP)) }
        bench.give(.keyFrameDecoded)
        let plea = RTCPCompound.print([
            .pictureLoss(sender: SSRC(1), media: Call.ourVideo), .bye([SSRC(0x2222)], reason: nil),
        ])
        bench.pass(ms: 2000)
        bench.forget()
        for _ in 0..<200 {
            for _ in 0..<10 { bench.give(.received(other.sound(), .audio, .rtp, from: Call.stranger)) }
            bench.give(.received(plea, .video, .rtcp, from: Call.stranger))
            bench.give(.received(audio.sound(), .audio, .rtp, from: Call.audioRTP))
            for packet in video.picture(key: false) { bench.give(.received(packet, .video, .rtp, from: Call.videoRTP)) }
            bench.pass(ms: 20)
        }
        XCTAssertEqual(bench.sounds.count, 200)
        XCTAssertEqual(bench.pictures.count, 200)
        XCTAssertEqual(bench.events, [])
        XCTAssertEqual(bench.keyFrameOrders, [])
        XCTAssertEqual(bench.pictureLosses, [])
        XCTAssertEqual(bench.engine.statistics.audio.packetsDropped, 2000)
    }
}
