// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// The adaptive jitter buffer of the sound thread.
///
/// The sound thread inserts packets as they come and asks `next` whenever it has less than one period of decoded sound
/// left. The delay follows the measured jitter between 20 and 200 ms: it grows where the buffer runs dry, and shrinks
/// by leaving out a packet where more has been waiting than needed for a while.
public struct PlayoutBuffer: Sendable {
    public struct Counts: Hashable, Sendable {
        public var played: UInt64 = 0
        public var concealed: UInt64 = 0
        /// Came after their time.
        public var late: UInt64 = 0
        public var duplicates: UInt64 = 0
        /// Left out to bring the delay down.
        public var skipped: UInt64 = 0
        /// New epochs: new source, timestamp jump, stall.
        public var resyncs: UInt64 = 0
    }

    private enum State: Sendable {
        /// No packet came since the start or the last dry spell.
        case idle
        /// Packets wait for the delay to be reached.
        case filling(since: Instant)
        case playing(Playing)
    }

    private struct Playing: Sendable {
        /// The timestamp that is due.
        var due: RTPTimestamp
        /// Concealed since `due` became due, in clock units.
        var concealed: UInt32 = 0
        /// Length of the last packet played.
        var length: UInt32
        /// The least that waited, over `turns` turns that began at this level.
        var least: UInt32 = UInt32.max
        var turns = 0
        /// A packet was left out: the next follows a gap.
        var hasSkipped = false
    }

    public private(set) var counts = Counts()
    private var state = State.idle
    /// Ascending timestamps.
    private var waiting: [AudioPacket] = []
    private var jitter = JitterEstimate()
    /// The newest packet of the epoch, and when it came.
    private var newest: (packet: AudioPacket, arrived: Instant)?

    public init() {}

    /// The delay aimed at.
    public var targetMs: Int { self.jitter.targetMs }

    /// Sound waiting now.
    public var bufferedMs: Int {
        guard let last = self.waiting.last else { return 0 }
        return Int(clamping: UInt64(self.level) * 1000 / UInt64(last.codec.clockRate))
    }

    /// Forgets everything but the counts: a new call.
    public mutating func reset() {
        self.state = .idle
        self.waiting.removeAll(keepingCapacity: true)
        self.jitter = JitterEstimate()
        self.newest = nil
    }
}

// MARK: - In

extension PlayoutBuffer {
    public mutating func insert(_ packet: AudioPacket, now: Instant) {
        if self.isNewEpoch(packet, now: now) { self.beginEpoch() }
        if self.isOldest(packet) {
            self.counts.late &+= 1
            return
        }
        var index = self.waiting.count
        while index > 0, self.waiting[index - 1].timestamp.distance(from: packet.timestamp) > 0 { index -= 1 }
        if index > 0, self.waiting[index - 1].timestamp == packet.timestamp {
            self.counts.duplicates &+= 1
            return
        }
        self.waiting.insert(packet, at: index)
        self.noteArrival(of: packet, now: now)
        if case .idle = self.state { self.state = .filling(since: now) }
        if self.waiting.count > MediaLimits.playoutPacketsMax || self.isOverfull {
            self.counts.resyncs &+= 1
            self.shed(keeping: 0)
        }
    }

    /// Another source or clock, or a timestamp that does not fit the time that passed.
    private func isNewEpoch(_ packet: AudioPacket, now: Instant) -> Bool {
        guard let newest = self.newest else { return false }
        if packet.ssrc != newest.packet.ssrc || packet.codec.clockRate != newest.packet.codec.clockRate { return true }
        let ahead = packet.sequence.distance(from: newest.packet.sequence)
        // Older packets of this sequence are only late.
        if ahead <= 0 && ahead > -MediaLimits.playoutMisorderMax { return false }
        let rate = packet.codec.clockRate
        let expected = newest.packet.timestamp.advanced(by: MediaClock.units(now - newest.arrived, rate: rate))
        let slack = rate / 1000 &* UInt32(MediaLimits.playoutJumpMs)
        return packet.timestamp.distance(from: expected).magnitude > slack
    }

    private mutating func beginEpoch() {
        self.counts.resyncs &+= 1
        self.waiting.removeAll(keepingCapacity: true)
        self.newest = nil
        self.jitter.beginEpoch()
        self.state = .idle
    }

    /// Whether its time to play is over.
    private func isOldest(_ packet: AudioPacket) -> Bool {
        switch self.state {
        case .idle, .filling: return false
        case .playing(let playing): return packet.timestamp.distance(from: playing.due) < 0
        }
    }

    private mutating func noteArrival(of packet: AudioPacket, now: Instant) {
        self.jitter.note(timestamp: packet.timestamp, rate: packet.codec.clockRate, now: now)
        if let newest = self.newest, packet.timestamp.distance(from: newest.packet.timestamp) <= 0 { return }
        self.newest = (packet, now)
    }

    /// Clock units from what is due (or waits first) to the end of what waits.
    private var level: UInt32 {
        guard let first = self.waiting.first, let last = self.waiting.last else { return 0 }
        return last.timestamp.advanced(by: last.samples).distance(from: first.timestamp).magnitude
    }

    private var isOverfull: Bool {
        guard let last = self.waiting.last else { return false }
        return self.level > last.codec.clockRate / 1000 &* UInt32(MediaLimits.playoutBufferedMsMax)
    }

    /// A stall of the path ended in a burst: what is too old to be of use goes at once, down to the delay and `extra`
    /// units.
    private mutating func shed(keeping extra: UInt32) {
        guard let last = self.waiting.last else { return }
        let target = last.codec.clockRate / 1000 &* UInt32(self.targetMs) &+ extra
        while self.waiting.count > 1, self.level > target {
            self.waiting.removeFirst()
            self.counts.skipped &+= 1
        }
        guard case .playing(var playing) = self.state, let first = self.waiting.first else { return }
        playing.due = first.timestamp
        playing.concealed = 0
        playing.hasSkipped = true
        self.state = .playing(playing)
    }
}

// MARK: - Out

extension PlayoutBuffer {
    public mutating func next(now: Instant) -> Playout {
        switch self.state {
        case .idle: return .silence
        case .filling(let since):
            guard now - since >= Duration.milliseconds(self.targetMs), let first = self.waiting.first else {
                return .silence
            }
            let playing = Playing(due: first.timestamp, length: first.samples, hasSkipped: true)
            self.state = .playing(playing)
            // After a stall the oldest are worth nothing any more.
            self.shed(keeping: first.samples)
            return self.next(now: now)
        case .playing(let playing):
            return self.play(playing)
        }
    }

    private mutating func play(_ current: Playing) -> Playout {
        var playing = current
        self.noteLevel(&playing)
        guard let first = self.waiting.first else { return self.conceal(&playing, missing: playing.length) }
        let ahead = first.timestamp.distance(from: playing.due)
        // What was concealed already stands for what is missing: the delay stays what it was before the gap.
        if ahead > 0, UInt32(ahead) > playing.concealed {
            return self.conceal(&playing, missing: UInt32(ahead) - playing.concealed)
        }
        var packet = self.waiting.removeFirst()
        packet.followsGap = playing.hasSkipped
        playing.due = packet.timestamp.advanced(by: packet.samples)
        playing.concealed = 0
        // A sender that says hardly any length must not make the sound thread ask a thousand times a turn.
        playing.length = max(packet.samples, packet.codec.clockRate / 400)
        playing.hasSkipped = false
        self.state = .playing(playing)
        self.counts.played &+= 1
        return .packet(packet)
    }

    /// Invents sound for what is missing. With nothing waiting at all, sound is invented for a while only; then the
    /// stream is taken to have paused, and the delay is built up anew.
    private mutating func conceal(_ playing: inout Playing, missing: UInt32) -> Playout {
        let rate = self.newest?.packet.codec.clockRate ?? 8000
        let limit = rate / 1000 &* UInt32(MediaLimits.playoutConcealMsMax)
        if self.waiting.isEmpty {
            if playing.concealed >= limit {
                self.state = .idle
                return .silence
            }
        } else if missing > limit {
            // A talkspurt that begins later, or a burst of loss too long to invent: go on with what is there.
            if let first = self.waiting.first { playing.due = first.timestamp }
            playing.hasSkipped = true
            playing.concealed = 0
            self.state = .playing(playing)
            return self.play(playing)
        }
        let samples = max(1, min(missing, playing.length))
        playing.concealed = playing.concealed &+ samples
        self.state = .playing(playing)
        self.counts.concealed &+= 1
        return .conceal(samples: samples)
    }

    /// Leaves one packet out where, over a whole round of turns, more has been waiting than the delay asks for.
    private mutating func noteLevel(_ playing: inout Playing) {
        guard let first = self.waiting.first else {
            playing.least = 0
            playing.turns = 0
            return
        }
        playing.least = min(playing.least, self.level)
        playing.turns += 1
        let perMs = first.codec.clockRate / 1000
        let target = perMs &* UInt32(self.targetMs)
        let high = target &+ first.samples &+ perMs &* UInt32(MediaLimits.playoutHighLevelMs)
        let turns = playing.least > high ? MediaLimits.playoutHighLevelTurns : MediaLimits.playoutLevelTurns
        guard playing.turns >= turns else { return }
        if playing.least > target &+ first.samples, self.waiting.count > 1 {
            self.waiting.removeFirst()
            self.counts.skipped &+= 1
            playing.due = self.waiting[0].timestamp
            playing.concealed = 0
            playing.hasSkipped = true
        }
        playing.least = UInt32.max
        playing.turns = 0
    }
}
