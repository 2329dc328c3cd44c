// SPDX-License-Identifier: Apache-2.0

import KioskEngine
import XCTest

@testable import Sound

/// What the board itself sounds like: tones, chimes, prompts, and all of it beside the far end's voice.
final class ToneTests: XCTestCase {
    /// `seconds` of what is heard beside a far end that sends `far`.
    private func play(_ mix: inout LoudspeakerMix, seconds: Double, far: Int16 = 0) -> [Int16] {
        (0..<Int((seconds * 100).rounded())).flatMap { _ in
            var period = [Int16](repeating: far, count: 480)
            mix.mix(into: &period)
            return period
        }
    }

    private func heard(_ tone: Tone, _ country: ToneCountry = .etsi, seconds: Double) -> [Int16] {
        var mix = LoudspeakerMix(SoundLevels(), country)
        mix.tones.play(tone)
        return self.play(&mix, seconds: seconds)
    }

    private func isSilent(_ samples: ArraySlice<Int16>) -> Bool {
        samples.allSatisfy { $0 == 0 }
    }

    // MARK: - Tones of the network

    func testRingbackSoundsOneSecondInFive() {
        let sound = self.heard(.ringback, seconds: 6)
        XCTAssertGreaterThan(TestSound.measure(Array(sound[480..<47_520]), 425).snr, 60)
        XCTAssertTrue(self.isSilent(sound[48_480..<239_520]))
        XCTAssertGreaterThan(TestSound.power(Array(sound[240_480..<287_520])), 1e7)
    }

    func testCadencesAreThoseOfTheCountry() {
        let rows: [(ToneCountry, Tone, on: [Double], off: [Double])] = [
            (.unitedKingdom, .ringback, [0.2, 0.8, 3.2], [0.5, 1.1, 2.9]),
            (.unitedStates, .ringback, [0.1, 1.9, 6.1], [2.1, 5.9]),
            (.france, .ringback, [1.4, 5.1], [1.6, 4.9]),
            (.spain, .error, [0.1, 0.5, 0.9, 1.7], [0.3, 0.7, 1.1, 1.5]),
            (.unitedKingdom, .error, [0.3, 0.8, 1.6], [0.5, 1.1]),
            (.china, .busy, [0.3, 0.8], [0.4, 0.6]),
            (.etsi, .bell, [0.9, 3.1], [1.1, 2.9]),
        ]
        for row in rows {
            let sound = self.heard(row.1, row.0, seconds: 7)
            for time in row.on {
                let place = Int(time * 48_000)
                XCTAssertGreaterThan(TestSound.power(Array(sound[place..<place + 480])), 1e5, "\(row.0) \(time)")
            }
            for time in row.off {
                let place = Int(time * 48_000)
                XCTAssertTrue(self.isSilent(sound[place..<place + 480]), "\(row.0) \(row.1) \(time)")
            }
        }
    }

    func testTwoWavesAreNoLouderThanOne() {
        let one = TestSound.power(Array(self.heard(.busy, .etsi, seconds: 0.4)))
        let two = self.heard(.busy, .unitedStates, seconds: 0.4)
        XCTAssertLessThan(TestSound.power(two), one)
        XCTAssertLessThanOrEqual(two.map(\.magnitude).max() ?? 0, 5000)
        for hertz in [480.0, 620.0] {
            XCTAssertEqual(TestSound.measure(Array(two[2400..<16_800]), hertz).amplitude, 2500, accuracy: 50)
        }
    }

    func testTonesBeginAndEndWithoutAClick() {
        var mix = LoudspeakerMix()
        mix.tones.play(.busy)
        var sound = self.play(&mix, seconds: 1.26)
        mix.tones.play(.none)
        XCTAssertTrue(mix.isActive)
        sound += self.play(&mix, seconds: 0.1)
        XCTAssertFalse(mix.isActive)
        XCTAssertLessThan(TestSound.roughness(sound), 350)
        XCTAssertTrue(self.isSilent(sound.suffix(2400)))
    }

    func testTheSameToneAgainDoesNotBeginAnew() {
        var mix = LoudspeakerMix()
        mix.tones.play(.busy)
        _ = self.play(&mix, seconds: 0.6)
        mix.tones.play(.busy)
        XCTAssertTrue(self.isSilent(self.play(&mix, seconds: 0.1)[...]))
    }

    func testTheOscillatorKeepsItsSize() {
        var oscillator = Oscillator(hertz: 425)
        for _ in 0..<(48_000 * 10) { _ = oscillator.next() }
        let peak = (0..<4800).map { _ in abs(oscillator.next()) }.max()
        XCTAssertEqual(peak ?? 0, 1, accuracy: 0.001)
    }

    // MARK: - Chimes

    private static let chimes: [Chime] = [
        .key, .digit(UInt8(ascii: "5")), .placed, .answered, .ended, .muted, .unmuted, .warning, .ready, .lost, .back,
    ]

    func testAKeySoundsInItsFirstMillisecondsAndIsShort() {
        var mix = LoudspeakerMix()
        mix.chimes.play(.key)
        let sound = self.play(&mix, seconds: 0.1)
        XCTAssertGreaterThan(sound[..<144].map(\.magnitude).max() ?? 0, 1000)
        XCTAssertTrue(self.isSilent(sound[1440...]))
        XCTAssertFalse(mix.isActive)
    }

    func testEveryChimeIsHeardEndsSoonAndNeverClicks() {
        for chime in Self.chimes {
            var mix = LoudspeakerMix()
            mix.chimes.play(chime)
            let sound = self.play(&mix, seconds: 0.8)
            XCTAssertGreaterThan(TestSound.power(sound), 1e4, "\(chime)")
            XCTAssertLessThan(TestSound.roughness(sound), 800, "\(chime)")
            XCTAssertFalse(mix.isActive, "\(chime)")
        }
    }

    func testAChimeLeavesTheToneAlone() {
        var mix = LoudspeakerMix()
        mix.tones.play(.error)
        mix.chimes.play(.key)
        XCTAssertEqual(mix.tones.tone, .error)
        XCTAssertLessThanOrEqual(self.play(&mix, seconds: 0.2).map(\.magnitude).max() ?? 0, 10_000)
    }

    func testAChimeWaitsForTheOneBefore() {
        var mix = LoudspeakerMix()
        mix.chimes.play(.key)
        mix.chimes.play(.placed)
        let sound = self.play(&mix, seconds: 0.13)
        XCTAssertFalse(mix.isActive, "30 ms and 90 ms")
        XCTAssertGreaterThan(TestSound.measure(Array(sound[240..<1200]), 1000).amplitude, 2000)
        XCTAssertGreaterThan(TestSound.measure(Array(sound[1920..<5280]), 660).amplitude, 4500)
        for _ in 0..<100 { mix.chimes.play(.lost) }
        _ = self.play(&mix, seconds: 3)
        XCTAssertFalse(mix.isActive, "not for ever")
    }

    func testAChimeIsAddedToWhatWasMixedBeforeIt() {
        var mix = LoudspeakerMix()
        mix.chimes.play(.key)
        var queued = [Int16](repeating: 1000, count: 720)
        mix.addChime(to: &queued)
        let sound = queued.map { $0 - 1000 } + self.play(&mix, seconds: 0.1)
        XCTAssertGreaterThan(TestSound.measure(Array(sound[240..<1200]), 1000).amplitude, 4500)
        XCTAssertTrue(self.isSilent(sound[1440...]))
        XCTAssertLessThan(TestSound.roughness(sound), 800)
    }

    func testAKeyTakesTheOthersPlaceAtOnce() {
        var mix = LoudspeakerMix()
        mix.chimes.play(.lost)
        var sound = self.play(&mix, seconds: 0.05)
        mix.chimes.play(.key)
        sound += self.play(&mix, seconds: 0.05)
        XCTAssertFalse(mix.isActive)
        XCTAssertLessThan(TestSound.roughness(sound), 800)
    }

    /// A dual tone in the room would be a second digit at the far end (RFC 4733 section 2.3).
    func testAPipForADigitIsNoDualTone() {
        for key in "0123456789*#ABCD".utf8 {
            var mix = LoudspeakerMix()
            mix.chimes.play(.digit(key))
            let sound = Array(self.play(&mix, seconds: 0.06).prefix(2400))
            for hertz in [1209.0, 1336, 1477, 1633] {
                XCTAssertLessThan(TestSound.measure(sound, hertz).amplitude, 100)
            }
        }
    }

    // MARK: - Dual tones

    func testADigitIsItsTwoTonesAndNothingElse() throws {
        for (key, low, high) in [("1", 697.0, 1209.0), ("5", 770, 1336), ("9", 852, 1477), ("D", 941, 1633)] {
            var tone = try XCTUnwrap(DualTone(key.utf8.first ?? 0, milliseconds: 100))
            var sound = [Int16](repeating: 99, count: 4800)
            tone.fill(&sound)
            XCTAssertTrue(tone.isOver)
            XCTAssertEqual(TestSound.measure(sound, low).amplitude, 6430, accuracy: 300)
            XCTAssertEqual(TestSound.measure(sound, high).amplitude, 8090, accuracy: 300)
            XCTAssertLessThan(TestSound.roughness(sound), 4000)
            var after = [Int16](repeating: 99, count: 480)
            tone.fill(&after)
            XCTAssertTrue(self.isSilent(after[...]))
        }
        for key in "0123456789*#ABCD".utf8 { XCTAssertNotNil(DualTone(key, milliseconds: 60)) }
        for key in " aE\0".utf8 { XCTAssertNil(DualTone(key, milliseconds: 60)) }
    }

    func testADigitOfNoLengthIsSilence() {
        for length in [0, -5] {
            var tone = DualTone(UInt8(ascii: "1"), milliseconds: length)
            var sound = [Int16](repeating: 99, count: 48)
            tone?.fill(&sound)
            XCTAssertTrue(self.isSilent(sound[...]))
        }
    }
}
