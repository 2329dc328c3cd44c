// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// How much later than the quickest packets come: rises at once with a late packet, and falls slowly.
struct JitterEstimate: Sendable {
    /// One turn of the sound thread, added so that a packet that is just in time is there when it is asked for.
    private static let marginMs = 10
    /// A fall to half takes about seven seconds of 20 ms packets.
    private static let decayShift: Int64 = 9
    /// The quickest way is forgotten at 500 µs in a second of 20 ms packets, so that clocks that drift apart do not
    /// look like jitter.
    private static let baseRisePerPacket: Int64 = 10_000

    /// Arrival less media time of the quickest packets, and of the reference.
    private var base: Int64?
    private var reference: (timestamp: RTPTimestamp, arrived: Instant)?
    /// Nanoseconds.
    private var excess: Int64 = 20_000_000

    /// The delay that lets nearly every packet be in time.
    var targetMs: Int {
        let wanted = Int(clamping: self.excess / 1_000_000) + Self.marginMs
        return min(MediaLimits.playoutDelayMsMax, max(MediaLimits.playoutDelayMsMin, wanted))
    }

    mutating func note(timestamp: RTPTimestamp, rate: UInt32, now: Instant) {
        guard let reference = self.reference, let base = self.base else {
            self.reference = (timestamp, now)
            self.base = 0
            return
        }
        let units = Int64(timestamp.distance(from: reference.timestamp))
        let media = units * 1_000_000_000 / Int64(max(1, rate))
        let transit = (now - reference.arrived).nanoseconds &- media
        // The reference moves along, so that the distance never nears the wrap.
        self.reference = (timestamp, now)
        let relative = transit &+ self.relativeOfReference
        self.relativeOfReference = relative
        let raised = base &+ Self.baseRisePerPacket
        self.base = min(raised, relative)
        let late = max(0, relative &- (self.base ?? relative))
        if late > self.excess {
            self.excess = late
        } else {
            self.excess &-= (self.excess &- late) >> Self.decayShift
        }
    }

    /// Transit of the reference packet, counted from the first.
    private var relativeOfReference: Int64 = 0

    /// Another clock; what is known of the path stays.
    mutating func beginEpoch() {
        self.base = nil
        self.reference = nil
        self.relativeOfReference = 0
    }
}
