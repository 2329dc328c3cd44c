// SPDX-License-Identifier: Apache-2.0

import KioskEngine

/// How loud what is, as the owner's file says; each 0 to 1.
public struct SoundLevels: Equatable, Sendable {
    /// Of everything, the far end's voice too.
    public var volume = 1.0
    public var tones = 1.0
    public var prompts = 1.0

    public init() {}
}

/// Puts the far end's voice, tones, chimes and prompts together for the loudspeaker. The far end's voice steps back for
/// them by as much as keeps the sum below full scale, whatever is in each. Pure.
struct LoudspeakerMix {
    /// −16 dB below full scale: well heard beside speech, never startling.
    private static let toneAmplitude = 5000.0
    private static let promptAmplitude = 16_000.0
    private static let farBesideTone = 0.65
    private static let farBesidePrompt = 0.3
    /// A change of the far end's level takes 10 ms.
    private static let levelStep = 1.0 / 480

    private let levels: SoundLevels
    var tones: ToneGenerator
    var chimes = ChimePlayer()
    var prompt = PromptPlayer()
    private var farLevel = 1.0

    init(_ levels: SoundLevels = SoundLevels(), _ country: ToneCountry = .etsi) {
        self.levels = levels
        self.tones = ToneGenerator(country)
    }

    /// Whether `mix` would add anything now or later.
    var isActive: Bool { self.tones.isActive || self.chimes.isActive || self.prompt.isActive }

    mutating func speak(_ samples: [Int16]) {
        self.prompt.play(samples, besideTone: self.tones.tone != .none)
    }

    /// `samples` are the far end's; they become what goes to the loudspeaker.
    mutating func mix(into samples: inout [Int16]) {
        guard self.isActive || self.farLevel < 1 || self.levels.volume < 1 else { return }
        for index in 0..<samples.count {
            self.stepFarLevel()
            let isSpeaking = self.prompt.isSpeaking
            let own =
                (self.tones.sample(isHushed: isSpeaking) + self.chimes.sample())
                * Self.toneAmplitude * self.levels.tones
            let spoken = self.prompt.sample(mayBegin: !self.chimes.isActive) * Self.promptAmplitude
            let sum = Double(samples[index]) * self.farLevel + own + spoken * self.levels.prompts
            samples[index] = Int16(max(-32768, min(32767, sum * self.levels.volume)))
        }
    }

    /// Adds the chime alone, to what was mixed before it began.
    mutating func addChime(to samples: inout [Int16]) {
        for index in 0..<samples.count {
            let own = self.chimes.sample() * Self.toneAmplitude * self.levels.tones * self.levels.volume
            samples[index] = Int16(max(-32768, min(32767, Double(samples[index]) + own)))
        }
    }

    private mutating func stepFarLevel() {
        let wanted: Double
        if self.prompt.isSpeaking {
            wanted = Self.farBesidePrompt
        } else {
            wanted = self.tones.isActive || self.chimes.isActive ? Self.farBesideTone : 1
        }
        if self.farLevel > wanted {
            self.farLevel = max(wanted, self.farLevel - Self.levelStep)
        } else if self.farLevel < wanted {
            self.farLevel = min(wanted, self.farLevel + Self.levelStep)
        }
    }
}
