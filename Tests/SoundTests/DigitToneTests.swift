// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import Sound

/// Digits in the sound that is sent.
final class DigitToneTests: XCTestCase {
    /// What is sent in so many periods in place of a microphone that always gives 1000.
    private func sent(_ digits: inout DigitTones, ms: Int) -> [Int16] {
        (0..<ms / SoundFormat.periodMs).flatMap { _ -> [Int16] in
            var period = [Int16](repeating: 1000, count: SoundFormat.periodFrames)
            digits.replace(&period)
            return period
        }
    }

    /// Goertzel: how much of a frequency is in `samples`, where a pure tone of amplitude A gives A.
    private func level(_ samples: ArraySlice<Int16>, hertz: Double) -> Double {
        let step = 2 * cos(2 * Double.pi * hertz / Double(SoundFormat.rate))
        var (one, two) = (0.0, 0.0)
        for sample in samples { (one, two) = (Double(sample) + step * one - two, one) }
        return 2 * (one * one + two * two - step * one * two).squareRoot() / Double(samples.count)
    }

    func testEachDigitIsItsTwoTonesAndTheSilenceAfterIt() {
        let rows = [697.0, 770, 852, 941]
        let columns = [1209.0, 1336, 1477, 1633]
        for (index, key) in "123A456B789C*0#D".utf8.enumerated() {
            var digits = DigitTones()
            digits.play(key, milliseconds: 160)
            let samples = self.sent(&digits, ms: 300)
            let tone = samples[0..<160 * 48]
            for (row, hertz) in rows.enumerated() {
                XCTAssertEqual(self.level(tone, hertz: hertz) > 4000, row == index / 4, "\(key) \(hertz)")
            }
            for (column, hertz) in columns.enumerated() {
                XCTAssertEqual(self.level(tone, hertz: hertz) > 4000, column == index % 4, "\(key) \(hertz)")
            }
            XCTAssertTrue(samples[160 * 48..<220 * 48].allSatisfy { $0 == 0 }, "no speech runs into it")
            XCTAssertTrue(samples[(230 * 48)...].allSatisfy { $0 == 1000 }, "then the microphone again")
        }
    }

    func testDigitsComeOneAfterTheOtherAndTheirNumberIsBounded() {
        var digits = DigitTones()
        for _ in 0..<1000 { digits.play(UInt8(ascii: "5"), milliseconds: 40) }
        let samples = self.sent(&digits, ms: 40_000)
        // 40 ms of tone and 60 of silence each.
        let lastTone = samples.lastIndex { $0 != 0 && $0 != 1000 } ?? 0
        XCTAssertEqual(Double(lastTone) / 48, Double(DigitTones.queuedMax * 100 - 60), accuracy: 5)
    }

    func testWhatIsNoKeyIsLeftOutAndAnEndStopsAll() {
        var digits = DigitTones()
        digits.play(UInt8(ascii: "x"), milliseconds: 100)
        XCTAssertTrue(self.sent(&digits, ms: 100).allSatisfy { $0 == 1000 })
        digits.play(UInt8(ascii: "1"), milliseconds: 100)
        digits.play(UInt8(ascii: "2"), milliseconds: 100)
        _ = self.sent(&digits, ms: 20)
        digits.stop()
        XCTAssertTrue(self.sent(&digits, ms: 100).allSatisfy { $0 == 1000 })
    }
}
