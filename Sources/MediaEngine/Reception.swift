// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// What is known of one source that is received: sequence, loss and jitter (RFC 3550 appendices A.1, A.3 and A.8).
struct Reception {
    enum Verdict {
        /// New, in order or not.
        case accepted
        case duplicate
        /// Far from the sequence: dropped, unless the next packet goes on from it.
        case wild
        /// The source began a new sequence with this packet.
        case restarted
    }

    /// MAX_DROPOUT and MAX_MISORDER of appendix A.1.
    private static let dropoutMax = 3000
    private static let misorderMax = 100
    /// A change of transit above this is a jump of the clock and not jitter.
    private static let jitterSecondsMax: UInt32 = 4

    let source: SSRC
    private var base: SequenceNumber
    private var highest: SequenceNumber
    private var cycles: UInt32 = 0
    private var received: UInt64 = 1
    /// Bit n: `highest` less n has come.
    private var seen: UInt64 = 1
    /// What would follow the last wild packet.
    private var resumeAt: SequenceNumber?
    private var expectedBefore: UInt64 = 0
    private var receivedBefore: UInt64 = 0
    /// Lost in the sequences before a restart.
    private var lostEarlier: UInt64 = 0
    /// Arrival less timestamp, in clock units, of the last packet.
    private var transit: UInt32?
    /// Sixteen times the jitter, in clock units.
    private var jitterScaled: UInt64 = 0
    private var lastReport: (ntp: UInt32, arrived: Instant)?
    /// Packets came since the last report block.
    private var isFresh = true

    init(first packet: RTPPacket) {
        self.source = packet.ssrc
        self.base = packet.sequence
        self.highest = packet.sequence
    }

    mutating func take(_ packet: RTPPacket, rate: UInt32, now: Instant) -> Verdict {
        let ahead = packet.sequence.distance(from: self.highest)
        if ahead > Self.dropoutMax || ahead < -Self.misorderMax {
            guard packet.sequence == self.resumeAt else {
                self.resumeAt = packet.sequence.next
                return .wild
            }
            self.restart(at: packet)
            return .restarted
        }
        self.resumeAt = nil
        guard self.note(ahead, packet.sequence) else { return .duplicate }
        self.received &+= 1
        self.isFresh = true
        self.noteTransit(of: packet, rate: rate, now: now)
        return .accepted
    }

    /// Marks a sequence number as seen; false where it was.
    private mutating func note(_ ahead: Int, _ sequence: SequenceNumber) -> Bool {
        if ahead > 0 {
            if sequence.value < self.highest.value { self.cycles &+= 1 }
            self.highest = sequence
            self.seen = ahead < 64 ? (self.seen << UInt64(ahead)) | 1 : 1
            return true
        }
        let back = -ahead
        // Beyond the window nothing is known; A.1 lets it pass.
        guard back < 64 else { return true }
        let bit = UInt64(1) << UInt64(back)
        guard self.seen & bit == 0 else { return false }
        self.seen |= bit
        return true
    }

    private mutating func restart(at packet: RTPPacket) {
        self.lostEarlier = self.lost
        self.base = packet.sequence
        self.highest = packet.sequence
        self.cycles = 0
        self.received = 1
        self.seen = 1
        self.resumeAt = nil
        self.expectedBefore = 0
        self.receivedBefore = 0
        self.transit = nil
        self.isFresh = true
    }

    private mutating func noteTransit(of packet: RTPPacket, rate: UInt32, now: Instant) {
        guard rate > 0 else { return }
        let arrival = MediaClock.units(nanoseconds: now.nanoseconds, rate: rate)
        let transit = arrival &- packet.timestamp.value
        defer { self.transit = transit }
        guard let before = self.transit else { return }
        let change = Int32(bitPattern: transit &- before).magnitude
        guard change < rate &* Self.jitterSecondsMax else { return }
        self.jitterScaled = self.jitterScaled &+ UInt64(change) &- ((self.jitterScaled &+ 8) >> 4)
    }

    // MARK: Reports

    private var extendedHighest: UInt64 { (UInt64(self.cycles) << 16) | UInt64(self.highest.value) }
    private var expected: UInt64 { self.extendedHighest &- UInt64(self.base.value) &+ 1 }

    /// Packets missing so far; never negative.
    var lost: UInt64 {
        self.lostEarlier &+ (self.expected > self.received ? self.expected - self.received : 0)
    }

    /// In clock units.
    var jitter: UInt32 { UInt32(truncatingIfNeeded: self.jitterScaled >> 4) }

    mutating func noteSenderReport(_ report: SenderReport, now: Instant) {
        guard report.ssrc == self.source else { return }
        self.lastReport = (report.ntpTime.compact, now)
    }

    /// The block for the next report, nil where nothing came since the last; the loss fraction starts anew.
    mutating func reportBlock(now: Instant) -> ReportBlock? {
        guard self.isFresh else { return nil }
        self.isFresh = false
        let expectedNow = self.expected &- self.expectedBefore
        let receivedNow = self.received &- self.receivedBefore
        self.expectedBefore = self.expected
        self.receivedBefore = self.received
        // More received than expected (duplicates beyond the window, packets from before) is no loss.
        let lostNow = expectedNow > receivedNow ? expectedNow - receivedNow : 0
        let fraction = expectedNow == 0 ? 0 : min(255, lostNow * 256 / expectedNow)
        var delay: UInt32 = 0
        if let last = self.lastReport {
            delay = MediaClock.units(now - last.arrived, rate: 65_536)
        }
        return ReportBlock(
            source: self.source, fractionLost: UInt8(fraction), cumulativeLost: Int32(min(self.lost, 0x7F_FFFF)),
            highestSequence: UInt32(truncatingIfNeeded: self.extendedHighest), jitter: self.jitter,
            lastSenderReport: self.lastReport?.ntp ?? 0, delaySinceLastSenderReport: delay)
    }
}
