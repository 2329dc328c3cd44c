// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// One packet of encoded sound, as it came.
public struct AudioPacket: Sendable {
    public var payload: [UInt8]
    public var codec: AudioCodec
    public var ssrc: SSRC
    public var sequence: SequenceNumber
    public var timestamp: RTPTimestamp
    /// How long it plays, at `codec.clockRate`.
    public var samples: UInt32
    public var marker: Bool
    /// Set by the playout buffer: what plays before this packet is not what came before it (start, skip, resync). The
    /// decoder should fade or reset.
    public var followsGap: Bool

    public init(
        payload: [UInt8], codec: AudioCodec, ssrc: SSRC, sequence: SequenceNumber, timestamp: RTPTimestamp,
        samples: UInt32, marker: Bool = false, followsGap: Bool = false
    ) {
        self.payload = payload
        self.codec = codec
        self.ssrc = ssrc
        self.sequence = sequence
        self.timestamp = timestamp
        self.samples = samples
        self.marker = marker
        self.followsGap = followsGap
    }
}
