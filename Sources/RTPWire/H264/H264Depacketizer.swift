// SPDX-License-Identifier: Apache-2.0

import Bytes
import H264

/// Builds access units from RTP packets that come in order of their sequence numbers (RFC 6184): single NAL unit,
/// STAP-A and FU-A. Anything else is dropped and counted.
///
/// One instance serves one synchronisation source; a new source needs a new one.
public struct H264Depacketizer: Sendable {
    /// What was dropped, and why.
    public struct Counts: Hashable, Sendable {
        /// Payloads of kinds not agreed (STAP-B, MTAP, FU-B, reserved) or empty.
        public var unknownPayloads: UInt64 = 0
        /// Aggregates or fragments that do not hold what they say.
        public var malformedPayloads: UInt64 = 0
        /// Access units with packets missing.
        public var incompleteUnits: UInt64 = 0
        /// Access units beyond the bounds of `RTPLimits`.
        public var oversizedUnits: UInt64 = 0
    }

    public private(set) var counts = Counts()
    /// The newest parameter sets, for streams that send them only once.
    public private(set) var parameterSets = H264ParameterSets()

    /// The sequence number that follows the last packet; nil before the first.
    private var expected: SequenceNumber?
    /// The access unit under construction.
    private var unit: AccessUnitBuilder?
    /// The NAL unit whose fragments are coming; empty between them.
    private var fragment: [UInt8] = []
    /// Something is missing since the last access unit was given out.
    private var isAfterLoss = false
    /// Cleared for peers that set the marker on every slice: their pictures end where the timestamp changes.
    private var isMarkerTrusted = true
    /// Timestamp of the access unit given out last.
    private var lastTimestamp: RTPTimestamp?

    public init() {}

    /// Takes the next packet; gives the access units it ends: none, one, or two (one ended by the change of timestamp,
    /// one by the marker).
    public mutating func take(_ packet: RTPPacket) -> [AccessUnit] {
        let isFirst = self.expected == nil
        let isGap = !isFirst && self.expected != packet.sequence
        self.expected = packet.sequence.next
        if isGap { self.noteLoss() }
        var finished: [AccessUnit] = []
        if let unit = self.unit, unit.timestamp != packet.timestamp {
            if self.mayEnd {
                finished += self.finish()
            } else {
                // Parameter sets sent ahead under a time of their own belong to the picture that follows.
                self.unit?.timestamp = packet.timestamp
            }
        }
        if self.unit == nil {
            self.unit = AccessUnitBuilder(timestamp: packet.timestamp, isStartKnown: !isGap && !isFirst)
        }
        self.takePayload(packet.payload)
        self.distrustMarkerIfSplit(packet)
        if packet.marker, self.isMarkerTrusted, self.mayEnd {
            finished += self.finish()
        }
        return finished
    }

    /// Learns parameter sets from outside the stream (`sprop-parameter-sets` of the SDP).
    public mutating func learn(parameterSet: [UInt8]) {
        self.parameterSets.learn(parameterSet)
    }
}

// MARK: - Access units

extension H264Depacketizer {
    /// Whether the unit under construction is a picture, or what is left of one: parameter sets alone wait for theirs.
    private var mayEnd: Bool {
        guard let unit = self.unit else { return false }
        return unit.hasSlices || !unit.isWhole || !self.fragment.isEmpty
    }

    private mutating func noteLoss() {
        self.isAfterLoss = true
        self.fragment.removeAll(keepingCapacity: true)
        self.unit?.isWhole = false
    }

    /// A slice that continues a picture whose marker came already: markers mean nothing in this stream.
    private mutating func distrustMarkerIfSplit(_ packet: RTPPacket) {
        guard self.isMarkerTrusted, self.lastTimestamp == packet.timestamp, let unit = self.unit, unit.isStartKnown,
            unit.startsAtMacroblock ?? 0 > 0
        else { return }
        self.isMarkerTrusted = false
        self.unit?.isWhole = false
    }

    private mutating func finish() -> [AccessUnit] {
        guard var built = self.unit else { return [] }
        self.unit = nil
        if !self.fragment.isEmpty {
            self.fragment.removeAll(keepingCapacity: true)
            built.isWhole = false
        }
        if built.isOversized { self.counts.oversizedUnits &+= 1 }
        let followsLoss = self.isAfterLoss
        let access = built.accessUnit(followsLoss: followsLoss, parameterSets: self.parameterSets)
        self.isAfterLoss = !access.isComplete
        if !access.isComplete { self.counts.incompleteUnits &+= 1 }
        self.lastTimestamp = built.timestamp
        return [access]
    }
}

// MARK: - Payloads

extension H264Depacketizer {
    private mutating func takePayload(_ payload: ArraySlice<UInt8>) {
        guard let first = payload.first else {
            // Packets without payload are sent to keep a path open; they carry no picture data that could be missing.
            self.counts.unknownPayloads &+= 1
            return
        }
        guard first & 0x80 == 0 else { return self.dropMalformed() }
        let type = NALUnitType.of(first)
        if type != NALUnitType.fuA && !self.fragment.isEmpty { self.dropMalformed() }
        switch type {
        case 1...23: self.append(Array(payload))
        case NALUnitType.stapA: self.takeAggregate(payload.dropFirst())
        case NALUnitType.fuA: self.takeFragment(payload, indicator: first)
        default:
            self.counts.unknownPayloads &+= 1
            self.unit?.isWhole = false
        }
    }

    /// STAP-A: units each behind their 16-bit length (RFC 6184 section 5.7.1).
    private mutating func takeAggregate(_ body: ArraySlice<UInt8>) {
        var reader = ByteReader(body)
        guard !reader.isAtEnd else { return self.dropMalformed() }
        while !reader.isAtEnd {
            guard let size = reader.uint16(), let nalUnit = reader.take(Int(size)), let first = nalUnit.first,
                first & 0x80 == 0, (1...23).contains(NALUnitType.of(first))
            else { return self.dropMalformed() }
            self.append(Array(nalUnit))
        }
    }

    /// FU-A (RFC 6184 section 5.8). Start and end in one packet is forbidden, yet means only one thing.
    private mutating func takeFragment(_ payload: ArraySlice<UInt8>, indicator: UInt8) {
        guard let header = payload.dropFirst().first, (1...23).contains(NALUnitType.of(header)) else {
            return self.dropMalformed()
        }
        let nalHeader = (indicator & 0xE0) | NALUnitType.of(header)
        if header & 0x80 != 0 {
            if !self.fragment.isEmpty { self.dropMalformed() }
            self.fragment.append(nalHeader)
        } else if self.fragment.first != nalHeader {
            // No start was seen, or another unit's: what came so far is worth nothing.
            return self.dropMalformed()
        }
        let pending = self.fragment.count + (self.unit?.bytes ?? 0)
        guard pending + payload.count <= RTPLimits.accessUnitBytesMax else {
            self.fragment.removeAll(keepingCapacity: false)
            self.unit?.overflow()
            return
        }
        self.fragment.append(contentsOf: payload.dropFirst(2))
        if header & 0x40 != 0 {
            let nalUnit = self.fragment
            self.fragment = []
            self.append(nalUnit)
        }
    }

    private mutating func append(_ nalUnit: [UInt8]) {
        self.parameterSets.learn(nalUnit)
        self.unit?.append(nalUnit)
    }

    private mutating func dropMalformed() {
        self.counts.malformedPayloads &+= 1
        self.fragment.removeAll(keepingCapacity: true)
        self.unit?.isWhole = false
    }
}
