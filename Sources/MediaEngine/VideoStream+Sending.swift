// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// Pictures to the peer, and what it says of them.
extension VideoStream {
    mutating func encoded(
        _ nalUnits: [[UInt8]], isKeyFrame: Bool, captured: Instant, now: Instant, _ outputs: inout OutputQueue
    ) {
        guard self.core.canSend else { return }
        let timestamp = self.core.sender.timestamp(captured: captured, rate: MediaClock.videoRate)
        var packets: [[UInt8]] = []
        for payload in self.packetizer.payloads(of: nalUnits) {
            packets.append(
                self.core.sender.packet(
                    payload.bytes, type: self.plan.sendPayloadType, timestamp: timestamp, marker: payload.marker))
        }
        guard !packets.isEmpty else { return }
        self.core.counts.framesSent &+= 1
        if isKeyFrame {
            self.core.counts.keyFramesSent &+= 1
            self.orders.keyFrameSent(now: now)
        }
        let frameTime = Duration.milliseconds(1000 / max(1, self.plan.framesPerSecond))
        for packet in self.pacer.push(packets, frameTime: frameTime, now: now) { self.core.send(packet, &outputs) }
    }

    mutating func orderKeyFrame(now: Instant, _ outputs: inout OutputQueue) {
        if self.orders.request(now: now) { outputs.push(.encodeKeyFrame) }
    }

    mutating func take(
        _ feedback: StreamCore.Feedback, now: Instant, ntpAtZero: NTPTime, _ outputs: inout OutputQueue
    ) {
        guard self.core.canSend else { return }
        if feedback.wantsKeyFrame { self.orderKeyFrame(now: now, &outputs) }
        self.takeRates(feedback, now: now, &outputs)
        if let bound = feedback.bound { self.notice(bound, now: now, ntpAtZero: ntpAtZero, &outputs) }
        // A peer that cannot ask shows by its reports that it has a broken picture.
        guard let lost = feedback.fractionLost, lost > 0, !self.canBeAsked else { return }
        let spacing = Duration.milliseconds(MediaLimits.keyFrameOnLossSpacingMs)
        if let last = self.orderedOnLossAt, last + spacing > now { return }
        self.orderedOnLossAt = now
        self.orderKeyFrame(now: now, &outputs)
    }

    private mutating func takeRates(_ feedback: StreamCore.Feedback, now: Instant, _ outputs: inout OutputQueue) {
        if let bound = feedback.bound {
            let rate = GrantedRate.kbps(bound, payloadBytes: self.plan.maxPayloadSize)
            self.order(self.rate.grant(rate), &outputs)
        }
        if let receivable = feedback.receivable {
            self.order(self.rate.grant(GrantedRate.kbps(receivable: receivable)), &outputs)
        }
        if let lost = feedback.fractionLost { self.order(self.rate.lose(lost, now: now), &outputs) }
    }

    /// Tells that the bound holds (RFC 5104 section 4.2.2).
    private mutating func notice(
        _ bound: RateBound, now: Instant, ntpAtZero: NTPTime, _ outputs: inout OutputQueue
    ) {
        let spacing = Duration.milliseconds(MediaLimits.rateNoticeSpacingMs)
        if let last = self.noticedAt, last + spacing > now { return }
        self.noticedAt = now
        let notice = RTCPPacket.rateNotice(sender: self.core.sender.ssrc, [bound])
        self.core.sendReport(with: [notice], now: now, ntpAtZero: ntpAtZero, &outputs)
    }

    mutating func order(_ rate: Int?, _ outputs: inout OutputQueue) {
        guard let rate else { return }
        self.core.counts.encodeRateKbps = rate
        outputs.push(.encodeRate(kbps: rate))
    }
}
