// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire

/// Received packets of any of our codecs to sound at 48 kHz, without clicks where something is missing or where the
/// codec changes. Owned by one thread.
final class AudioDecoder {
    private var opus: OpusDecoder?
    private var narrow = Interpolator()
    private var concealer = Concealer()
    /// Packets that could not be decoded.
    private(set) var damaged: UInt64 = 0

    /// 120 ms of G.711.
    private static let narrowBytesMax = 960

    init() {}

    /// The sound of one packet; made up where it is damaged.
    func decode(_ packet: AudioPacket) -> [Int16] {
        guard let samples = self.samples(packet) else {
            self.damaged &+= 1
            return self.conceal(packet.samples, clockRate: packet.codec.clockRate)
        }
        return self.concealer.received(samples, afterGap: packet.followsGap)
    }

    /// Sound in place of what did not come, `samples` long at the given RTP clock; at most 120 ms at a time.
    func conceal(_ samples: UInt32, clockRate: UInt32) -> [Int16] {
        let frames = UInt64(samples) * UInt64(SoundFormat.rate) / UInt64(max(clockRate, 1))
        return self.concealer.conceal(Int(min(frames, 5760)))
    }

    /// A new call.
    func reset() {
        self.opus = nil
        self.narrow = Interpolator()
        self.concealer.reset()
    }

    private func samples(_ packet: AudioPacket) -> [Int16]? {
        switch packet.codec {
        case .opus:
            if self.opus == nil { self.opus = try? OpusDecoder() }
            return self.opus?.decode(packet.payload)
        case .pcmu: return self.wide(packet.payload, .mu)
        case .pcma: return self.wide(packet.payload, .a)
        }
    }

    private func wide(_ payload: [UInt8], _ law: G711.Law) -> [Int16]? {
        guard !payload.isEmpty, payload.count <= Self.narrowBytesMax else { return nil }
        return self.narrow.process(G711.decode(payload, law))
    }
}
