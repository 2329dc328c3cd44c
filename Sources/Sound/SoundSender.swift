// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine

/// The sending half of the sound loop: periods of the microphone to packets.
struct SoundSender {
    private enum State {
        case off
        case sending(AudioEncoder)
    }

    private var state = State.off
    var meter = LevelMeter()
    /// Digits for a far end that takes them in no other way.
    var digits = DigitTones()
    var announcement = FarAnnouncement()

    init() {}

    /// Follows a plan; an encoder that still fits is kept, so that its sound does not break.
    mutating func use(_ plan: AudioPlan) {
        guard plan.stream.sends else {
            self.state = .off
            self.digits.stop()
            return
        }
        if case .sending(let encoder) = self.state, encoder.codec == plan.codec,
            encoder.packetMs == AudioEncoder.packetMs(plan.codec, wanted: plan.packetTimeMs)
        {
            return
        }
        // Without its encoder (an FFmpeg built without libopus) the call has no sound of this side.
        let encoder = try? AudioEncoder(plan.codec, packetMs: plan.packetTimeMs)
        self.state = encoder.map { .sending($0) } ?? .off
    }

    /// Takes one period, which is made silent where muted, and gives way to an announcement and to digits; gives a
    /// packet where it is full.
    mutating func encode(_ period: inout [Int16], isMuted: Bool, captured: Instant) -> EncodedSound? {
        self.meter.add(period)
        guard case .sending(let encoder) = self.state else { return nil }
        if isMuted {
            for index in 0..<period.count { period[index] = 0 }
        }
        self.announcement.replace(&period)
        self.digits.replace(&period)
        return encoder.encode(period, captured: captured)
    }
}
