// SPDX-License-Identifier: Apache-2.0

import CALSA

/// The low-pass filter between 48 kHz and the 8 kHz of G.711: linear phase, flat to 3.2 kHz, 50 dB down from 4.1 kHz.
enum TelephoneFilter {
    static let ratio = 6
    /// Of 48 kHz; a multiple of `ratio`.
    static let taps = 192
    private static let cutoffHz = 3650.0

    /// A windowed sinc (Hamming) whose sum is 1.
    static func coefficients() -> [Float] {
        let pi = 3.14159265358979
        let centre = Double(self.taps - 1) / 2
        var values = [Double](repeating: 0, count: self.taps)
        var sum = 0.0
        for tap in 0..<self.taps {
            let x = 2 * pi * self.cutoffHz / Double(SoundFormat.rate) * (Double(tap) - centre)
            let window = 0.54 - 0.46 * callbox_cos(2 * pi * Double(tap) / Double(self.taps - 1))
            // An even number of taps: no tap lies on the centre, so x is never zero.
            values[tap] = callbox_sin(x) / x * window
            sum += values[tap]
        }
        return values.map { Float($0 / sum) }
    }

    static func sample(_ value: Float) -> Int16 {
        Int16(max(-32768, min(32767, value.rounded())))
    }
}

/// From 48 kHz to 8 kHz.
struct Decimator {
    private let coefficients = TelephoneFilter.coefficients()
    /// The last `taps` samples before the next.
    private var history = [Float](repeating: 0, count: TelephoneFilter.taps)

    /// One sample for six; what is left over of `samples` is a fault of the caller.
    mutating func process(_ samples: [Int16]) -> [Int16] {
        precondition(samples.count % TelephoneFilter.ratio == 0, "sound comes in whole periods of 10 ms")
        var line = self.history
        line.append(contentsOf: samples.map { Float($0) })
        var output: [Int16] = []
        output.reserveCapacity(samples.count / TelephoneFilter.ratio)
        for start in stride(from: TelephoneFilter.ratio, through: samples.count, by: TelephoneFilter.ratio) {
            var sum: Float = 0
            for tap in 0..<TelephoneFilter.taps { sum += line[start + tap] * self.coefficients[tap] }
            output.append(TelephoneFilter.sample(sum))
        }
        self.history = Array(line[samples.count...])
        return output
    }
}

/// From 8 kHz to 48 kHz.
struct Interpolator {
    private let coefficients = TelephoneFilter.coefficients()
    private static let phaseTaps = TelephoneFilter.taps / TelephoneFilter.ratio
    private var history = [Float](repeating: 0, count: Interpolator.phaseTaps)

    /// Six samples for one.
    mutating func process(_ samples: [Int16]) -> [Int16] {
        var line = self.history
        line.append(contentsOf: samples.map { Float($0) })
        var output: [Int16] = []
        output.reserveCapacity(samples.count * TelephoneFilter.ratio)
        for index in 0..<samples.count {
            let newest = index + Self.phaseTaps
            for phase in 0..<TelephoneFilter.ratio {
                var sum: Float = 0
                for tap in 0..<Self.phaseTaps {
                    sum += line[newest - tap] * self.coefficients[tap * TelephoneFilter.ratio + phase]
                }
                output.append(TelephoneFilter.sample(sum * Float(TelephoneFilter.ratio)))
            }
        }
        self.history = Array(line[samples.count...])
        return output
    }
}
