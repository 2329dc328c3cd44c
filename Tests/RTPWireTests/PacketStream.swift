// SPDX-License-Identifier: Apache-2.0

import RTPWire

/// Makes the packets of one stream for a depacketizer.
struct PacketStream {
    var sequence = SequenceNumber(65_530)
    var timestamp = RTPTimestamp(1000)

    mutating func packet(_ payload: [UInt8], marker: Bool = false) -> RTPPacket {
        defer { self.sequence = self.sequence.next }
        return RTPPacket(
            marker: marker, payloadType: PayloadType(96), sequence: self.sequence, timestamp: self.timestamp,
            ssrc: SSRC(1), payload: payload[...])
    }

    mutating func picture(_ nalUnits: [[UInt8]], with packetizer: H264Packetizer) -> [RTPPacket] {
        defer { self.nextPicture() }
        return packetizer.payloads(of: nalUnits).map { self.packet($0.bytes, marker: $0.marker) }
    }

    mutating func nextPicture() {
        self.timestamp = self.timestamp.advanced(by: 3000)
    }

    mutating func lose(_ count: Int = 1) {
        self.sequence = self.sequence.advanced(by: count)
    }
}

extension H264Depacketizer {
    mutating func take(_ packets: [RTPPacket]) -> [AccessUnit] {
        packets.flatMap { self.take($0) }
    }
}
