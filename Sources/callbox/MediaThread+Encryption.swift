// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import MediaEngine
import Reach
import SDPWire
import Secure

/// Between the engine's packets and what goes over the network.
extension MediaThread {
    func protect(_ message: MediaMessage) {
        switch message {
        case .start(let plan, let protection, _):
            self.audioGuard.reset()
            self.videoGuard.reset()
            self.protect(plan, protection)
        case .update(let plan, let protection):
            self.protect(plan, protection)
        case .stop, .audioEncoded, .videoEncoded, .sendDigit, .keyFrameDecoded, .pictureBroken, .findWays, .forgetWays:
            break
        }
    }

    private func protect(_ plan: MediaPlan, _ protection: MediaProtection) {
        let now = Clock.now()
        self.plan = plan
        self.ways.apply(protection, now: now)
        self.open(protection.ports)
        let (audio, video) = (plan.audio?.stream, plan.video?.stream)
        self.audioGuard.apply(protection.audio, isMuxed: audio?.rtcpMux ?? false, now: now) {
            audio?.mayComeFrom($0) ?? false
        }
        self.videoGuard.apply(protection.video, isMuxed: video?.rtcpMux ?? false, now: now) {
            video?.mayComeFrom($0) ?? false
        }
    }

    func unprotect() {
        self.plan = nil
        self.unsent = []
        self.open(nil)
        self.audioGuard.reset()
        self.videoGuard.reset()
    }

    func stream(_ kind: StreamKind) -> StreamPlan? {
        switch kind {
        case .audio: return self.plan?.audio?.stream
        case .video: return self.plan?.video?.stream
        }
    }

    /// The packet that goes out for one of ours; nil: nothing may.
    func closed(_ bytes: [UInt8], _ kind: StreamKind, _ channel: Channel) -> [UInt8]? {
        switch kind {
        case .audio: return self.audioGuard.protect(bytes, onControlSocket: channel == .rtcp)
        case .video: return self.videoGuard.protect(bytes, onControlSocket: channel == .rtcp)
        }
    }

    /// The packet that a datagram has for the engine; nil: none. Handshakes are only with whom the stream may be with.
    func opened(
        _ bytes: [UInt8], _ kind: StreamKind, _ channel: Channel, from source: SocketAddress
    ) -> [UInt8]? {
        if StreamGuard.isHandshake(bytes), let stream = self.stream(kind), !stream.mayComeFrom(source) { return nil }
        defer { if StreamGuard.isHandshake(bytes) { self.shakeHands() } }
        switch kind {
        case .audio: return self.audioGuard.receive(bytes, from: source, onControlSocket: channel == .rtcp)
        case .video: return self.videoGuard.receive(bytes, from: source, onControlSocket: channel == .rtcp)
        }
    }

    var handshakeDeadline: Instant? {
        let now = Clock.now()
        return [self.audioGuard.deadline(now: now), self.videoGuard.deadline(now: now)].compactMap { $0 }.min()
    }

    /// Sends what handshakes have to say, and tells what came of them.
    func shakeHands() {
        self.send(self.audioGuard.takeDatagrams(), .audio)
        self.send(self.videoGuard.takeDatagrams(), .video)
        if let news = self.audioGuard.takeNews() { self.report(news, .audio) }
        if let news = self.videoGuard.takeNews() { self.report(news, .video) }
    }

    private func send(_ datagrams: [StreamGuard.Outgoing], _ kind: StreamKind) {
        guard let stream = self.stream(kind) else { return }
        for outgoing in datagrams {
            let announced = outgoing.onControlSocket ? stream.remoteRTCP : stream.remoteRTP
            let channel = outgoing.onControlSocket ? Channel.rtcp : .rtp
            let isGone = self.transmit(outgoing.datagram, kind, channel, to: outgoing.to ?? announced)
            if !isGone, self.unsent.count < Self.unsentMax { self.unsent.append((outgoing.datagram, kind, channel)) }
        }
    }

    private func report(_ news: StreamGuard.News, _ kind: StreamKind) {
        switch news {
        case .failed(let text): self.wires.report(.notSecured(kind, text), self.generation)
        case .wearsOut: self.wires.report(.keysWearOut, self.generation)
        case .secured:
            self.wires.report(.secured(kind), self.generation)
            // What was encoded before went nowhere.
            if kind == .video { self.wires.camera.order(.encodeKeyFrame) }
        }
    }
}

extension StreamStatistics {
    mutating func count(_ counts: StreamGuard.Counts) {
        self.packetsForged = counts.forged
        self.packetsReplayed = counts.replayed
        self.packetsUnkeyed = counts.unkeyed
    }
}
