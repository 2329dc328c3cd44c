// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire

/// A sender, a path and a sound thread around a playout buffer, in steps of one millisecond.
struct SoundThread {
    struct Played {
        var index: Int
        /// From capture to the loudspeaker's queue.
        var delayMs: Int
        var atMs: Int
        var followsGap: Bool
    }

    var buffer = PlayoutBuffer()
    private(set) var nowMs = 0
    private(set) var played: [Played] = []
    private(set) var concealedMs = 0
    private(set) var silentMs = 0
    /// Times at which sound was invented or missing.
    private(set) var gapsAtMs: [Int] = []
    private var queuedSamples = 0
    private var inFlight: [(due: Int, packet: AudioPacket, index: Int)] = []
    private var indices: [UInt32: Int] = [:]
    private var index = 0
    /// Where sender and receiver clocks part, in parts per million of the receiver's.
    var driftPPM = 0
    private var driftCredit = 0

    var ssrc = SSRC(7)
    var sequence = SequenceNumber(65_500)
    var timestamp = RTPTimestamp(UInt32.max - 8000)

    private var now: Instant { Instant(nanoseconds: 5_000_000_000) + Duration.milliseconds(self.nowMs) }

    /// Runs for `ms`. `path` gives the delays of a packet's copies: none is loss.
    mutating func run(ms: Int, path: (_ index: Int) -> [Int]) {
        for _ in 0..<ms {
            if self.nowMs % 20 == 0 { self.sendOne(path(self.index)) }
            let due = self.inFlight.filter { $0.due <= self.nowMs }
            self.inFlight.removeAll { $0.due <= self.nowMs }
            for arrival in due { self.buffer.insert(arrival.packet, now: self.now) }
            if self.nowMs % 10 == 5 { self.playOnePeriod() }
            self.nowMs += 1
        }
    }

    private mutating func sendOne(_ delays: [Int]) {
        let packet = AudioPacket(
            payload: [1], codec: .pcmu, ssrc: self.ssrc, sequence: self.sequence, timestamp: self.timestamp,
            samples: 160)
        self.indices[self.timestamp.value] = self.index
        for delay in delays { self.inFlight.append((self.nowMs + delay, packet, self.nowMs)) }
        self.sequence = self.sequence.next
        self.timestamp = self.timestamp.advanced(by: 160)
        self.index += 1
    }

    private mutating func playOnePeriod() {
        self.driftCredit += 80 * self.driftPPM
        var wanted = 80 + self.driftCredit / 1_000_000
        self.driftCredit %= 1_000_000
        wanted = max(0, wanted)
        var isGap = false
        while self.queuedSamples < wanted {
            switch self.buffer.next(now: self.now) {
            case .packet(let packet):
                let index = self.indices[packet.timestamp.value] ?? -1
                self.played.append(
                    Played(
                        index: index, delayMs: self.nowMs - index * 20, atMs: self.nowMs,
                        followsGap: packet.followsGap))
                self.queuedSamples += Int(packet.samples)
            case .conceal(let samples):
                self.concealedMs += Int(samples) / 8
                self.queuedSamples += Int(samples)
                isGap = true
            case .silence:
                self.silentMs += 10
                self.queuedSamples = wanted
                isGap = true
            }
        }
        self.queuedSamples -= wanted
        if isGap { self.gapsAtMs.append(self.nowMs) }
    }

    mutating func forget() {
        self.played.removeAll()
        self.concealedMs = 0
        self.silentMs = 0
        self.gapsAtMs.removeAll()
    }
}
