// SPDX-License-Identifier: Apache-2.0

import H264

/// The byte stream format of ITU-T H.264, Annex B: NAL units with start codes between them.
public enum AnnexB {
    /// The NAL units in `stream` without start codes and without the zero bytes that may pad them.
    ///
    /// Bytes before the first start code are no NAL unit. At most `limit` units are given.
    public static func nalUnits(in stream: UnsafeBufferPointer<UInt8>, limit: Int = 1024) -> [[UInt8]] {
        var units: [[UInt8]] = []
        guard var start = Self.startCode(in: stream, from: 0)?.upperBound else { return units }
        while units.count < limit {
            let next = Self.startCode(in: stream, from: start)
            var end = next?.lowerBound ?? stream.count
            while end > start && stream[end - 1] == 0 { end -= 1 }
            if end > start { units.append(Array(stream[start..<end])) }
            guard let next else { break }
            start = next.upperBound
        }
        return units
    }

    public static func nalUnits(in stream: [UInt8], limit: Int = 1024) -> [[UInt8]] {
        stream.withUnsafeBufferPointer { Self.nalUnits(in: $0, limit: limit) }
    }

    /// Writes `units` with a four-byte start code each; as many as fit whole into `room` bytes.
    ///
    /// - Returns: the bytes written.
    static func write(_ units: [[UInt8]], to target: UnsafeMutablePointer<UInt8>, room: Int) -> Int {
        var used = 0
        for unit in units where !unit.isEmpty {
            guard unit.count <= room - used - 4 else { break }
            target[used] = 0
            target[used + 1] = 0
            target[used + 2] = 0
            target[used + 3] = 1
            unit.withUnsafeBufferPointer { (target + used + 4).update(from: $0.baseAddress!, count: $0.count) }
            used += 4 + unit.count
        }
        return used
    }

    /// The place of the next three bytes 0, 0, 1.
    private static func startCode(in stream: UnsafeBufferPointer<UInt8>, from: Int) -> Range<Int>? {
        var index = from + 2
        while index < stream.count {
            // Of three bytes the last decides how far the next start code can be away.
            switch stream[index] {
            case 0: index += 1
            case 1 where stream[index - 1] == 0 && stream[index - 2] == 0: return index - 2..<index + 1
            default: index += 3
            }
        }
        return nil
    }
}

extension NALUnitType {
    static func of(_ unit: [UInt8]) -> UInt8 {
        self.of(unit.first ?? 0)
    }

    /// What an encoder has to send: no SEI, delimiters or filler, which cost bytes and say nothing to a peer.
    static func isWorthSending(_ unit: [UInt8]) -> Bool {
        let type = self.of(unit)
        return self.isSlice(unit) || type == self.sequenceParameterSet || type == self.pictureParameterSet
    }

    /// What a decoder reads; SEI because a stream without IDR pictures says there where decoding may begin.
    static func isWorthDecoding(_ unit: [UInt8]) -> Bool {
        self.isWorthSending(unit) || self.of(unit) == self.sei
    }

    static func isSlice(_ unit: [UInt8]) -> Bool {
        let type = self.of(unit)
        return type == self.slice || type == self.idrSlice
    }
}
