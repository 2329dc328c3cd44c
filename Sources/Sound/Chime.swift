// SPDX-License-Identifier: Apache-2.0

import KioskEngine

/// What chimes are made of. Rising is good news, falling is bad, so that they are told apart without having been
/// learnt.
extension Chime {
    /// 0 Hz is a pause.
    struct Note {
        var hertz: Double
        var milliseconds: Int
    }

    var notes: [Note] {
        switch self {
        case .key: return [Note(hertz: 1000, milliseconds: 30)]
        case .digit(let key): return [Note(hertz: Self.pitch(of: key), milliseconds: 60)]
        case .placed: return [Note(hertz: 660, milliseconds: 90)]
        case .answered: return [Note(hertz: 523, milliseconds: 90), Note(hertz: 784, milliseconds: 140)]
        case .ended: return [Note(hertz: 784, milliseconds: 90), Note(hertz: 523, milliseconds: 140)]
        case .muted: return [Note(hertz: 587, milliseconds: 70), Note(hertz: 392, milliseconds: 110)]
        case .unmuted: return [Note(hertz: 392, milliseconds: 70), Note(hertz: 587, milliseconds: 110)]
        case .warning:
            let pip = [Note(hertz: 880, milliseconds: 120), Note(hertz: 0, milliseconds: 100)]
            return pip + pip + pip
        case .ready:
            return [523, 659, 784].map { Note(hertz: $0, milliseconds: 100) }
        case .lost: return [Note(hertz: 392, milliseconds: 160), Note(hertz: 262, milliseconds: 300)]
        case .back: return [Note(hertz: 392, milliseconds: 110), Note(hertz: 523, milliseconds: 160)]
        }
    }

    fileprivate var answersPress: Bool {
        switch self {
        case .key, .digit: return true
        case .placed, .answered, .ended, .muted, .unmuted, .warning, .ready, .lost, .back: return false
        }
    }

    /// One tone, higher row by row: the key's own dual tone would be heard by the microphone, and the far end would
    /// count the digit twice.
    private static func pitch(of key: UInt8) -> Double {
        switch key {
        case UInt8(ascii: "1")...UInt8(ascii: "3"), UInt8(ascii: "A"): return 580
        case UInt8(ascii: "4")...UInt8(ascii: "6"), UInt8(ascii: "B"): return 650
        case UInt8(ascii: "7")...UInt8(ascii: "9"), UInt8(ascii: "C"): return 730
        default: return 820
        }
    }
}

/// Plays one chime after the other. The answer to a press waits for none.
struct ChimePlayer {
    /// Notes begin and end within 5 ms.
    private static let rampFrames = 240
    /// Notes that may wait: what comes later than these tells nothing that is still true.
    private static let waitingMax = 6

    private var notes: [Chime.Note] = []
    private var next = 0
    private var wave = Oscillator(hertz: 1000)
    private var isPause = true
    private var framesLeft = 0
    /// Of `rampFrames`.
    private var level = 0

    var isActive: Bool { self.framesLeft > 0 || self.next < self.notes.count }

    mutating func play(_ chime: Chime) {
        let waiting = self.notes.count - self.next
        guard chime.answersPress || waiting > Self.waitingMax else {
            self.notes = self.notes.suffix(waiting) + chime.notes
            self.next = 0
            return
        }
        self.notes = chime.notes
        self.next = 0
        // What sounds fades out first.
        self.framesLeft = min(self.framesLeft, self.level)
    }

    /// −1 to 1.
    mutating func sample() -> Double {
        if self.framesLeft == 0 {
            guard self.next < self.notes.count else { return 0 }
            self.begin(self.notes[self.next])
            self.next += 1
        }
        self.framesLeft -= 1
        self.level = min(self.level + 1, self.framesLeft, Self.rampFrames)
        guard !self.isPause else { return 0 }
        return self.wave.next() * Double(self.level) / Double(Self.rampFrames)
    }

    private mutating func begin(_ note: Chime.Note) {
        self.isPause = note.hertz == 0
        self.framesLeft = note.milliseconds * SoundFormat.rate / 1000
        self.level = 0
        self.wave = Oscillator(hertz: note.hertz)
    }
}
