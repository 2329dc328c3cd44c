// SPDX-License-Identifier: Apache-2.0

import CALSA

/// A sine wave at 48 kHz that keeps its phase. Pure.
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
