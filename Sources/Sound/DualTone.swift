// SPDX-License-Identifier: Apache-2.0

import Bytes

/// One key of a telephone as two tones at once (ITU-T Q.23), for a far end that takes digits in no other way. Pure.
///
/// Levels as ETSI ES 201 235-2 has them: the lower tone 2 dB below the higher, so that both arrive alike.
struct DualTone {
    /// −9 dBm0 and −11 dBm0, where a sine of full scale is 3.14 dBm0 (ITU-T G.711 section 5).
    private static let highAmplitude = 8090.0
    private static let lowAmplitude = 6430.0
    /// It begins and ends within 2 ms: quick enough for every receiver, and without a click.
    private static let rampFrames = 96

    private static let lowHertz = [697.0, 770.0, 852.0, 941.0]
    private static let highHertz = [1209.0, 1336.0, 1477.0, 1633.0]
    /// As on the keys of a telephone, row by row.
    private static let keys: ByteString = "123A456B789C*0#D"

    private var low: Oscillator
    private var high: Oscillator
    private let frames: Int
    private var position = 0

    /// `key` in ASCII; nil where no telephone has it. Receivers want 40 ms or more, and as much silence after it.
    init?(_ key: UInt8, milliseconds: Int) {
        guard let place = Self.keys.firstIndex(of: key) else { return nil }
        self.low = Oscillator(hertz: Self.lowHertz[place / 4])
        self.high = Oscillator(hertz: Self.highHertz[place % 4])
        self.frames = max(milliseconds, 0) * SoundFormat.rate / 1000
    }

    var isOver: Bool { self.position >= self.frames }

    /// Writes its next samples over `samples`, and silence after its end: in band there is no speech beside a digit,
    /// which would be taken for part of it.
    mutating func fill(_ samples: inout [Int16]) {
        for index in 0..<samples.count {
            guard !self.isOver else {
                samples[index] = 0
                continue
            }
            let edge = min(self.position + 1, self.frames - self.position, Self.rampFrames)
            let sum = self.low.next() * Self.lowAmplitude + self.high.next() * Self.highAmplitude
            samples[index] = Int16(sum * Double(edge) / Double(Self.rampFrames))
            self.position += 1
        }
    }
}
