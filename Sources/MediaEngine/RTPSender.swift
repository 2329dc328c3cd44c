// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// The sequence, the clock and the counts of one stream that is sent.
struct RTPSender {
    let ssrc: SSRC
    private var sequence: SequenceNumber
    /// The timestamp of `anchor`.
    private let offset: UInt32
    /// The capture time of the first payload.
    private var anchor: Instant?
    /// Timestamp and capture time of the last payload, for sender reports.
    private var latest: (timestamp: RTPTimestamp, captured: Instant, rate: UInt32)?
    /// What the next audio payload has if nothing is missing between.
    private var continued: RTPTimestamp?
    private(set) var packets: UInt32 = 0
    private(set) var payloadBytes: UInt32 = 0

    /// Sequence and timestamp begin at random (RFC 3550 section 5.1).
    init(ssrc: SSRC, generator: inout Generator) {
        self.ssrc = ssrc
        let random = generator.next()
        // The high bit is left free, so that the first wrap is not within the first packets (RFC 3711 section 3.3.1).
        self.sequence = SequenceNumber(UInt16(truncatingIfNeeded: random) & 0x7FFF)
        self.offset = UInt32(truncatingIfNeeded: random >> 32)
    }

    /// The timestamp of what was captured then.
    mutating func timestamp(captured: Instant, rate: UInt32) -> RTPTimestamp {
        let anchor = self.anchor ?? captured
        self.anchor = anchor
        let timestamp = RTPTimestamp(self.offset &+ MediaClock.units(captured - anchor, rate: rate))
        self.latest = (timestamp, captured, rate)
        return timestamp
    }

    /// The timestamp of a piece of sound: goes on from the last while that agrees with the clock, so that it counts
    /// samples; where sound was left out it jumps, and a talkspurt begins.
    mutating func timestamp(
        samples: UInt32, captured: Instant, rate: UInt32
    ) -> (timestamp: RTPTimestamp, startsTalkspurt: Bool) {
        let clock = self.timestamp(captured: captured, rate: rate)
        let slack = rate / 1000 &* UInt32(MediaLimits.audioClockSlackMs)
        if let continued = self.continued, continued.distance(from: clock).magnitude <= slack {
            self.continued = continued.advanced(by: samples)
            self.latest = (continued, captured, rate)
            return (continued, false)
        }
        self.continued = clock.advanced(by: samples)
        return (clock, true)
    }

    /// The next packet on the wire.
    mutating func packet(
        _ payload: [UInt8], type: PayloadType, timestamp: RTPTimestamp, marker: Bool
    ) -> [UInt8] {
        let packet = RTPPacket(
            marker: marker, payloadType: type, sequence: self.sequence, timestamp: timestamp, ssrc: self.ssrc,
            payload: payload[...])
        self.sequence = self.sequence.next
        self.packets &+= 1
        self.payloadBytes &+= UInt32(truncatingIfNeeded: payload.count)
        return packet.printed()
    }

    /// A sender report; nil before anything was sent. The RTP time is that of `now`, not of the last packet.
    func report(now: Instant, ntpTime: NTPTime, blocks: [ReportBlock]) -> SenderReport? {
        guard let latest = self.latest, self.packets > 0 else { return nil }
        let timestamp = latest.timestamp.advanced(by: MediaClock.units(now - latest.captured, rate: latest.rate))
        return SenderReport(
            ssrc: self.ssrc, ntpTime: ntpTime, timestamp: timestamp, packets: self.packets,
            payloadBytes: self.payloadBytes, blocks: blocks)
    }
}
