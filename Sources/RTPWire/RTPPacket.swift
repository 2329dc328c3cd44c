// SPDX-License-Identifier: Apache-2.0

import Bytes

/// An RTP packet (RFC 3550 section 5.1). Header extensions are passed over, never kept.
public struct RTPPacket: Sendable {
    public var marker: Bool
    public var payloadType: PayloadType
    public var sequence: SequenceNumber
    public var timestamp: RTPTimestamp
    public var ssrc: SSRC
    /// Contributing sources, at most 15.
    public var contributors: [SSRC]
    /// Without padding; may be empty.
    public var payload: ArraySlice<UInt8>

    public init(
        marker: Bool, payloadType: PayloadType, sequence: SequenceNumber, timestamp: RTPTimestamp, ssrc: SSRC,
        contributors: [SSRC] = [], payload: ArraySlice<UInt8>
    ) {
        precondition(contributors.count <= 15, "the header has four bits for the count of contributors")
        self.marker = marker
        self.payloadType = payloadType
        self.sequence = sequence
        self.timestamp = timestamp
        self.ssrc = ssrc
        self.contributors = contributors
        self.payload = payload
    }

    /// Reads one datagram. Contributor count, extension length and padding count are each checked against what is
    /// there.
    public static func parse(_ bytes: [UInt8]) throws(RTPParseError) -> RTPPacket {
        guard bytes.count <= RTPLimits.datagramBytesMax else { throw .tooLong }
        var reader = ByteReader(bytes)
        guard let first = reader.uint8(), let second = reader.uint8(), let sequence = reader.uint16(),
            let timestamp = reader.uint32(), let ssrc = reader.uint32()
        else { throw .tooShort }
        guard first >> 6 == 2 else { throw .wrongVersion }
        var contributors: [SSRC] = []
        for _ in 0..<Int(first & 0x0F) {
            guard let contributor = reader.uint32() else { throw .badContributors }
            contributors.append(SSRC(contributor))
        }
        if first & 0x10 != 0 {
            guard reader.skip(2), let words = reader.uint16(), reader.skip(Int(words) * 4) else { throw .badExtension }
        }
        var payload = reader.rest
        if first & 0x20 != 0 {
            guard let padding = payload.last, padding > 0, Int(padding) <= payload.count else { throw .badPadding }
            payload = payload.dropLast(Int(padding))
        }
        return RTPPacket(
            marker: second & 0x80 != 0, payloadType: PayloadType(second), sequence: SequenceNumber(sequence),
            timestamp: RTPTimestamp(timestamp), ssrc: SSRC(ssrc), contributors: contributors, payload: payload)
    }

    /// The packet as it goes on the wire: no padding, no extension.
    public func printed() -> [UInt8] {
        var writer = ByteWriter(reserving: 12 + self.contributors.count * 4 + self.payload.count)
        writer.put(UInt8(0x80 | UInt8(self.contributors.count & 0x0F)))
        writer.put(UInt8((self.marker ? 0x80 : 0) | self.payloadType.value))
        writer.put(self.sequence.value)
        writer.put(self.timestamp.value)
        writer.put(self.ssrc.value)
        for contributor in self.contributors.prefix(15) { writer.put(contributor.value) }
        writer.put(self.payload)
        return writer.bytes
    }
}

/// Why a datagram is not the packet it should be. The datagram is dropped and counted.
public enum RTPParseError: Error, Hashable, Sendable {
    case tooShort
    case tooLong
    case wrongVersion
    /// More contributors than bytes.
    case badContributors
    /// The extension's length reaches past the end.
    case badExtension
    /// The padding count is zero or reaches past the payload.
    case badPadding
    /// An RTCP length word or count that does not fit the bytes.
    case badLength
    /// A compound packet that does not begin with a report (RFC 3550 section 6.1, RFC 5506 not agreed).
    case badCompound
}
