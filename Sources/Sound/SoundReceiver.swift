// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine

/// The receiving half of the sound loop: packets, through the playout buffer, to periods of 10 ms.
struct SoundReceiver {
    private var playout = PlayoutBuffer()
    private let decoder = AudioDecoder()
    /// Sound decoded and not yet asked for: packets are mostly longer than a period.
    private var decoded = SampleQueue(capacity: SoundFormat.rate / 2)
    private var clockRate: UInt32 = 8000
    private var hasPlayed = false
    /// Nothing of what comes is heard. It is taken all the same, so that what is heard later is not late.
    var isDeaf = false
    /// Samples that came in this call and could not be heard.
    private var quiet = 0
    private var meter = LevelMeter()
    /// Nobody hears a sample up to this; 48 dB below the loudest.
    private static let quietPeak: UInt16 = 128
    /// After so much of it, silence is what the far end has to say.
    private static let quietMax = 3 * SoundFormat.rate

    init() {}

    /// A new call.
    mutating func reset() {
        self.playout.reset()
        self.decoder.reset()
        self.decoded.removeAll()
        self.hasPlayed = false
        self.quiet = 0
    }

    mutating func insert(_ packet: AudioPacket, _ now: Instant) {
        self.playout.insert(packet, now: now)
    }

    /// Fills one period with what is to be heard next; silence where there is nothing.
    ///
    /// - Returns: true once in a call, when the first received sound that can be heard is in the period.
    mutating func next(into period: inout [Int16], _ now: Instant) -> Bool {
        var isFirst = false
        while self.decoded.count < period.count {
            switch self.playout.next(now: now) {
            case .packet(let packet):
                self.clockRate = packet.codec.clockRate
                let sound = self.decoder.decode(packet)
                self.decoded.append(sound)
                isFirst = self.begins(with: sound) || isFirst
                // Less than a sample makes no progress.
                if packet.samples == 0 { return self.fill(&period, isFirst) }
            case .conceal(let samples):
                let made = self.decoder.conceal(samples, clockRate: self.clockRate)
                guard !made.isEmpty else { return self.fill(&period, isFirst) }
                self.decoded.append(made)
            case .silence:
                return self.fill(&period, isFirst)
            }
        }
        return self.fill(&period, isFirst)
    }

    /// Some networks send silence before anybody answers: that is not yet sound, unless nothing else comes for long.
    private mutating func begins(with sound: [Int16]) -> Bool {
        guard !self.hasPlayed, !self.isDeaf else { return false }
        self.quiet += sound.count
        self.hasPlayed = self.quiet >= Self.quietMax || sound.contains { $0.magnitude > Self.quietPeak }
        return self.hasPlayed
    }

    mutating func fill(_ statistics: inout SoundStatistics) {
        statistics.concealed = self.playout.counts.concealed
        statistics.damaged = self.decoder.damaged
        statistics.playbackPeak = self.meter.take()
        statistics.bufferedMs = self.playout.bufferedMs
        statistics.targetMs = self.playout.targetMs
    }

    private mutating func fill(_ period: inout [Int16], _ isFirst: Bool) -> Bool {
        let taken = self.decoded.take(into: &period)
        for index in (self.isDeaf ? 0 : taken)..<period.count { period[index] = 0 }
        self.meter.add(period)
        return isFirst
    }
}
