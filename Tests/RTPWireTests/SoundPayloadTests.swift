// SPDX-License-Identifier: Apache-2.0

import RTPWire
import XCTest

final class SoundPayloadTests: XCTestCase {
    // MARK: G.711

    func testCornerValuesOfBothLaws() {
        let mu: [(UInt8, Int16)] = [(0xFF, 0), (0x7F, 0), (0x80, 32124), (0x00, -32124), (0xF0, 120), (0xEF, 132)]
        for (byte, sample) in mu { XCTAssertEqual(G711.decode(byte, .mu), sample, "\(byte)") }
        let a: [(UInt8, Int16)] = [(0xD5, 8), (0x55, -8), (0xAA, 32256), (0x2A, -32256), (0xC5, 264), (0xF5, 528)]
        for (byte, sample) in a { XCTAssertEqual(G711.decode(byte, .a), sample, "\(byte)") }
    }

    func testEveryByteSurvivesDecodingAndEncoding() {
        for byte in UInt8.min...UInt8.max {
            // The two zeros of the mu law are one value.
            let expected = byte == 0x7F ? 0xFF : byte
            XCTAssertEqual(G711.encode(G711.decode(byte, .mu), .mu), expected)
            XCTAssertEqual(G711.encode(G711.decode(byte, .a), .a), byte)
        }
    }

    func testEverySampleIsWithinHalfAStep() {
        for law in [G711.Law.mu, .a] {
            for sample in Int16.min...Int16.max {
                let decoded = Int(G711.decode(G711.encode(sample, law), law))
                let magnitude = min(abs(Int(sample)), 32635)
                let bound = max(8, (magnitude + 132) / 32 + 1)
                let wanted = Int(sample).signum() * magnitude
                XCTAssertLessThanOrEqual(abs(decoded - wanted), bound, "\(law) \(sample)")
                if abs(decoded - wanted) > bound { return }
            }
        }
    }

    func testSilenceIsQuiet() {
        XCTAssertEqual(G711.decode([G711.silence(.mu), G711.silence(.a)], .mu).first, 0)
        XCTAssertLessThanOrEqual(abs(G711.decode(G711.silence(.a), .a)), 8)
    }

    // MARK: Opus

    func testOpusDurationsOfEveryConfiguration() {
        let table: [(configurations: ClosedRange<UInt8>, samples: [UInt32])] = [
            (0...11, [480, 960, 1920, 2880]), (12...15, [480, 960]), (16...31, [120, 240, 480, 960]),
        ]
        for (configurations, samples) in table {
            for (offset, configuration) in configurations.enumerated() {
                let frame = samples[offset % samples.count]
                XCTAssertEqual(OpusPacket.samples([configuration << 3, 0]), frame, "\(configuration)")
                XCTAssertEqual(OpusPacket.samples([configuration << 3 | 1, 0]), frame * 2, "\(configuration)")
            }
        }
    }

    func testOpusFrameCountsOutsideTheRulesAreRefused() {
        XCTAssertNil(OpusPacket.samples([]))
        XCTAssertNil(OpusPacket.samples([0x03]), "a count is missing")
        XCTAssertNil(OpusPacket.samples([0x03, 0x00]), "no frame")
        XCTAssertEqual(OpusPacket.samples([0x03, 0x0C]), 5760, "120 ms")
        XCTAssertNil(OpusPacket.samples([0x03, 0x0D]), "130 ms")
        XCTAssertNil(OpusPacket.samples([0x1B, 0x3F]))
    }

    // MARK: Telephone events

    func testTelephoneEventBytes() {
        let event = TelephoneEvent(event: 11, isEnd: true, volume: 10, duration: 0x0320)
        XCTAssertEqual(event.printed(), [11, 0x8A, 0x03, 0x20])
        XCTAssertEqual(TelephoneEvent.parse([11, 0x8A, 0x03, 0x20]), event)
        XCTAssertEqual(
            TelephoneEvent.parse([1, 0x4A, 0, 160, 9, 9])?.volume, 10, "the reserved bit is not the volume's")
        XCTAssertNil(TelephoneEvent.parse([11, 0x8A, 0x03]))
        XCTAssertNil(TelephoneEvent.parse([]))
    }

    func testKeysAndEventsAreOneToOne() {
        let keys: [UInt8] = Array("0123456789*#ABCD".utf8)
        for (index, key) in keys.enumerated() {
            XCTAssertEqual(TelephoneEvent.event(ofKey: key), UInt8(index))
            XCTAssertEqual(TelephoneEvent.key(ofEvent: UInt8(index)), key)
        }
        XCTAssertEqual(TelephoneEvent.event(ofKey: 0x64), 15)
        XCTAssertNil(TelephoneEvent.event(ofKey: 0x45))
        XCTAssertNil(TelephoneEvent.event(ofKey: 0x20))
        XCTAssertNil(TelephoneEvent.key(ofEvent: 16))
    }
}
