// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// How much later than the quickest packets nearly all packets come: a histogram that forgets, of which a high quantile
/// is the delay. A single stall leaves it nearly as it was; steady jitter shows within a few hundred milliseconds.
struct JitterEstimate: Sendable {
    private static let binMs = 10
    private static let binCount = 25
    /// One turn of the sound thread, added so that a packet that is just in time is there when it is asked for.
    private static let marginMs = 10
    /// A packet replaces 1/512 of what is known: ten seconds of 20 ms packets.
    private static let forgetShift: UInt32 = 9
    /// The sum of all bins, and the part of it that should be in time: 97 in 100.
    private static let whole: UInt32 = 1 << 30
    private static let inTime: UInt32 = whole / 100 * 97
    /// The quickest way is forgotten at 500 µs in a second of 20 ms packets, so that clocks that drift apart do not
    /// look like jitter.
    private static let baseRisePerPacket: Int64 = 10_000

    /// The packet before: its timestamp, arrival, and transit counted from the first, in nanoseconds.
    private var reference: (timestamp: RTPTimestamp, arrived: Instant, transit: Int64)?
    /// The transit of the quickest.
    private var base: Int64 = 0
    /// Weight of the packets that were late by so many times `binMs`, rounded up.
    private var bins: [UInt32]

    init() {
        self.bins = Array(repeating: 0, count: Self.binCount)
        // What a local network does; the first packets tell.
        self.bins[2] = Self.whole
    }

    /// The delay that lets nearly every packet be in time.
    var targetMs: Int {
        var sum: UInt32 = 0
        var bin = 0
        while bin < Self.binCount - 1 {
            sum &+= self.bins[bin]
            if sum >= Self.inTime { break }
            bin += 1
        }
        let wanted = bin * Self.binMs + Self.marginMs
        return min(MediaLimits.playoutDelayMsMax, max(MediaLimits.playoutDelayMsMin, wanted))
    }

    mutating func note(timestamp: RTPTimestamp, rate: UInt32, now: Instant) {
        guard let reference = self.reference else {
            self.reference = (timestamp, now, 0)
            self.base = 0
            return
        }
        let units = Int64(timestamp.distance(from: reference.timestamp))
        let media = units * 1_000_000_000 / Int64(max(1, rate))
        let transit = reference.transit &+ (now - reference.arrived).nanoseconds &- media
        // The reference moves along, so that the distance never nears the wrap.
        self.reference = (timestamp, now, transit)
        self.base = min(self.base &+ Self.baseRisePerPacket, transit)
        self.add(lateBy: transit &- self.base)
    }

    private mutating func add(lateBy nanoseconds: Int64) {
        let milliseconds = Int(clamping: (nanoseconds &+ 999_999) / 1_000_000)
        let bin = min(Self.binCount - 1, max(0, (min(milliseconds, 10_000) + Self.binMs - 1) / Self.binMs))
        var kept: UInt32 = 0
        for index in self.bins.indices {
            self.bins[index] -= self.bins[index] >> Self.forgetShift
            kept &+= self.bins[index]
        }
        // The rest of the whole, rounding included.
        self.bins[bin] &+= Self.whole &- kept
    }

    /// Another clock; what is known of the path stays.
    mutating func beginEpoch() {
        self.reference = nil
    }
}
