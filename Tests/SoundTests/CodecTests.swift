// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire
import XCTest

@testable import Sound

final class CodecTests: XCTestCase {
    private func packet(
        _ payload: [UInt8], _ codec: AudioCodec, number: Int = 0, samples: UInt32 = 960, followsGap: Bool = false
    ) -> AudioPacket {
        AudioPacket(
            payload: payload, codec: codec, ssrc: SSRC(1), sequence: SequenceNumber(UInt16(truncatingIfNeeded: number)),
            timestamp: RTPTimestamp(UInt32(truncatingIfNeeded: number) &* samples), samples: samples,
            followsGap: followsGap)
    }

    /// Two seconds of a tone through encoder and decoder.
    private func roundTrip(_ codec: AudioCodec, hertz: Double, packetMs: Int = 20) throws -> [Int16] {
        let encoder = try AudioEncoder(codec, packetMs: packetMs)
        let decoder = AudioDecoder()
        var out: [Int16] = []
        for period in 0..<200 {
            let sound = TestSound.sine(hertz, frames: 480, from: period * 480)
            guard let encoded = encoder.encode(sound, captured: .zero) else { continue }
            XCTAssertEqual(Int(encoded.samples) * 1000, encoder.packetMs * Int(codec.clockRate))
            out += decoder.decode(self.packet(encoded.payload, codec, samples: encoded.samples))
        }
        XCTAssertEqual(decoder.damaged, 0)
        return out
    }

    func testATonePassesThroughEveryCodec() throws {
        // Opus as speech codec is no waveform codec: a pure tone keeps its pitch, at some 20 dB over the rest.
        let table: [(AudioCodec, snr: Double)] = [(.opus, 15), (.pcmu, 33), (.pcma, 33)]
        for (codec, snr) in table {
            for hertz in [440.0, 1000] {
                let out = try self.roundTrip(codec, hertz: hertz)
                XCTAssertEqual(out.count, 96_000)
                let found = TestSound.measure(Array(out.dropFirst(24_000)), hertz)
                XCTAssertGreaterThan(found.snr, snr, "\(codec) at \(hertz) Hz")
                XCTAssertEqual(found.amplitude, 10_000, accuracy: 1500, "\(codec) at \(hertz) Hz")
            }
        }
    }

    func testEveryPacketLengthIsMade() throws {
        for codec in [AudioCodec.opus, .pcmu] {
            for packetMs in [10, 20, 40, 60] {
                let out = try self.roundTrip(codec, hertz: 700, packetMs: packetMs)
                XCTAssertGreaterThanOrEqual(out.count, 96_000 - 2880, "\(codec), \(packetMs) ms")
                XCTAssertGreaterThan(
                    TestSound.measure(Array(out.dropFirst(24_000)), 700).snr, 12, "\(codec), \(packetMs) ms")
            }
        }
    }

    func testPacketLengthsAreBroughtToWhatTheCodecHas() {
        let table: [(AudioCodec, wanted: Int, got: Int)] = [
            (.opus, 20, 20), (.opus, 30, 20), (.opus, 50, 40), (.opus, 5, 10), (.opus, 120, 60), (.opus, -1, 10),
            (.pcmu, 30, 30), (.pcma, 25, 20), (.pcmu, 200, 60), (.pcmu, 0, 10),
        ]
        for (codec, wanted, got) in table {
            XCTAssertEqual(AudioEncoder.packetMs(codec, wanted: wanted), got, "\(codec), \(wanted) ms")
        }
    }

    func testAPacketCarriesTheTimeOfItsFirstSample() throws {
        let encoder = try AudioEncoder(.pcmu, packetMs: 20)
        let silence = [Int16](repeating: 0, count: 480)
        for start in [100, 300] {
            XCTAssertNil(encoder.encode(silence, captured: .zero + .milliseconds(start)))
            let packet = encoder.encode(silence, captured: .zero + .milliseconds(start + 10))
            XCTAssertEqual(packet?.captured, .zero + .milliseconds(start))
            XCTAssertEqual(packet?.payload, [UInt8](repeating: 0xFF, count: 160))
        }
    }

    func testOpusKeepsToItsBitRate() throws {
        let encoder = try AudioEncoder(.opus, packetMs: 20)
        var generator = Generator(seed: 8)
        var bytes = 0
        for _ in 0..<500 {
            let noise = (0..<480).map { _ in Int16(truncatingIfNeeded: generator.next()) / 4 }
            bytes += encoder.encode(noise, captured: .zero)?.payload.count ?? 0
        }
        XCTAssertEqual(Double(bytes * 8) / 5, 32_000, accuracy: 8000)
    }

    func testAStereoPacketIsMixedDown() throws {
        let encoder = try AudioEncoder(.opus, packetMs: 20)
        _ = encoder.encode(TestSound.sine(440, frames: 480), captured: .zero)
        var payload = try XCTUnwrap(encoder.encode(TestSound.sine(440, frames: 480, from: 480), captured: .zero))
            .payload
        // The stereo bit of the table of contents (RFC 6716 section 3.1): what follows is decoded as something, of the
        // same length.
        payload[0] |= 0x04
        XCTAssertEqual(AudioDecoder().decode(self.packet(payload, .opus)).count, 960)
    }

    func testTheCodecMayChangeInTheStream() throws {
        let decoder = AudioDecoder()
        var out: [Int16] = []
        for (index, codec) in [AudioCodec.pcmu, .opus, .pcma, .opus, .pcmu].enumerated() {
            let encoder = try AudioEncoder(codec, packetMs: 20)
            for period in 0..<20 {
                let sound = TestSound.sine(440, frames: 480, from: (index * 20 + period) * 480)
                guard let encoded = encoder.encode(sound, captured: .zero) else { continue }
                out += decoder.decode(self.packet(encoded.payload, codec, samples: encoded.samples))
            }
        }
        XCTAssertEqual(out.count, 48_000)
    }

    func testLossIsConcealedAndCostsLittle() throws {
        for codec in [AudioCodec.opus, .pcmu] {
            let encoder = try AudioEncoder(codec, packetMs: 20)
            let decoder = AudioDecoder()
            var out: [Int16] = []
            for period in 0..<400 {
                let sound = TestSound.sine(500, frames: 480, from: period * 480)
                guard let encoded = encoder.encode(sound, captured: .zero) else { continue }
                let isLost = period % 40 == 39
                out +=
                    isLost
                    ? decoder.conceal(encoded.samples, clockRate: codec.clockRate)
                    : decoder.decode(self.packet(encoded.payload, codec, samples: encoded.samples))
            }
            let found = TestSound.measure(Array(out.dropFirst(24_000)), 500)
            XCTAssertGreaterThan(found.snr, 10, "\(codec)")
            XCTAssertLessThan(TestSound.roughness(Array(out.dropFirst(24_000))), 2500, "\(codec)")
        }
    }

    func testDamagedPayloadsNeverCrashAndGiveAsMuchSound() throws {
        let encoder = try AudioEncoder(.opus, packetMs: 20)
        _ = encoder.encode(TestSound.sine(440, frames: 480), captured: .zero)
        let good = try XCTUnwrap(encoder.encode(TestSound.sine(440, frames: 480), captured: .zero)).payload
        let decoder = AudioDecoder()
        var generator = Generator(seed: 9)
        for _ in 0..<5000 {
            var payload = good
            switch generator.below(4) {
            case 0: payload = (0..<generator.below(300)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            case 1: payload.removeLast(Int(generator.below(UInt64(good.count))))
            default:
                for _ in 0...generator.below(8) {
                    payload[Int(generator.below(UInt64(payload.count)))] = UInt8(truncatingIfNeeded: generator.next())
                }
            }
            let codec: AudioCodec = generator.below(8) == 0 ? .pcma : .opus
            XCTAssertLessThanOrEqual(decoder.decode(self.packet(payload, codec)).count, 5760)
        }
        XCTAssertEqual(decoder.decode(self.packet([], .opus)).count, 960)
        XCTAssertEqual(decoder.decode(self.packet([UInt8](repeating: 3, count: 9000), .opus)).count, 960)
        XCTAssertEqual(decoder.decode(self.packet([], .pcmu, samples: .max)).count, 5760)
        XCTAssertGreaterThan(decoder.damaged, 2)
        XCTAssertEqual(decoder.decode(self.packet(good, .opus)).count, 960)
    }
}
