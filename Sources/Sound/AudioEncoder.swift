// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire

/// One packet of sound, ready for RTP.
public struct EncodedSound {
    public let payload: [UInt8]
    /// How long it plays, at the RTP clock of the codec.
    public let samples: UInt32
    /// When its first sample was taken.
    public let captured: Instant
}

/// Collects periods of 10 ms at 48 kHz into packets of one codec. Owned by one thread.
final class AudioEncoder {
    private enum Member {
        case opus(OpusEncoder)
        case g711(G711.Law, Decimator)
    }

    let codec: AudioCodec
    let packetMs: Int
    private var member: Member
    private var pending: [Int16] = []
    private var pendingSince = Instant.zero

    /// `packetMs` is brought to what the codec has: 10, 20, 40 or 60 for Opus, whole tens up to 60 for G.711.
    init(_ codec: AudioCodec, packetMs: Int) throws(SoundError) {
        self.codec = codec
        self.packetMs = Self.packetMs(codec, wanted: packetMs)
        self.pending.reserveCapacity(self.packetMs * SoundFormat.rate / 1000)
        switch codec {
        case .opus: self.member = .opus(try OpusEncoder(packetMs: self.packetMs))
        case .pcmu: self.member = .g711(.mu, Decimator())
        case .pcma: self.member = .g711(.a, Decimator())
        }
    }

    /// Takes one period; gives a packet where it is full.
    func encode(_ period: [Int16], captured: Instant) -> EncodedSound? {
        if self.pending.isEmpty { self.pendingSince = captured }
        self.pending.append(contentsOf: period)
        guard self.pending.count >= self.packetMs * SoundFormat.rate / 1000 else { return nil }
        defer { self.pending.removeAll(keepingCapacity: true) }
        guard let payload = self.payload() else { return nil }
        let samples = UInt32(self.packetMs) * self.codec.clockRate / 1000
        return EncodedSound(payload: payload, samples: samples, captured: self.pendingSince)
    }

    private func payload() -> [UInt8]? {
        switch self.member {
        case .opus(let encoder):
            return encoder.encode(self.pending)
        case .g711(let law, var decimator):
            let narrow = decimator.process(self.pending)
            self.member = .g711(law, decimator)
            return G711.encode(narrow, law)
        }
    }

    static func packetMs(_ codec: AudioCodec, wanted: Int) -> Int {
        let tens = min(max(wanted / 10 * 10, 10), 60)
        guard codec == .opus else { return tens }
        return tens == 30 ? 20 : tens == 50 ? 40 : tens
    }
}
