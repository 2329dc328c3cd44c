// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import MediaEngine
import RTPWire
import XCTest

@testable import Sound

final class EchoCancellerTests: XCTestCase {
    private static let far = try? TestVoice.speak(TestVoice.operatorText, voice: "en")
    private static let near = try? TestVoice.speak(TestVoice.callerText, voice: "en+f3")
    private static let second = SoundFormat.rate

    /// Seven seconds.
    private func far() throws -> [Int16] { try XCTUnwrap(Self.far).prefix(7 * Self.second).map { $0 / 2 } }
    private func near() throws -> [Int16] { try XCTUnwrap(Self.near).prefix(6 * Self.second).map { $0 / 3 } }
    private func canceller() throws -> EchoCanceller { try XCTUnwrap(EchoCanceller(CaptureCare())) }

    private func decibels(_ samples: ArraySlice<Int16>) -> Double {
        10 * log10(max(TestSound.power(Array(samples)), 1e-3))
    }

    /// Of the echo's power before to that after, between two moments in seconds.
    private func enhancement(_ sound: (echo: [Int16], cleaned: [Int16]), _ begin: Double, _ end: Double) -> Double {
        let range = Int(begin * Double(Self.second))..<min(Int(end * Double(Self.second)), sound.echo.count)
        return self.decibels(sound.echo[range]) - self.decibels(sound.cleaned[range])
    }

    func testCase139EchoIsGoneAfterTwoSecondsWhateverItsDelay() throws {
        let far = try self.far()
        for (delayMs, driftPPM) in [(0, 0.0), (0, -200), (5, 200), (60, 0), (150, 200)] {
            let room = Room(delayMs: delayMs, driftPPM: driftPPM)
            let sound = room.run(try self.canceller(), far: far)
            let found = self.enhancement(sound, 2, 7)
            let first = self.enhancement(sound, 0, 2)
            XCTAssertGreaterThan(found, 25, "\(delayMs) ms, \(driftPPM) ppm")
            XCTAssertGreaterThan(first, 15, "\(delayMs) ms, \(driftPPM) ppm: from the first word on")
        }
    }

    /// The mean product with what lies at `place`, of every third sample.
    private func product(_ said: [Int16], _ cleaned: [Int16], _ place: Int) -> Double {
        var sum = 0.0
        var index = 0
        while index < said.count {
            sum += Double(said[index]) * Double(cleaned[place + index])
            index += 3
        }
        return 3 * sum / Double(said.count)
    }

    /// How much of `near` is in `cleaned`, in dB, over all of it; and the longest time without, in ms.
    private func kept(_ near: [Int16], in cleaned: [Int16], from begin: Int) -> (decibels: Double, holeMs: Int) {
        let step = Self.second / 20
        var powers = 0.0
        var keptPowers = 0.0
        var hole = 0
        var longest = 0
        for place in stride(from: begin, to: min(near.count, cleaned.count) - 2 * step, by: step) {
            let said = Array(near[place..<place + step])
            let power = TestSound.power(said)
            guard power > 40_000 else { continue }
            // What the canceller's filters delay it by is not known beforehand.
            let share = stride(from: 0, to: 480, by: 8).map { self.product(said, cleaned, place + $0) }.max() ?? 0
            powers += power
            keptPowers += power * (share / power) * (share / power)
            hole = share < 0.1 * power ? hole + 50 : 0
            longest = max(longest, hole)
        }
        return (10 * log10(keptPowers / powers), longest)
    }

    func testWhoSpeaksAtTheSameTimeIsHeard() throws {
        let far = try self.far() + self.far()
        let begin = 4 * Self.second
        let near = [Int16](repeating: 0, count: begin) + (try self.near())
        for (delayMs, driftPPM) in [(5, 0.0), (60, 0), (60, 200)] {
            let room = Room(delayMs: delayMs, driftPPM: driftPPM)
            let sound = room.run(try self.canceller(), far: far, near: near)
            let found = self.kept(near, in: sound.cleaned, from: begin)
            XCTAssertGreaterThan(found.decibels, -6, "\(delayMs) ms, \(driftPPM) ppm")
            // What AEC3 takes away with the echo where both speak at once: docs/decisions/0034.
            XCTAssertLessThanOrEqual(found.holeMs, 400, "\(delayMs) ms, \(driftPPM) ppm")
        }
    }

    func testWhoSpeaksAloneIsNotTouched() throws {
        let near = try self.near()
        let silence = [Int16](repeating: 0, count: near.count)
        let sound = Room().run(try self.canceller(), far: silence, near: near)
        let found = self.kept(near, in: sound.cleaned, from: 0)
        XCTAssertGreaterThan(found.decibels, -1)
        XCTAssertLessThanOrEqual(found.holeMs, 0)
    }

    /// After a fault of a device the sound comes later than before, or sooner.
    func testAnotherDelayIsFoundAgain() throws {
        let far = try self.far() + self.far()
        let canceller = try self.canceller()
        let half = far.count / 960 * 480
        _ = Room(delayMs: 20).run(canceller, far: Array(far[..<half]))
        for delayMs in [60, 10] {
            let sound = Room(delayMs: delayMs).run(canceller, far: Array(far[half...]))
            XCTAssertGreaterThan(self.enhancement(sound, 2, 8), 25, "\(delayMs) ms")
        }
    }

    /// A loudspeaker that went without sound goes on in silence, for any time.
    func testAGapOfTheLoudspeakerLetsNoEchoThrough() throws {
        for gap in [1_500, 3_360, 7_000] {
            let far = try self.far()
            let place = 4 * Self.second
            var history = PlaybackHistory(capacity: 12_480)
            var rendered: [Int16] = []
            var taken = [Int16](repeating: 0, count: 480)
            for begin in stride(from: 0, to: far.count - 480, by: 480) {
                if begin == place { history.appendSilence(gap) }
                history.append(Array(far[begin..<begin + 480]))
                while history.take(into: &taken, changeable: 0) { rendered += taken }
            }
            let played = far[..<place] + [Int16](repeating: 0, count: gap) + far[place...]
            let sound = Room().run(try self.canceller(), far: Array(played), rendered: rendered)
            let begin = Double(place + gap) / Double(Self.second)
            XCTAssertGreaterThan(self.enhancement(sound, begin, begin + 0.3), 25, "\(gap) frames")
        }
    }

    func testWhatWasLearnedIsForgottenByReset() throws {
        let far = try self.far()
        let canceller = try self.canceller()
        _ = Room(delayMs: 100).run(canceller, far: far)
        canceller.reset()
        let sound = Room(delayMs: 5).run(canceller, far: far)
        XCTAssertGreaterThan(self.enhancement(sound, 0, 2), 15)
        XCTAssertGreaterThan(self.enhancement(sound, 2, 8), 25)
    }

    func testPromptsAreNotHeardThroughIt() throws {
        let prompt = try TestVoice.speak("There is no picture. You can still speak.", voice: "en-gb")
        let far = try self.far() + [Int16](repeating: 0, count: Self.second)
        let canceller = try self.canceller()
        let sound = Room().run(canceller, far: far + prompt.map { $0 / 2 })
        let after = sound.cleaned[(far.count)...]
        let speech = self.decibels(try self.near()[...])
        XCTAssertGreaterThan(speech - self.decibels(after), 40)
        let first = Room().run(try self.canceller(), far: prompt.map { $0 / 2 })
        XCTAssertGreaterThan(speech - self.decibels(first.cleaned[...]), 25)
    }

    func testTonesOfAMicrophonePass() throws {
        for gain in [false, true] {
            var care = CaptureCare()
            care.controlsGain = gain
            let far = TestSound.sine(1000, frames: 4 * Self.second)
            let near = TestSound.sine(440, frames: 4 * Self.second, amplitude: 8000)
            let sound = Room(gainDB: -200).run(try XCTUnwrap(EchoCanceller(care)), far: far, near: near)
            for second in 1..<3 {
                let part = sound.cleaned[second * Self.second..<(second + 1) * Self.second]
                let found = TestSound.measure(Array(part), 440)
                XCTAssertGreaterThan(found.snr, 20, "gain \(gain), second \(second)")
            }
        }
    }

    func testWithNothingToDoThereIsNone() {
        var care = CaptureCare()
        care.cancelsEcho = false
        XCTAssertNil(EchoCanceller(care))
        care.noiseSuppression = .high
        XCTAssertEqual(EchoCanceller(care)?.cancelsEcho, false)
    }

    func testSteadyNoiseIsTakenOutWhereWanted() throws {
        var generator = Generator(seed: 5)
        let noise = (0..<6 * Self.second).map { _ in Int16(truncatingIfNeeded: Int(generator.next() % 2001) - 1000) }
        let silence = [Int16](repeating: 0, count: noise.count)
        var before = 0.0
        for level in [CaptureCare.NoiseSuppression.low, .moderate, .high] {
            var care = CaptureCare()
            care.noiseSuppression = level
            let sound = Room().run(try XCTUnwrap(EchoCanceller(care)), far: silence, near: noise)
            let less = self.decibels(noise[(3 * Self.second)...]) - self.decibels(sound.cleaned[(3 * Self.second)...])
            XCTAssertGreaterThan(less, before + 3, "\(level)")
            before = less
        }
    }

    private func processorMicroseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }

    /// Case 140: on a small board the canceller has to cost no more than what encodes the sound.
    func testWhatAPeriodCosts() throws {
        let far = try self.far()
        let encoder = try AudioEncoder(.opus, packetMs: 20)
        let canceller = try self.canceller()
        var period = [Int16](repeating: 0, count: 480)
        let begin = self.processorMicroseconds()
        for place in stride(from: 0, to: far.count - 480, by: 480) {
            _ = encoder.encode(Array(far[place..<place + 480]), captured: .zero)
        }
        let between = self.processorMicroseconds()
        for place in stride(from: 0, to: far.count - 480, by: 480) {
            canceller.render(Array(far[place..<place + 480]))
            period = Array(far[place..<place + 480])
            canceller.process(&period, delayMs: 0)
        }
        let end = self.processorMicroseconds()
        XCTAssertLessThan(end - between, 4 * (between - begin))
    }
}
