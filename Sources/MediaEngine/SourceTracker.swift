// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// Decides which synchronisation source of a peer is the stream.
///
/// A new source takes over with its second packet in sequence, or at once where the old one has gone quiet; its first
/// packet is kept meanwhile, so that nothing of a key frame is lost.
struct SourceTracker {
    enum Verdict {
        /// Of the stream that runs.
        case current
        /// The stream begins anew with these packets.
        case began([RTPPacket])
        /// Kept or dropped: not (yet) the stream.
        case waiting
    }

    private(set) var current: SSRC?
    private var lastHeard = Instant.zero
    /// The first packet of a source that may take over.
    private var candidate: RTPPacket?

    mutating func admit(_ packet: RTPPacket, now: Instant) -> Verdict {
        if packet.ssrc == self.current {
            self.lastHeard = now
            self.candidate = nil
            return .current
        }
        let isQuiet = now - self.lastHeard > Duration.milliseconds(MediaLimits.sourceHoldMs)
        if self.current == nil || isQuiet { return self.begin(packet, after: [], now: now) }
        if let first = self.candidate, first.ssrc == packet.ssrc, packet.sequence == first.sequence.next {
            return self.begin(packet, after: [first], now: now)
        }
        self.candidate = packet
        return .waiting
    }

    private mutating func begin(_ packet: RTPPacket, after earlier: [RTPPacket], now: Instant) -> Verdict {
        self.current = packet.ssrc
        self.lastHeard = now
        self.candidate = nil
        return .began(earlier + [packet])
    }
}
