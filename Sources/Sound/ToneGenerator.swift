// SPDX-License-Identifier: Apache-2.0

import KioskEngine

/// Plays one tone of the telephone network at a time. Pure.
struct ToneGenerator {
    /// A tone begins and ends within 5 ms.
    private static let rampFrames = 240

    private let country: ToneCountry
    private(set) var tone = Tone.none
    private var waves: [Oscillator] = []
    private var cadence: [Int] = []
    /// Which part of the cadence, and how many frames of it are left.
    private var part = 0
    private var framesLeft = 0
    /// Of `rampFrames`.
    private var level = 0

    init(_ country: ToneCountry = .etsi) {
        self.country = country
    }

    /// Whether `sample` would give anything now or later.
    var isActive: Bool { self.tone != .none || self.level > 0 }

    mutating func play(_ tone: Tone) {
        guard tone != self.tone else { return }
        self.tone = tone
        // With none, what sounds fades out.
        guard let parts = ProgressTone(tone, self.country) else { return }
        self.waves = parts.hertz.map { Oscillator(hertz: $0) }
        self.cadence = parts.cadence.map { $0 * SoundFormat.rate / 1000 }
        self.part = 0
        self.framesLeft = self.cadence[0]
    }

    /// −1 to 1. The cadence goes on unheard where it is hushed.
    mutating func sample(isHushed: Bool = false) -> Double {
        let isOn = self.advance() && !isHushed
        self.level = max(0, min(Self.rampFrames, self.level + (isOn ? 1 : -1)))
        guard self.level > 0 else { return 0 }
        var sum = 0.0
        for index in self.waves.indices { sum += self.waves[index].next() }
        return sum / Double(self.waves.count) * Double(self.level) / Double(Self.rampFrames)
    }

    /// Steps by one frame: whether the tone is on in it.
    private mutating func advance() -> Bool {
        guard self.tone != .none else { return false }
        let isOn = self.part % 2 == 0
        self.framesLeft -= 1
        if self.framesLeft == 0 {
            self.part = (self.part + 1) % self.cadence.count
            self.framesLeft = self.cadence[self.part]
        }
        return isOn
    }
}
