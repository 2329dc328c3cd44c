// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// What audio and video streams have in common: where packets come from and go to, which source is the stream, counts
/// and reports.
struct StreamCore {
    /// What one datagram brought to the stream.
    struct Arrival {
        /// In the order they came; at most two.
        var packets: [RTPPacket] = []
        /// The source or its sequence is a new one: what was known of the stream is void.
        var isNewEpoch = false
    }

    let kind: StreamKind
    private(set) var plan: StreamPlan
    var rtpLatch: Latch
    var rtcpLatch: Latch
    private var tracker = SourceTracker()
    var reception: Reception?
    var sender: RTPSender
    var schedule: ReportSchedule
    var generator: Generator
    private var silence = SilenceWatch()
    var counts = StreamStatistics()
    /// Lost from sources that were replaced.
    private var lostBefore: UInt64 = 0
    private var hasBegun = false
    /// The clock of the packets that come.
    private var receivedRate: UInt32 = 8000
    /// Reports since RTP was sent last: below two we are a sender (RFC 3550 section 6.4).
    var reportsSinceSent = 2
    var byeFrom: SSRC?

    init(kind: StreamKind, plan: StreamPlan, seed: UInt64, now: Instant) {
        self.kind = kind
        self.plan = plan
        self.rtpLatch = Latch(announced: plan.remoteRTP, signalling: plan.signalling)
        self.rtcpLatch = Latch(announced: plan.remoteRTCP, signalling: plan.signalling)
        var generator = Generator(seed: seed)
        self.sender = RTPSender(ssrc: plan.localSSRC, generator: &generator)
        self.schedule = ReportSchedule(now: now, generator: &generator)
        self.generator = generator
        self.silence.expect(plan.receives, now: now)
    }

    /// Applies what was agreed anew; addresses that stay keep what was learned.
    mutating func update(_ plan: StreamPlan, now: Instant) {
        self.rtpLatch.follow(plan.remoteRTP)
        self.rtcpLatch.follow(plan.remoteRTCP)
        if plan.localSSRC != self.plan.localSSRC {
            self.sender = RTPSender(ssrc: plan.localSSRC, generator: &self.generator)
        }
        // What a held stream went on sending was not counted, and is no loss.
        if plan.receives && !self.plan.receives, let old = self.reception {
            self.lostBefore &+= old.lost
            self.reception = nil
        }
        self.plan = plan
        self.silence.expect(plan.receives, now: now)
    }

    /// The source that is received, and from where.
    var source: SSRC? { self.tracker.current }

    // MARK: Receiving

    /// Takes a packet whose payload type was found in the plan. `rate` 0: its timestamp says nothing about jitter.
    mutating func receive(
        _ packet: RTPPacket, from source: SocketAddress, rate: UInt32, now: Instant, _ outputs: inout OutputQueue
    ) -> Arrival {
        guard self.rtpLatch.admits(source), self.plan.receives else {
            self.counts.packetsDropped &+= 1
            return Arrival()
        }
        if rate > 0 { self.receivedRate = rate }
        var arrival = Arrival()
        switch self.tracker.admit(packet, now: now) {
        case .waiting: return arrival
        case .current: self.take(packet, rate: rate, now: now, into: &arrival)
        case .began(let packets):
            if let old = self.reception {
                self.lostBefore &+= old.lost
                outputs.push(.event(.sourceChanged(self.kind)))
            }
            self.reception = nil
            arrival.isNewEpoch = true
            for packet in packets { self.take(packet, rate: rate, now: now, into: &arrival) }
        }
        if !arrival.packets.isEmpty { self.noteHeard(now: now, &outputs) }
        return arrival
    }

    private mutating func take(_ packet: RTPPacket, rate: UInt32, now: Instant, into arrival: inout Arrival) {
        if self.reception == nil {
            self.reception = Reception(first: packet)
        } else {
            switch self.reception?.take(packet, rate: rate, now: now) ?? .wild {
            case .accepted: break
            case .duplicate:
                self.counts.packetsDuplicated &+= 1
                return
            case .wild:
                self.counts.packetsDropped &+= 1
                return
            case .restarted: arrival.isNewEpoch = true
            }
        }
        self.counts.packetsReceived &+= 1
        self.counts.bytesReceived &+= UInt64(packet.payload.count)
        arrival.packets.append(packet)
    }

    private mutating func noteHeard(now: Instant, _ outputs: inout OutputQueue) {
        switch self.silence.heard(now: now) {
        case .none: break
        case .resumed: outputs.push(.event(.resumed(self.kind)))
        }
        guard !self.hasBegun else { return }
        self.hasBegun = true
        outputs.push(.event(.firstPacket(self.kind)))
    }

    // MARK: Sending

    /// Whether media goes out at all.
    var canSend: Bool { self.plan.sends && self.rtpLatch.target != nil }

    mutating func send(_ packet: [UInt8], _ outputs: inout OutputQueue) {
        guard let target = self.rtpLatch.target else { return }
        self.reportsSinceSent = 0
        self.counts.packetsSent &+= 1
        self.counts.bytesSent &+= UInt64(packet.count)
        outputs.push(.send(packet, self.kind, .rtp, to: target))
    }

    // MARK: Time

    var deadline: Instant? {
        MediaClock.earlier(self.schedule.deadline, self.silence.deadline)
    }

    mutating func expire(now: Instant, ntpAtZero: NTPTime, _ outputs: inout OutputQueue) {
        if let since = self.silence.expire(now: now) {
            // Whoever speaks next may be elsewhere.
            self.rtpLatch.reopen()
            self.rtcpLatch.reopen()
            outputs.push(.event(.silent(self.kind, since: since)))
        }
        if self.schedule.expire(now: now, generator: &self.generator) {
            self.sendReport(with: [], now: now, ntpAtZero: ntpAtZero, &outputs)
            self.reportsSinceSent = min(2, self.reportsSinceSent + 1)
        }
    }

    var statistics: StreamStatistics {
        var counts = self.counts
        counts.packetsLost = self.lostBefore &+ (self.reception?.lost ?? 0)
        let jitter = UInt64(self.reception?.jitter ?? 0)
        counts.jitterMs = Int(clamping: jitter * 1000 / UInt64(max(1, self.receivedRate)))
        return counts
    }
}
