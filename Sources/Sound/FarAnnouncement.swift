// SPDX-License-Identifier: Apache-2.0

/// What is said to the far end in place of the microphone, over and over until it is told to stop. Pure.
struct FarAnnouncement {
    /// Before it begins: whoever answers takes the telephone to the ear first.
    private static let leadFrames = 500 * SoundFormat.rate / 1000
    /// Between two times.
    private static let pauseFrames = 2000 * SoundFormat.rate / 1000

    private var samples: [Int16] = []
    private var position = 0
    /// Frames of silence that are left before it is said.
    private var silence = 0

    /// `samples` at 48 kHz; none: nothing more is said.
    mutating func say(_ samples: [Int16]) {
        self.samples = samples
        self.position = 0
        self.silence = Self.leadFrames
    }

    /// Takes the place of one period of the microphone, also between two times. As loud as prompts are at the panel.
    mutating func replace(_ period: inout [Int16]) {
        guard !self.samples.isEmpty else { return }
        for index in 0..<period.count {
            if self.silence > 0 {
                self.silence -= 1
                period[index] = 0
                continue
            }
            period[index] = self.samples[self.position] / 2
            self.position += 1
            if self.position == self.samples.count {
                self.position = 0
                self.silence = Self.pauseFrames
            }
        }
    }
}
