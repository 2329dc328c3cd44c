// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import Sound

/// Sine waves, and how much of one is in a recording.
enum TestSound {
    static func sine(_ hertz: Double, frames: Int, from start: Int = 0, amplitude: Double = 10_000) -> [Int16] {
        (start..<start + frames).map { Int16(amplitude * sin(2 * .pi * hertz * Double($0) / 48_000)) }
    }

    /// The amplitude of the sine of this frequency that fits best, and its power to that of all else, in dB.
    static func measure(_ samples: [Int16], _ hertz: Double, rate: Double = 48_000) -> (amplitude: Double, snr: Double)
    {
        var sineSum = 0.0
        var cosineSum = 0.0
        for (index, sample) in samples.enumerated() {
            let angle = 2 * Double.pi * hertz * Double(index) / rate
            sineSum += Double(sample) * sin(angle)
            cosineSum += Double(sample) * cos(angle)
        }
        let a = 2 * sineSum / Double(samples.count)
        let b = 2 * cosineSum / Double(samples.count)
        var rest = 0.0
        for (index, sample) in samples.enumerated() {
            let angle = 2 * Double.pi * hertz * Double(index) / rate
            let difference = Double(sample) - a * sin(angle) - b * cos(angle)
            rest += difference * difference
        }
        let signal = (a * a + b * b) / 2
        let noise = rest / Double(samples.count)
        return (sqrt(a * a + b * b), 10 * log10(signal / max(noise, 1e-9)))
    }

    static func power(_ samples: [Int16]) -> Double {
        samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(samples.count, 1))
    }

    /// The largest difference between neighbours.
    static func roughness(_ samples: [Int16]) -> Int {
        zip(samples, samples.dropFirst()).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }
}
