// SPDX-License-Identifier: Apache-2.0

import CALSA

/// From any lower rate to 48 kHz, the whole of a short sound at once. Pure.
///
/// A windowed sinc (Blackman) over 32 samples, cut off at half of the lower rate; a table has the filter for each place
/// between two samples on which a sample of the result can fall.
enum RateConverter {
    private static let taps = 32

    static func convert(_ samples: [Int16], from rate: Int) -> [Int16] {
        precondition(rate > 0 && rate < SoundFormat.rate, "the file was read as one of the known rates")
        let divisor = self.greatestDivisor(SoundFormat.rate, rate)
        let phases = SoundFormat.rate / divisor
        let step = rate / divisor
        let filters = self.filters(phases)
        let before = self.taps / 2 - 1
        let count = samples.count * phases / step
        var output: [Int16] = []
        output.reserveCapacity(count)
        var place = 0
        var phase = 0
        for _ in 0..<count {
            var sum: Float = 0
            for tap in 0..<self.taps {
                let index = place - before + tap
                guard index >= 0, index < samples.count else { continue }
                sum += Float(samples[index]) * filters[phase * self.taps + tap]
            }
            output.append(TelephoneFilter.sample(sum))
            phase += step
            if phase >= phases {
                phase -= phases
                place += 1
            }
        }
        return output
    }

    /// `taps` coefficients for each phase; those of one phase add up to 1.
    private static func filters(_ phases: Int) -> [Float] {
        let pi = 3.14159265358979
        var filters: [Float] = []
        filters.reserveCapacity(phases * self.taps)
        for phase in 0..<phases {
            var values: [Double] = []
            var sum = 0.0
            for tap in 0..<self.taps {
                let distance = Double(tap - (self.taps / 2 - 1)) - Double(phase) / Double(phases)
                let sinc = distance == 0 ? 1 : callbox_sin(pi * distance) / (pi * distance)
                let angle = pi * distance / Double(self.taps / 2)
                let value = sinc * (0.42 + 0.5 * callbox_cos(angle) + 0.08 * callbox_cos(2 * angle))
                values.append(value)
                sum += value
            }
            filters += values.map { Float($0 / sum) }
        }
        return filters
    }

    private static func greatestDivisor(_ left: Int, _ right: Int) -> Int {
        right == 0 ? left : self.greatestDivisor(right, left % right)
    }
}
