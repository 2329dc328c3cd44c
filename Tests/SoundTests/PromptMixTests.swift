// SPDX-License-Identifier: Apache-2.0

import KioskEngine
import XCTest

@testable import Sound

/// Prompts beside tones and the far end's voice.
final class PromptMixTests: XCTestCase {
    private let prompt = TestSound.sine(300, frames: 48_000, amplitude: 30_000)

    private func play(_ mix: inout LoudspeakerMix, seconds: Double, far: Int16 = 0) -> [Int16] {
        (0..<Int((seconds * 100).rounded())).flatMap { _ in
            var period = [Int16](repeating: far, count: 480)
            mix.mix(into: &period)
            return period
        }
    }

    func testAPromptIsSpokenOnceAndWhole() {
        var mix = LoudspeakerMix()
        mix.speak(self.prompt)
        XCTAssertTrue(mix.isActive)
        let sound = self.play(&mix, seconds: 1.16)
        XCTAssertEqual(TestSound.measure(Array(sound[9600..<48_000]), 300).amplitude, 14_648, accuracy: 50)
        XCTAssertFalse(mix.prompt.isSpeaking, "150 ms, then one second")
        _ = self.play(&mix, seconds: 0.3)
        XCTAssertFalse(mix.isActive)
    }

    func testAPromptWaitsForTheChimeBeforeIt() {
        var mix = LoudspeakerMix()
        mix.chimes.play(.warning)
        mix.speak(self.prompt)
        _ = self.play(&mix, seconds: 0.7)
        XCTAssertFalse(mix.prompt.isSpeaking)
        _ = self.play(&mix, seconds: 0.2)
        XCTAssertTrue(mix.prompt.isSpeaking)
    }

    func testAToneIsHeardFirstAndThenHushed() {
        var mix = LoudspeakerMix()
        mix.tones.play(.busy)
        mix.speak(self.prompt)
        let before = self.play(&mix, seconds: 1.2)
        XCTAssertGreaterThan(TestSound.measure(Array(before[480..<23_520]), 425).amplitude, 4900)
        let during = self.play(&mix, seconds: 1)
        XCTAssertLessThan(TestSound.measure(Array(during[480..<47_520]), 425).amplitude, 50)
        let after = self.play(&mix, seconds: 1)
        XCTAssertGreaterThan(TestSound.power(after), 1e6, "the busy tone again")
    }

    func testTheNextPromptTakesThePlaceOfTheOneBefore() {
        var mix = LoudspeakerMix()
        mix.speak(self.prompt)
        _ = self.play(&mix, seconds: 0.5)
        mix.speak(TestSound.sine(700, frames: 24_000, amplitude: 30_000))
        let sound = self.play(&mix, seconds: 0.6)
        XCTAssertLessThan(TestSound.measure(Array(sound[9600..<24_000]), 300).amplitude, 50)
        XCTAssertGreaterThan(TestSound.measure(Array(sound[9600..<24_000]), 700).amplitude, 14_000)
    }

    func testAPromptThatIsCutOffFadesAtOnce() {
        var mix = LoudspeakerMix()
        mix.speak(self.prompt)
        var sound = self.play(&mix, seconds: 0.5)
        mix.prompt.stop()
        sound += self.play(&mix, seconds: 0.02)
        XCTAssertFalse(mix.prompt.isSpeaking)
        XCTAssertLessThan(TestSound.roughness(sound), 1000)
        XCTAssertEqual(TestSound.power(Array(sound.suffix(480))), 0)
        mix.speak(self.prompt)
        mix.prompt.stop()
        XCTAssertEqual(TestSound.power(self.play(&mix, seconds: 0.5)), 0, "before its first word: not at all")
    }

    func testNothingIsEverCut() {
        for (far, kind) in [(Int16.max, Tone.error), (Int16.min, .busy), (Int16.max, .none)] {
            var mix = LoudspeakerMix()
            mix.tones.play(kind)
            _ = self.play(&mix, seconds: 0.1, far: far)
            mix.speak([Int16](repeating: far, count: 48_000))
            mix.chimes.play(.key)
            let sound = self.play(&mix, seconds: 3, far: far)
            let loudest = sound.prefix(130_000).map { Int($0.magnitude) }.max() ?? 0
            XCTAssertLessThan(loudest, kind == .none ? 32_768 : 32_700)
        }
    }

    func testTheFarEndStepsBackAndComesAgain() {
        var mix = LoudspeakerMix()
        mix.speak([Int16](repeating: 0, count: 24_000))
        let sound = self.play(&mix, seconds: 0.9, far: 10_000)
        XCTAssertEqual(sound[0], 10_000)
        XCTAssertEqual(sound[20_000], 3000)
        XCTAssertEqual(sound[42_000], 10_000)
        XCTAssertLessThan(TestSound.roughness(sound), 25)
    }

    func testLevelsAreTheOwners() {
        var levels = SoundLevels()
        levels.volume = 0.5
        levels.prompts = 0.5
        levels.tones = 0
        var mix = LoudspeakerMix(levels)
        XCTAssertEqual(self.play(&mix, seconds: 0.01, far: 10_000)[0], 5000, "the far end's voice too")
        mix.tones.play(.busy)
        XCTAssertEqual(TestSound.power(self.play(&mix, seconds: 0.2)), 0)
        mix.tones.play(.none)
        _ = self.play(&mix, seconds: 0.1)
        mix.speak(self.prompt)
        let sound = self.play(&mix, seconds: 1)
        XCTAssertEqual(TestSound.measure(Array(sound[9600..<43_200]), 300).amplitude, 3662, accuracy: 20)
    }

    func testTheMicrophoneIsDeafWhileAPromptSpeaksAndForAMomentAfter() {
        var mix = LoudspeakerMix()
        mix.speak([Int16](repeating: 0, count: 4800))
        _ = self.play(&mix, seconds: 0.1)
        XCTAssertFalse(mix.prompt.isAudible, "it has not begun")
        _ = self.play(&mix, seconds: 0.16)
        XCTAssertTrue(mix.prompt.isAudible)
        _ = self.play(&mix, seconds: 0.15)
        XCTAssertFalse(mix.prompt.isAudible)
    }
}
