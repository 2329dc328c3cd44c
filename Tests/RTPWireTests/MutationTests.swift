// SPDX-License-Identifier: Apache-2.0

import Bytes
import H264
import RTPWire
import XCTest

/// Valid datagrams, changed at random from a seed: nothing traps, and what is let through is sound.
final class MutationTests: XCTestCase {
    private static let rounds = 20_000

    private func mutated(_ bytes: [UInt8], _ generator: inout Generator) -> [UInt8] {
        var bytes = bytes
        for _ in 0...generator.below(4) {
            let position = Int(generator.below(UInt64(max(1, bytes.count))))
            switch generator.below(6) {
            case 0 where !bytes.isEmpty: bytes[position] ^= 1 << UInt8(generator.below(8))
            case 1 where !bytes.isEmpty: bytes[position] = UInt8(truncatingIfNeeded: generator.next())
            case 2: bytes = Array(bytes.prefix(position))
            case 3: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: position)
            case 4 where !bytes.isEmpty: bytes[position] = generator.below(2) == 0 ? 0 : 0xFF
            default: bytes += bytes.suffix(Int(generator.below(9)))
            }
        }
        return bytes
    }

    private func rtpSeeds() -> [[UInt8]] {
        var stream = PacketStream()
        let packetizer = H264Packetizer(mode: .nonInterleaved, maxPayloadSize: 100)
        var seeds: [[UInt8]] = []
        for size in [20, 300] {
            let units = [NAL.sps(), NAL.pps(), NAL.recoveryPoint(frames: 0), NAL.slice(idr: true, size: size)]
            seeds += stream.picture(units, with: packetizer).map { $0.printed() }
            seeds += stream.picture([NAL.slice(size: size)], with: packetizer).map { $0.printed() }
        }
        seeds.append([0xB2, 0xE0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 1, 1, 2, 3, 4, 9, 1])
        return seeds
    }

    func testRTPParsesOrFailsAndPrintsWhatItParsed() {
        var generator = Generator(seed: 1)
        let seeds = self.rtpSeeds()
        for round in 0..<Self.rounds {
            let bytes = self.mutated(seeds[round % seeds.count], &generator)
            guard let packet = try? RTPPacket.parse(bytes) else { continue }
            let again = try? RTPPacket.parse(packet.printed())
            XCTAssertEqual(again?.payload, packet.payload)
            XCTAssertEqual(again?.sequence, packet.sequence)
            XCTAssertLessThanOrEqual(packet.payload.count, bytes.count - 12)
        }
    }

    func testRTCPParsesOrFailsAndPrintsWhatItParsed() {
        var generator = Generator(seed: 2)
        let block = ReportBlock(
            source: SSRC(8), fractionLost: 1, cumulativeLost: -1, highestSequence: 7, jitter: 6, lastSenderReport: 5,
            delaySinceLastSenderReport: 4)
        let report = SenderReport(
            ssrc: SSRC(9), ntpTime: NTPTime(1), timestamp: RTPTimestamp(2), packets: 3, payloadBytes: 4, blocks: [block]
        )
        let packets: [RTCPPacket] = [
            .senderReport(report), .receiverReport(SSRC(9), [block, block]),
            .sourceDescription([SourceDescription(ssrc: SSRC(9), cname: "someone@example.com")]),
            .nack(sender: SSRC(9), media: SSRC(8), [SequenceNumber(1), SequenceNumber(3)]),
            .fullIntra(sender: SSRC(9), [FullIntraRequest(source: SSRC(8), commandSequence: 1)]),
            .pictureLoss(sender: SSRC(9), media: SSRC(8)), .bye([SSRC(9)], reason: "gone"),
            .rateRequest(
                sender: SSRC(9), [RateBound(source: SSRC(8), bitsPerSecond: 300_000, overheadBytes: 40)]),
            .receivableRate(sender: SSRC(9), bitsPerSecond: 300_000, [SSRC(8)]),
        ]
        let seed = RTCPCompound.print(packets)
        XCTAssertEqual(try RTCPCompound.parse(seed), packets)
        for _ in 0..<Self.rounds {
            let bytes = self.mutated(seed, &generator)
            guard let parsed = try? RTCPCompound.parse(bytes, reducedSize: true) else { continue }
            XCTAssertLessThanOrEqual(parsed.count, RTPLimits.compoundPacketsMax)
            XCTAssertLessThanOrEqual(RTCPCompound.print(parsed).count, 4 * bytes.count + 1024)
        }
    }

    func testDepacketizerGivesOnlySoundUnits() {
        var generator = Generator(seed: 3)
        let seeds = self.rtpSeeds()
        var depacketizer = H264Depacketizer()
        var sequence: UInt16 = 0
        var given = 0
        for round in 0..<Self.rounds {
            let bytes = self.mutated(seeds[round % seeds.count], &generator)
            guard var packet = try? RTPPacket.parse(bytes) else { continue }
            // Sequence and time mostly go on, so that much of it gets through.
            sequence &+= generator.below(20) == 0 ? 2 : 1
            packet.sequence = SequenceNumber(sequence)
            for unit in depacketizer.take(packet) {
                given += 1
                XCTAssertFalse(unit.nalUnits.contains { $0.isEmpty })
                XCTAssertLessThanOrEqual(unit.nalUnits.count, RTPLimits.nalUnitsMax + 2)
                if unit.isKeyFrame {
                    let types = unit.nalUnits.map { NALUnitType.of($0[0]) }
                    XCTAssertTrue(types.contains(NALUnitType.sequenceParameterSet))
                    XCTAssertTrue(types.contains(NALUnitType.pictureParameterSet))
                }
            }
        }
        XCTAssertGreaterThan(given, 500, "the test feeds something that comes through")
    }

    func testParameterSetsOfNoise() {
        var generator = Generator(seed: 4)
        let seed = NAL.sps()
        for _ in 0..<Self.rounds {
            if let set = SequenceParameterSet.parse(self.mutated(seed, &generator)) {
                XCTAssertTrue((1...16_384).contains(set.width) && (1...16_384).contains(set.height))
            }
        }
    }
}
