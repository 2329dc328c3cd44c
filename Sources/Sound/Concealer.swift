// SPDX-License-Identifier: Apache-2.0

/// Fills gaps in received sound: the last pitch period goes on, fades, and is silent after 60 ms. Pure.
///
/// What comes after a gap is blended in, so that neither end clicks.
struct Concealer {
    /// 48 kHz: full for 10 ms, then down to nothing.
    private static let fullFrames = 480
    private static let silentFrames = 2880
    private static let blendFrames = 240
    /// Pitch periods looked for: 2.5 to 20 ms.
    private static let lagMin = 120
    private static let lagMax = 960
    private static let windowFrames = 480
    private static let historyFrames = Concealer.lagMax + Concealer.windowFrames
    /// The search first looks at every fourth sample.
    private static let coarse = 4

    /// The last sound that was played, oldest first.
    private var history = [Int16](repeating: 0, count: Concealer.historyFrames)
    /// One pitch period, ending as it begins; empty outside a gap.
    private var cycle: [Int16] = []
    private var concealed = 0

    /// Received sound, blended with what was made up before it. Give `afterGap` where something is missing before it.
    mutating func received(_ samples: [Int16], afterGap: Bool = false) -> [Int16] {
        var samples = samples
        if afterGap || !self.cycle.isEmpty {
            let count = min(Self.blendFrames, samples.count)
            let made = self.next(count)
            for index in 0..<count {
                let weight = Int32(index + 1)
                let whole = Int32(count + 1)
                let mixed = (Int32(samples[index]) * weight + Int32(made[index]) * (whole - weight)) / whole
                samples[index] = Int16(clamping: mixed)
            }
        }
        self.cycle = []
        self.concealed = 0
        self.remember(samples)
        return samples
    }

    /// Sound for `count` frames of which nothing came.
    mutating func conceal(_ count: Int) -> [Int16] {
        let made = self.next(count)
        self.remember(made)
        return made
    }

    /// Nothing is known of the stream before.
    mutating func reset() {
        self = Concealer()
    }

    private mutating func next(_ count: Int) -> [Int16] {
        if self.cycle.isEmpty { self.cycle = self.pitchCycle() }
        var made = [Int16](repeating: 0, count: count)
        for index in 0..<count where self.concealed + index < Self.silentFrames {
            let place = self.concealed + index
            let sample = Int32(self.cycle[place % self.cycle.count])
            made[index] = Int16(clamping: sample * Self.gain(at: place) / 4096)
        }
        // Saturates: a gap may last as long as a call.
        self.concealed = min(self.concealed + count, Self.silentFrames)
        return made
    }

    /// In 4096ths.
    private static func gain(at frame: Int) -> Int32 {
        guard frame > self.fullFrames else { return 4096 }
        return Int32(4096 * (self.silentFrames - frame) / (self.silentFrames - self.fullFrames))
    }

    private mutating func remember(_ samples: [Int16]) {
        if samples.count >= Self.historyFrames {
            self.history = Array(samples.suffix(Self.historyFrames))
        } else {
            self.history.removeFirst(samples.count)
            self.history.append(contentsOf: samples)
        }
    }
}

// MARK: - Pitch

extension Concealer {
    /// The last pitch period. Its last quarter leads over to what was before the period, so that it repeats smoothly.
    private func pitchCycle() -> [Int16] {
        let lag = self.pitchLag()
        var cycle = Array(self.history.suffix(lag))
        let quarter = lag / 4
        let before = Self.historyFrames - lag - quarter
        for index in 0..<quarter {
            let own = Int32(cycle[lag - quarter + index])
            let lead = Int32(self.history[before + index])
            let weight = Int32(index + 1)
            let whole = Int32(quarter + 1)
            cycle[lag - quarter + index] = Int16(clamping: (own * (whole - weight) + lead * weight) / whole)
        }
        return cycle
    }

    /// The shift at which the last 10 ms are most like what came before them.
    private func pitchLag() -> Int {
        var best = Self.lagMin
        var bestLikeness: Float = -1
        for lag in stride(from: Self.lagMin, through: Self.lagMax, by: Self.coarse) {
            let likeness = self.likeness(lag: lag, step: Self.coarse)
            // A multiple of the period is as much alike as the period: the shorter one has to be beaten clearly.
            if likeness > bestLikeness + 0.01 {
                best = lag
                bestLikeness = likeness
            }
        }
        var finest = best
        bestLikeness = -1
        let near = max(Self.lagMin, best - Self.coarse)...min(Self.lagMax, best + Self.coarse)
        for lag in near {
            let likeness = self.likeness(lag: lag, step: 1)
            if likeness > bestLikeness {
                finest = lag
                bestLikeness = likeness
            }
        }
        return finest
    }

    /// Correlation by energy, times its own size: 0 to 1.
    private func likeness(lag: Int, step: Int) -> Float {
        var product: Float = 0
        var energy: Float = 1
        var reference: Float = 1
        let start = Self.historyFrames - Self.windowFrames
        for index in stride(from: start, to: Self.historyFrames, by: step) {
            let now = Float(self.history[index])
            let then = Float(self.history[index - lag])
            product += now * then
            energy += then * then
            reference += now * now
        }
        return product <= 0 ? 0 : product * product / (energy * reference)
    }
}
