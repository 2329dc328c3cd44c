// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// What the sound thread plays next.
public enum Playout: Sendable {
    /// Decode and play it.
    case packet(AudioPacket)
    /// A packet is missing: let the decoder invent this much, in units of the RTP clock of the last packet.
    case conceal(samples: UInt32)
    /// No stream, or the buffer is filling: play nothing.
    case silence
}

/// The adaptive jitter buffer of the sound thread.
///
/// The sound thread inserts packets as they come and asks `next` whenever it has less than one period of decoded sound left. The
/// delay follows the measured jitter between 20 and 200 ms.
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

    public private(set) var counts = Counts()
    /// The delay aimed at.
    public var targetMs: Int { 40 }
    /// Sound waiting now.
    public var bufferedMs: Int { 0 }

    public init() {}

    public mutating func insert(_ packet: AudioPacket, now: Instant) {}

    public mutating func next(now: Instant) -> Playout {
        .silence
    }

    /// Forgets everything but the counts: a new call.
    public mutating func reset() {}
}
