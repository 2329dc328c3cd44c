// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import XCTest

@testable import Sound

/// Voices as the synthesiser of the prompts makes them, at 48 kHz.
enum TestVoice {
    static let operatorText = """
        Hello, this is the control room. I can hear you. Please stay where you are, help is on its way. Can you tell me
        what has happened? Please speak slowly, and tell me where you are.
        """
    static let callerText = """
        I am on the second platform, near the stairs. Somebody has fallen, and cannot get up again. Please hurry, he is
        bleeding from his head.
        """

    static func speak(_ text: String, voice: String) throws -> [Int16] {
        let path = NSTemporaryDirectory() + "voice-\(UUID().uuidString).wav"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/espeak-ng")
        // -D: the same voice each time.
        process.arguments = ["-D", "-v", voice, "-w", path, text]
        try process.run()
        process.waitUntilExit()
        let file = try WaveFile([UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
        return RateConverter.convert(file.samples, from: file.rate)
    }
}

/// A loudspeaker and a microphone in a room of stone: a fake of what is between the two cards.
struct Room {
    /// From the loudspeaker's card to the microphone's.
    var delayMs = 5
    /// Of the echo's power to that of what is played, in dB.
    var gainDB = -10.0
    /// By how much the microphone's clock is faster.
    var driftPPM = 0.0
    /// So long before it is played, at least, the canceller is given what is.
    private static let aheadMs = 5
    private static let tailFrames = 50 * SoundFormat.rate / 1000

    /// The direct sound and 16 reflections within 50 ms, each weaker than the one before.
    private func reflections() -> [(frame: Int, level: Double)] {
        var generator = Generator(seed: 7)
        var found = [(frame: 0, level: 1.0)]
        for _ in 0..<16 {
            let frame = Int(generator.next() % UInt64(Self.tailFrames))
            let sign = generator.next() % 2 == 0 ? 0.3 : -0.3
            found.append((frame, sign * exp(-5 * Double(frame) / Double(Self.tailFrames))))
        }
        let power = found.reduce(0) { $0 + $1.level * $1.level }
        let scale = pow(10, self.gainDB / 20) / power.squareRoot()
        return found.map { ($0.frame + (self.delayMs + Self.aheadMs) * SoundFormat.rate / 1000, $0.level * scale) }
    }

    /// What the microphone hears of what is played, on the loudspeaker's clock.
    func echo(of played: [Int16]) -> [Double] {
        var echo = [Double](repeating: 0, count: played.count)
        let reflections = self.reflections()
        echo.withUnsafeMutableBufferPointer { echo in
            played.withUnsafeBufferPointer { played in
                for (delay, level) in reflections {
                    var index = delay
                    while index < echo.count {
                        echo[index] += level * Double(played[index - delay])
                        index += 1
                    }
                }
            }
        }
        return echo
    }

    /// Plays `far` through the canceller, period by period as the two clocks give them, while `near` speaks.
    ///
    /// - Parameter rendered: what the canceller is told of it; all of it unless given.
    /// - Returns: what the microphone heard, its echo alone, and what came out.
    func run(
        _ canceller: EchoCanceller, far: [Int16], rendered: [Int16]? = nil, near: [Int16] = []
    ) -> (echo: [Int16], cleaned: [Int16]) {
        let echo = self.echo(of: far)
        let rendered = rendered ?? far
        var heard: [Int16] = []
        var cleaned: [Int16] = []
        var played = 0
        var noise = Generator(seed: 3)
        for begin in stride(from: 0, to: far.count - 960, by: 480) {
            let rate = 1 - self.driftPPM * 1e-6
            while Double(played) < Double(begin + 480) * rate, played + 480 <= rendered.count {
                canceller.render(Array(rendered[played..<played + 480]))
                played += 480
            }
            var period = (begin..<begin + 480).map { index -> Int16 in
                let place = Double(index) * rate
                let part = place - place.rounded(.down)
                let value = echo[Int(place)] * (1 - part) + echo[Int(place) + 1] * part
                heard.append(Int16(value))
                let hiss = Double(noise.next() % 9) - 4
                return Int16(max(-32768, min(32767, value + hiss + (index < near.count ? Double(near[index]) : 0))))
            }
            canceller.process(&period, delayMs: 0)
            cleaned += period
        }
        return (heard, cleaned)
    }
}
