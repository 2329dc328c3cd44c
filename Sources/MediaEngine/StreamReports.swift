// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// RTCP of one stream.
extension StreamCore {
    /// What the peer's RTCP asks of the stream.
    struct Feedback {
        /// By PLI or FIR.
        var wantsKeyFrame = false
        /// What of our packets was lost since the report before, in 1/256; nil where none tells.
        var fractionLost: UInt8?
        /// What the peer lets us send at most; its headers count (TMMBR).
        var bound: RateBound?
        /// What it is able to receive, in bits a second (REMB).
        var receivable: UInt64?
    }

    /// Takes one datagram of RTCP. Feedback alone, without a report before it, is accepted: widespread peers send it
    /// so.
    mutating func receiveReports(
        _ bytes: [UInt8], from source: SocketAddress, channel: Channel, now: Instant, ntpAtZero: NTPTime,
        _ outputs: inout OutputQueue
    ) -> Feedback {
        var feedback = Feedback()
        guard self.admitsReports(from: source, channel: channel),
            let packets = try? RTCPCompound.parse(bytes, reducedSize: true)
        else {
            self.counts.packetsDropped &+= 1
            return feedback
        }
        if channel == .rtcp { _ = self.rtcpLatch.admits(source) }
        let ntp = ntpAtZero.advanced(byNanoseconds: now.nanoseconds)
        for packet in packets { self.take(packet, now: now, ntp: ntp, into: &feedback, &outputs) }
        return feedback
    }

    /// Reports come from the hosts of the call, whatever their port; on the port of RTP only where that was agreed.
    private func admitsReports(from source: SocketAddress, channel: Channel) -> Bool {
        guard channel == .rtcp || self.plan.rtcpMux else { return false }
        return source.address == self.plan.remoteRTCP.address || source.address == self.plan.remoteRTP.address
            || source.address == self.rtpLatch.target?.address
    }

    private mutating func take(
        _ packet: RTCPPacket, now: Instant, ntp: NTPTime, into feedback: inout Feedback, _ outputs: inout OutputQueue
    ) {
        switch packet {
        case .senderReport(let report):
            self.counts.reportsReceived &+= 1
            self.reception?.noteSenderReport(report, now: now)
            self.take(report.blocks, ntp: ntp, into: &feedback)
        case .receiverReport(_, let blocks):
            self.counts.reportsReceived &+= 1
            self.take(blocks, ntp: ntp, into: &feedback)
        case .bye(let sources, _): self.takeBye(sources, &outputs)
        case .pictureLoss:
            // The source it names is not compared: gateways between two calls forget to translate it.
            self.counts.pliReceived &+= 1
            feedback.wantsKeyFrame = true
        case .fullIntra:
            self.counts.firReceived &+= 1
            feedback.wantsKeyFrame = true
        case .nack: self.counts.nackReceived &+= 1
        case .rateRequest(let sender, let bounds):
            // The notice names the one who asked.
            guard var bound = bounds.last(where: { $0.source == self.sender.ssrc }) else { return }
            self.counts.tmmbrReceived &+= 1
            bound.source = sender
            feedback.bound = bound
        case .receivableRate(_, let rate, let sources) where sources.contains(self.sender.ssrc):
            self.counts.rembReceived &+= 1
            feedback.receivable = rate
        case .sourceDescription, .application, .rateNotice, .receivableRate, .feedback, .unknown: break
        }
    }

    private mutating func take(_ blocks: [ReportBlock], ntp: NTPTime, into feedback: inout Feedback) {
        for block in blocks where block.source == self.sender.ssrc {
            feedback.fractionLost = max(feedback.fractionLost ?? 0, block.fractionLost)
            self.counts.remoteFractionLost = block.fractionLost
            self.counts.remotePacketsLost = block.cumulativeLost
            guard block.lastSenderReport != 0 else { continue }
            // RFC 3550 section 6.4.1; a difference below zero is rounding at the peer.
            let units = Int32(
                bitPattern: ntp.compact &- block.lastSenderReport &- block.delaySinceLastSenderReport)
            let milliseconds = Int(Int64(max(0, units)) * 1000 / 65_536)
            if milliseconds <= MediaLimits.roundTripMsMax { self.counts.roundTripMs = milliseconds }
        }
    }

    private mutating func takeBye(_ sources: [SSRC], _ outputs: inout OutputQueue) {
        guard let current = self.source, sources.isEmpty || sources.contains(current), self.byeFrom != current else {
            return
        }
        self.byeFrom = current
        outputs.push(.event(.byeReceived(self.kind)))
    }

    // MARK: Sending

    /// Sends a report and, in the same datagram, `extra` (feedback or BYE).
    mutating func sendReport(
        with extra: [RTCPPacket], now: Instant, ntpAtZero: NTPTime, _ outputs: inout OutputQueue
    ) {
        let ownTarget = self.plan.rtcpMux ? self.rtpLatch.target : self.rtcpLatch.target
        guard let target = ownTarget else { return }
        let ntp = ntpAtZero.advanced(byNanoseconds: now.nanoseconds)
        // A stream that we told to stop is not reported on: some peers take that for trouble of the other direction.
        let blocks = self.plan.receives ? self.reception?.reportBlock(now: now).map { [$0] } ?? [] : []
        var packets: [RTCPPacket] = []
        if self.reportsSinceSent < 2, let report = self.sender.report(now: now, ntpTime: ntp, blocks: blocks) {
            packets.append(.senderReport(report))
        } else {
            packets.append(.receiverReport(self.sender.ssrc, blocks))
        }
        packets.append(.sourceDescription([SourceDescription(ssrc: self.sender.ssrc, cname: self.plan.cname)]))
        self.counts.reportsSent &+= 1
        let bytes = RTCPCompound.print(packets + extra)
        outputs.push(.send(bytes, self.kind, self.plan.rtcpMux ? .rtp : .rtcp, to: target))
    }

    /// Leaves the session. Who never said anything leaves without a word (RFC 3550 section 6.3.7).
    mutating func sendBye(now: Instant, ntpAtZero: NTPTime, _ outputs: inout OutputQueue) {
        guard self.counts.packetsSent > 0 || self.counts.reportsSent > 0 else { return }
        let bye = RTCPPacket.bye([self.sender.ssrc], reason: nil)
        self.sendReport(with: [bye], now: now, ntpAtZero: ntpAtZero, &outputs)
    }
}
