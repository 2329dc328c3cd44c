// SPDX-License-Identifier: Apache-2.0

import CALSA

/// The sounds that the board itself makes; cadences of ETSI TS 101 041-2 for the call progress tones.
public enum ToneKind: Hashable, Sendable {
    case none
    /// The far end rings: 425 Hz, 1 s, every 5 s.
    case ringback
    /// Somebody calls: 1000 Hz, 1 s, every 3 s.
    case bell
    /// The far end is busy, or has gone: 425 Hz, half a second on and off.
    case busy
    /// The call failed: 425 Hz, 200 ms on and off.
    case error

    /// In frames of 48 kHz.
    fileprivate var cadence: (on: Int, off: Int) {
        switch self {
        case .none: return (0, 1)
        case .ringback: return (48_000, 192_000)
        case .bell: return (48_000, 96_000)
        case .busy: return (24_000, 24_000)
        case .error: return (9_600, 9_600)
        }
    }
}

/// A sine wave that keeps its phase.
struct Oscillator {
    private var real = 1.0
    private var imaginary = 0.0
    private let stepReal: Double
    private let stepImaginary: Double

    init(hertz: Double) {
        let angle = 2 * 3.14159265358979 * hertz / Double(SoundFormat.rate)
        self.stepReal = callbox_cos(angle)
        self.stepImaginary = callbox_sin(angle)
    }

    /// −1 to 1.
    mutating func next() -> Double {
        let real = self.real * self.stepReal - self.imaginary * self.stepImaginary
        self.imaginary = self.real * self.stepImaginary + self.imaginary * self.stepReal
        // Rounding lets the length creep; one step of Newton's method keeps it at 1.
        let correction = (3 - real * real - self.imaginary * self.imaginary) / 2
        self.real = real * correction
        self.imaginary *= correction
        return self.imaginary
    }
}

/// Makes tones and the click that answers a key.
struct ToneGenerator {
    /// About −16 dB below full scale: well heard beside speech, never startling.
    private static let amplitude = 5000.0
    /// A tone begins and ends within 5 ms.
    private static let rampFrames = 240
    private static let clickFrames = 1440

    private(set) var kind = ToneKind.none
    private var tone = Oscillator(hertz: 425)
    private var bell = Oscillator(hertz: 1000)
    private var click = Oscillator(hertz: 1000)
    private var position = 0
    private var level = 0
    private var clickLeft = 0

    /// Whether `mix` would add anything now or later.
    var isActive: Bool { self.kind != .none || self.level > 0 || self.clickLeft > 0 }

    mutating func play(_ kind: ToneKind) {
        guard kind != self.kind else { return }
        self.kind = kind
        self.position = 0
    }

    /// One short click besides whatever tone there is.
    mutating func playClick() {
        self.clickLeft = Self.clickFrames
    }

    /// Adds what sounds now to `samples`.
    mutating func mix(into samples: inout [Int16]) {
        guard self.isActive else { return }
        for index in 0..<samples.count {
            let sum = Double(samples[index]) + self.nextTone() + self.nextClick()
            samples[index] = Int16(max(-32768, min(32767, sum)))
        }
    }

    private mutating func nextTone() -> Double {
        let cadence = self.kind.cadence
        let isOn = self.position < cadence.on
        self.position += 1
        if self.position >= cadence.on + cadence.off { self.position = 0 }
        self.level = max(0, min(Self.rampFrames, self.level + (isOn ? 1 : -1)))
        guard self.level > 0 else { return 0 }
        let wave = self.kind == .bell ? self.bell.next() : self.tone.next()
        return wave * Self.amplitude * Double(self.level) / Double(Self.rampFrames)
    }

    private mutating func nextClick() -> Double {
        guard self.clickLeft > 0 else { return 0 }
        self.clickLeft -= 1
        let edge = min(self.clickLeft, Self.clickFrames - self.clickLeft, Self.rampFrames)
        return self.click.next() * Self.amplitude * Double(edge) / Double(Self.rampFrames)
    }
}
