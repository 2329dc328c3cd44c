// SPDX-License-Identifier: Apache-2.0

/// Speaks one prompt at a time. Pure.
struct PromptPlayer {
    /// A prompt begins and ends within 10 ms, also where it is cut off.
    private static let fadeFrames = 480
    /// Before it begins, where nothing else sounds: it is not to hit upon the click of the press that it answers.
    private static let leadFrames = 150 * SoundFormat.rate / 1000
    /// The same beside a tone of the network, which is to be recognized first.
    private static let leadFramesBesideTone = 1200 * SoundFormat.rate / 1000
    /// The loudspeaker has as much in hand, and the room rings on.
    private static let tailFrames = 120 * SoundFormat.rate / 1000

    private var samples: [Int16] = []
    private var position = 0
    /// Where it ends: that of `samples`, or sooner.
    private var end = 0
    private var lead = 0
    private var tail = 0

    /// Whether a prompt is being spoken at this moment.
    var isSpeaking: Bool { self.lead == 0 && self.position < self.end }
    /// Whether there is more to come, or has been until just now.
    var isActive: Bool { self.position < self.end || self.tail > 0 }
    /// Whether the microphone would hear it.
    var isAudible: Bool { self.isSpeaking || self.tail > 0 }

    /// `samples` at 48 kHz.
    mutating func play(_ samples: [Int16], besideTone: Bool) {
        self.samples = samples
        self.position = 0
        self.end = samples.count
        self.lead = besideTone ? Self.leadFramesBesideTone : Self.leadFrames
    }

    mutating func stop() {
        if self.lead > 0 { self.position = self.end }
        self.end = min(self.end, self.position + Self.fadeFrames)
    }

    /// −1 to 1. Waits as long as `mayBegin` is not given.
    mutating func sample(mayBegin: Bool) -> Double {
        if self.tail > 0 { self.tail -= 1 }
        guard self.position < self.end else { return 0 }
        if self.lead > 0 {
            if mayBegin { self.lead -= 1 }
            return 0
        }
        let level = min(self.position + 1, self.end - self.position, Self.fadeFrames)
        let sample = Double(self.samples[self.position]) / 32768 * Double(level) / Double(Self.fadeFrames)
        self.position += 1
        self.tail = Self.tailFrames
        if self.position == self.end { self.samples = [] }
        return sample
    }
}
