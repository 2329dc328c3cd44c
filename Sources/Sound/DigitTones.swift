// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Digits as tones in the sound that is sent: one after the other, with silence between, as receivers want it.
struct DigitTones {
    private enum State {
        case idle
        case sounding(DualTone)
        /// Frames of silence that are left.
        case pausing(Int)
    }

    static let queuedMax = 32
    private static let millisecondsMin = 40
    private static let millisecondsMax = 1000
    private static let pauseMs = 60

    private var state = State.idle
    private var queue = BoundedQueue<(key: UInt8, milliseconds: Int)>(capacity: Self.queuedMax)

    mutating func play(_ key: UInt8, milliseconds: Int) {
        self.queue.push((key, max(Self.millisecondsMin, min(milliseconds, Self.millisecondsMax))))
    }

    mutating func stop() {
        self.queue.removeAll()
        self.state = .idle
    }

    /// Takes the place of one period of the microphone, where a digit or the silence after it is due.
    mutating func replace(_ period: inout [Int16]) {
        if case .idle = self.state { self.begin() }
        switch self.state {
        case .idle: break
        case .sounding(var tone):
            tone.fill(&period)
            self.state = tone.isOver ? .pausing(Self.pauseMs * SoundFormat.rate / 1000) : .sounding(tone)
        case .pausing(let frames):
            for index in 0..<period.count { period[index] = 0 }
            self.state = frames > period.count ? .pausing(frames - period.count) : .idle
        }
    }

    private mutating func begin() {
        while let next = self.queue.pop() {
            guard let tone = DualTone(next.key, milliseconds: next.milliseconds) else { continue }
            self.state = .sounding(tone)
            return
        }
    }
}
