// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// Puts video packets into order. Packets in order pass at once; a gap is waited for a short time, longer where the
/// path has shown that it reorders.
struct ReorderBuffer {
    private struct Slot {
        var packet: RTPPacket
        var arrived: Instant
    }

    /// The sequence number that passes next; nil before the first packet.
    private var next: SequenceNumber?
    /// Indexed by the low bits of the sequence number: `next`+1 … `next`+63.
    private var slots: [Slot?] = Array(repeating: nil, count: MediaLimits.reorderPackets)
    private var waiting = 0
    private var patience = MediaLimits.reorderPatienceMin
    /// When the last gap was given up.
    private var gaveUpAt: Instant?

    /// Gaps given up.
    private(set) var gaps: UInt64 = 0
    /// Packets that came after their gap was given up.
    private(set) var late: UInt64 = 0
    /// When to call `expire`.
    private(set) var deadline: Instant?

    /// Takes one packet (no duplicates); gives all that are now in order.
    mutating func insert(_ packet: RTPPacket, now: Instant) -> [RTPPacket] {
        guard let next = self.next else {
            self.next = packet.sequence.next
            return [packet]
        }
        let ahead = packet.sequence.distance(from: next)
        if ahead < 0 {
            self.noteLate(now: now)
            return []
        }
        if ahead == 0 {
            self.next = next.next
            if self.waiting == 0 { return [packet] }
            self.learnPatience(now: now)
            let passed = [packet] + self.takeRun()
            self.updateDeadline()
            return passed
        }
        var passed: [RTPPacket] = []
        while let current = self.next, packet.sequence.distance(from: current) >= MediaLimits.reorderPackets {
            passed += self.giveUp(before: packet.sequence, now: now)
        }
        if packet.sequence == self.next {
            self.next = packet.sequence.next
            passed.append(packet)
            passed += self.takeRun()
        } else {
            self.slots[self.index(packet.sequence)] = Slot(packet: packet, arrived: now)
            self.waiting += 1
        }
        self.updateDeadline()
        return passed
    }

    /// Gives up the first gap if its time is over; gives what was waiting behind it.
    mutating func expire(now: Instant) -> [RTPPacket] {
        guard let deadline = self.deadline, deadline <= now, let next = self.next else { return [] }
        let passed = self.giveUp(before: next.advanced(by: MediaLimits.reorderPackets), now: now)
        self.updateDeadline()
        return passed
    }

    /// Moves on to the first packet that waits, or to `limit` where none does.
    private mutating func giveUp(before limit: SequenceNumber, now: Instant) -> [RTPPacket] {
        guard let next = self.next else { return [] }
        self.gaps &+= 1
        self.gaveUpAt = now
        guard self.waiting > 0 else {
            self.next = limit
            return []
        }
        for step in 1..<MediaLimits.reorderPackets {
            let sequence = next.advanced(by: step)
            if self.slots[self.index(sequence)] != nil {
                self.next = sequence
                return self.takeRun()
            }
        }
        preconditionFailure("a waiting packet lies within the span of the buffer")
    }

    private mutating func takeRun() -> [RTPPacket] {
        var run: [RTPPacket] = []
        while self.waiting > 0, let next = self.next, let slot = self.slots[self.index(next)] {
            self.slots[self.index(next)] = nil
            self.waiting -= 1
            self.next = next.next
            run.append(slot.packet)
        }
        return run
    }

    private func index(_ sequence: SequenceNumber) -> Int {
        Int(sequence.value) & (MediaLimits.reorderPackets - 1)
    }

    private var oldestArrival: Instant? {
        guard self.waiting > 0 else { return nil }
        var oldest: Instant?
        for slot in self.slots {
            if let slot { oldest = MediaClock.earlier(oldest, slot.arrived) }
        }
        return oldest
    }

    private mutating func updateDeadline() {
        self.deadline = self.oldestArrival.map { $0 + self.patience }
    }

    /// A gap was filled after a wait: the next may take as long, and half as much again.
    private mutating func learnPatience(now: Instant) {
        guard let oldest = self.oldestArrival else { return }
        self.raisePatience(to: now - oldest)
    }

    private mutating func noteLate(now: Instant) {
        self.late &+= 1
        if let gaveUpAt = self.gaveUpAt { self.raisePatience(to: self.patience + (now - gaveUpAt)) }
    }

    private mutating func raisePatience(to wait: Duration) {
        let bounded = min(wait, MediaLimits.reorderPatienceMax)
        let wanted = Duration(nanoseconds: bounded.nanoseconds + bounded.nanoseconds / 2)
        self.patience = min(MediaLimits.reorderPatienceMax, max(self.patience, wanted))
    }
}
