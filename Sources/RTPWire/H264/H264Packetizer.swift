// SPDX-License-Identifier: Apache-2.0

import H264

/// Cuts access units into RTP payloads (RFC 6184).
public struct H264Packetizer: Sendable {
    /// The packetization modes of RFC 6184 section 6 that are used.
    public enum Mode: Hashable, Sendable {
        /// Mode 0: one NAL unit a packet. A NAL unit longer than `maxPayloadSize` still goes as one packet, for the
        /// network to fragment: the encoder should have been told to keep slices below it.
        case singleNAL
        /// Mode 1: also FU-A, and STAP-A for the small units that lead a picture.
        case nonInterleaved
    }

    /// One RTP payload; the marker is set on the last of an access unit.
    public struct Payload: Hashable, Sendable {
        public var bytes: [UInt8]
        public var marker: Bool
    }

    /// The longest payload that fits a UDP datagram with IPv6 and RTP headers; longer NAL units of mode 0 are left out.
    public static let datagramPayloadMax = 65_000

    public let mode: Mode
    /// Bytes of a payload, RTP header not counted.
    public let maxPayloadSize: Int

    public init(mode: Mode, maxPayloadSize: Int = 1200) {
        precondition(maxPayloadSize >= 64, "a payload holds at least a fragment header and some bytes")
        self.mode = mode
        self.maxPayloadSize = maxPayloadSize
    }

    /// The payloads of one access unit, in sending order. Empty NAL units are left out.
    public func payloads(of nalUnits: [[UInt8]]) -> [Payload] {
        var payloads: [Payload] = []
        switch self.mode {
        case .singleNAL:
            for nalUnit in nalUnits where !nalUnit.isEmpty && nalUnit.count <= Self.datagramPayloadMax {
                payloads.append(Payload(bytes: nalUnit, marker: false))
            }
        case .nonInterleaved:
            var index = 0
            while index < nalUnits.count {
                index = self.appendNext(nalUnits, from: index, to: &payloads)
            }
        }
        if !payloads.isEmpty { payloads[payloads.count - 1].marker = true }
        return payloads
    }

    /// Appends the unit at `index`, alone, in fragments, or with those after it; returns the index after the last
    /// taken.
    private func appendNext(_ nalUnits: [[UInt8]], from index: Int, to payloads: inout [Payload]) -> Int {
        let nalUnit = nalUnits[index]
        guard !nalUnit.isEmpty else { return index + 1 }
        guard nalUnit.count <= self.maxPayloadSize else {
            self.appendFragments(of: nalUnit, to: &payloads)
            return index + 1
        }
        let end = self.aggregateEnd(nalUnits, from: index)
        if end > index + 1 {
            payloads.append(Payload(bytes: Self.aggregate(nalUnits[index..<end]), marker: false))
            return end
        }
        payloads.append(Payload(bytes: nalUnit, marker: false))
        return index + 1
    }

    /// How far units fit into one STAP-A together: header, and two bytes of length before each.
    private func aggregateEnd(_ nalUnits: [[UInt8]], from index: Int) -> Int {
        var size = 1
        var end = index
        while end < nalUnits.count, !nalUnits[end].isEmpty, size + 2 + nalUnits[end].count <= self.maxPayloadSize {
            size += 2 + nalUnits[end].count
            end += 1
        }
        return end
    }

    /// STAP-A: F is the or, NRI the highest, of all units inside (RFC 6184 section 5.7).
    private static func aggregate(_ nalUnits: ArraySlice<[UInt8]>) -> [UInt8] {
        var importance: UInt8 = 0
        var forbidden: UInt8 = 0
        for nalUnit in nalUnits {
            importance = max(importance, nalUnit[0] & 0x60)
            forbidden |= nalUnit[0] & 0x80
        }
        var bytes: [UInt8] = [forbidden | importance | NALUnitType.stapA]
        for nalUnit in nalUnits {
            bytes.append(UInt8(truncatingIfNeeded: nalUnit.count >> 8))
            bytes.append(UInt8(truncatingIfNeeded: nalUnit.count))
            bytes.append(contentsOf: nalUnit)
        }
        return bytes
    }

    /// FU-A: pieces of nearly one size, so that no short one is left over (RFC 6184 section 5.8).
    private func appendFragments(of nalUnit: [UInt8], to payloads: inout [Payload]) {
        let indicator = (nalUnit[0] & 0xE0) | NALUnitType.fuA
        let type = NALUnitType.of(nalUnit[0])
        let room = self.maxPayloadSize - 2
        let total = nalUnit.count - 1
        let pieces = (total + room - 1) / room
        let shorter = total / pieces
        let longerCount = total % pieces
        var offset = 1
        for piece in 0..<pieces {
            let end = offset + shorter + (piece < longerCount ? 1 : 0)
            let start: UInt8 = piece == 0 ? 0x80 : 0
            let last: UInt8 = piece == pieces - 1 ? 0x40 : 0
            var bytes: [UInt8] = []
            bytes.reserveCapacity(2 + end - offset)
            bytes.append(indicator)
            bytes.append(start | last | type)
            bytes.append(contentsOf: nalUnit[offset..<end])
            payloads.append(Payload(bytes: bytes, marker: false))
            offset = end
        }
    }
}

extension NALUnitType {
    /// Payloads that are no NAL unit (RFC 6184 table 1).
    public static let stapA: UInt8 = 24
    public static let fuA: UInt8 = 28
}
