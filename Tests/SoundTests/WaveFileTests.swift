// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire
import XCTest

@testable import Sound

final class WaveFileTests: XCTestCase {
    /// A chunk, evened out.
    private func chunk(_ name: String, _ body: [UInt8], size: Int? = nil) -> [UInt8] {
        let size = UInt32(size ?? body.count)
        let head = Array(name.utf8) + (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * UInt32($0))) }
        return head + body + [UInt8](repeating: 0, count: body.count % 2)
    }

    private func little(_ values: Int...) -> [UInt8] {
        values.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    private func format(tag: Int = 1, channels: Int = 1, rate: Int = 16_000, bits: Int = 16) -> [UInt8] {
        let frame = channels * bits / 8
        return self.little(tag, channels, rate & 0xFFFF, rate >> 16, rate * frame & 0xFFFF, rate * frame >> 16)
            + self.little(frame, bits)
    }

    private func pcm(_ samples: [Int16]) -> [UInt8] {
        samples.flatMap { self.little(Int($0)) }
    }

    private func file(_ chunks: [UInt8]...) -> [UInt8] {
        Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WAVE".utf8) + chunks.flatMap { $0 }
    }

    private func fault(_ bytes: [UInt8]) -> WaveFault? {
        do {
            _ = try WaveFile(bytes)
            return nil
        } catch {
            return error
        }
    }

    func testSixteenBits() throws {
        let samples: [Int16] = [0, 1, -1, 32_767, -32_768, 5]
        let wave = try WaveFile(self.file(self.chunk("fmt ", self.format()), self.chunk("data", self.pcm(samples))))
        XCTAssertEqual(wave.rate, 16_000)
        XCTAssertEqual(wave.samples, samples)
    }

    func testTwoChannelsAreMixed() throws {
        let samples: [Int16] = [100, 300, -32_768, -32_768, 32_767, 32_767]
        let wave = try WaveFile(
            self.file(self.chunk("fmt ", self.format(channels: 2)), self.chunk("data", self.pcm(samples))))
        XCTAssertEqual(wave.samples, [200, -32_768, 32_767])
    }

    func testEightBitsOfALaw() throws {
        for (tag, law) in [(6, G711.Law.a), (7, .mu)] {
            let bytes = (0...255).map { UInt8($0) }
            let wave = try WaveFile(
                self.file(self.chunk("fmt ", self.format(tag: tag, bits: 8)), self.chunk("data", bytes)))
            XCTAssertEqual(wave.samples, G711.decode(bytes, law))
        }
    }

    func testWhatEditorsAddIsSteppedOver() throws {
        let odd = self.chunk("LIST", [1, 2, 3])
        let extended = self.format(tag: 0xFFFE) + self.little(22, 16, 4, 0, 1) + [UInt8](repeating: 0, count: 14)
        let wave = try WaveFile(
            self.file(odd, self.chunk("fmt ", extended), odd, self.chunk("data", self.pcm([7, 8])), odd))
        XCTAssertEqual(wave.samples, [7, 8])
    }

    func testWhatIsRefused() {
        let sound = self.chunk("data", self.pcm([1, 2, 3]))
        let good = self.chunk("fmt ", self.format())
        let rows: [(WaveFault, [UInt8])] = [
            (.notWave, []), (.notWave, Array("ID3 an mp3".utf8)), (.notWave, self.file(sound)),
            (.notWave, Array("RIFF    AVI LIST".utf8)), (.notWave, self.file()), (.empty, self.file(good)),
            (.empty, self.file(good, self.chunk("data", []))), (.empty, self.file(good, self.chunk("data", [1]))),
            (.encoding, self.file(self.chunk("fmt ", self.format(tag: 3, bits: 32)), sound)),
            (.encoding, self.file(self.chunk("fmt ", self.format(bits: 24)), sound)),
            (.encoding, self.file(self.chunk("fmt ", self.format(bits: 8)), sound)),
            (.encoding, self.file(self.chunk("fmt ", self.format(tag: 0xFFFE)), sound)),
            (.channels, self.file(self.chunk("fmt ", self.format(channels: 0)), sound)),
            (.channels, self.file(self.chunk("fmt ", self.format(channels: 6)), sound)),
            (.rate, self.file(self.chunk("fmt ", self.format(rate: 0)), sound)),
            (.rate, self.file(self.chunk("fmt ", self.format(rate: 96_000)), sound)),
            (.rate, self.file(self.chunk("fmt ", self.format(rate: 8001)), sound)),
            (.cutShort, self.file(self.chunk("fmt ", [1, 0]), sound)),
            (.cutShort, self.file(good, self.chunk("data", [1, 2], size: 3))),
            (.cutShort, self.file(good, self.chunk("data", [1, 2], size: 0xFFFF_FFFF))),
            (.cutShort, self.file(self.chunk("junk", [], size: 0xFFFF_FFFF), good, sound)),
            (
                .tooLong,
                self.file(
                    self.chunk("fmt ", self.format(tag: 7, rate: 8000, bits: 8)),
                    self.chunk("data", [UInt8](repeating: 0, count: 240_001)))
            ),
            (.tooLong, [UInt8](repeating: 0, count: WaveFile.bytesMax + 1)),
        ]
        for (index, row) in rows.enumerated() { XCTAssertEqual(self.fault(row.1), row.0, "row \(index)") }
    }

    /// Nothing that a card reader, an editor or an ill-wisher makes of a file ends the program.
    func testDamagedFilesAreReadOrRefused() {
        let whole = self.file(
            self.chunk("LIST", [1, 2, 3]), self.chunk("fmt ", self.format(channels: 2) + [0, 0]),
            self.chunk("data", self.pcm((0..<64).map { $0 })))
        var generator = Generator(seed: 31)
        var read = 0
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int(generator.below(4)) + 1 {
                let place = Int(generator.below(UInt64(bytes.count)))
                bytes[place] = UInt8(truncatingIfNeeded: generator.next())
            }
            if generator.below(3) == 0 { bytes.removeLast(Int(generator.below(UInt64(bytes.count)))) }
            guard let wave = try? WaveFile(bytes) else { continue }
            read += 1
            XCTAssertLessThanOrEqual(wave.samples.count, 128)
            XCTAssertLessThanOrEqual(wave.atDeviceRate().count, 128 * 6)
        }
        XCTAssertGreaterThan(read, 1000)
    }

    func testEachRateComesOutAt48kHz() {
        for rate in WaveFile.rates where rate != 48_000 {
            let sine = (0..<rate).map { Int16(10_000 * sin(2 * .pi * 1000 * Double($0) / Double(rate))) }
            let sound = RateConverter.convert(sine, from: rate)
            XCTAssertEqual(sound.count, 48_000, "\(rate)")
            let found = TestSound.measure(Array(sound[4800..<43_200]), 1000)
            XCTAssertEqual(found.amplitude, 10_000, accuracy: 20, "\(rate)")
            XCTAssertGreaterThan(found.snr, 50, "\(rate)")
        }
    }
}
