// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import MediaEngine
import Picture
import RTPWire
import Reach
import SDPWire
import Secure

/// What goes to the media thread.
enum MediaMessage {
    case start(MediaPlan, MediaProtection, Generation)
    case update(MediaPlan, MediaProtection)
    case stop
    case audioEncoded([UInt8], samples: UInt32, captured: Instant)
    case videoEncoded(EncodedPicture)
    case sendDigit(UInt8, durationMs: Int)
    case keyFrameDecoded
    case pictureBroken
    case findWays(ICESearch)
    case forgetWays
}

/// Runs the media engine: four sockets, an inbox, one deadline; between engine and sockets, whoever encrypts; in place
/// of the sockets, ways that were found by ICE.
final class MediaThread {
    private var engine: MediaEngine
    var sockets: MediaSockets
    /// Of a call whose far end was offered other ports than those; nil for all other calls.
    var callSockets: MediaSockets?
    /// What `callSockets` are to be as soon as they can be had.
    var wantedPorts: MediaPorts?
    let ways: MediaWays
    /// Datagrams of handshakes for which there was no way yet.
    var unsent: [(datagram: [UInt8], StreamKind, Channel)] = []
    var audioGuard: StreamGuard
    var videoGuard: StreamGuard
    var plan: MediaPlan?
    let wires: Wires
    let poller = Poller()
    var generation: Generation = 0
    private var countersAt: Instant?
    private static let countersIntervalMs = 1000
    /// Datagrams read at one turn from one socket, so that a flood on one does not starve the others.
    private static let datagramsATurn = 64
    private static let inboxToken: UInt64 = 8
    static let waysTokens: UInt64 = 100
    /// Of the tokens of four sockets.
    static let order: [(StreamKind, Channel)] = [
        (.audio, .rtp), (.audio, .rtcp), (.video, .rtp), (.video, .rtcp),
    ]

    init(sockets: consuming MediaSockets, ways: MediaWays, wires: Wires, seed: UInt64, identity: DTLSIdentity?) {
        self.sockets = sockets
        self.ways = ways
        self.wires = wires
        self.engine = MediaEngine(seed: seed)
        self.audioGuard = StreamGuard(identity)
        self.videoGuard = StreamGuard(identity)
    }

    func run() {
        self.sockets.watch(self.poller, tokenBase: 0)
        self.poller.watch(self.wires.media.wakeup, token: Self.inboxToken)
        var deadline: Instant?
        while true {
            let limit = [deadline, self.countersAt, self.handshakeDeadline, self.ways.deadline].compactMap { $0 }.min()
            for ready in self.wait(until: limit) {
                if ready.token == Self.inboxToken {
                    self.readInbox()
                } else if self.ways.owns(token: ready.token) {
                    self.take(self.ways.handle(ready, self.poller, now: Clock.now()))
                } else {
                    self.readSocket(Int(ready.token))
                }
            }
            self.audioGuard.expire(now: Clock.now())
            self.videoGuard.expire(now: Clock.now())
            self.shakeHands()
            self.engine.handle(.timeout, now: Clock.now())
            deadline = self.drain()
            self.reportCounters()
        }
    }

    private func wait(until limit: Instant?) -> [Readiness] {
        guard self.ways.isAwake else { return self.poller.wait(until: limit) }
        self.ways.wait(self.poller, until: limit)
        self.take(self.ways.takeEvents(self.poller, now: Clock.now()))
        self.openWanted()
        return self.poller.wait(until: .zero)
    }

    func take(_ datagram: [UInt8], _ kind: StreamKind, _ channel: Channel, from source: SocketAddress) {
        guard let packet = self.opened(datagram, kind, channel, from: source) else { return }
        self.engine.handle(.received(packet, kind, channel, from: source), now: Clock.now())
        _ = self.drain()
    }

    private func readSocket(_ token: Int) {
        let (kind, channel) = Self.order[token % Self.order.count]
        for _ in 0..<Self.datagramsATurn {
            let isOfCall = token >= Self.order.count
            let datagram = isOfCall ? self.callSockets?.receive(kind, channel) : self.sockets.receive(kind, channel)
            switch datagram ?? .empty {
            case .received(let bytes, let from, _):
                // What was agreed upon comes by ICE, or to the call's own ports.
                if self.ways.carries(kind) || isOfCall != (self.callSockets != nil) { continue }
                self.take(bytes, kind, channel, from: from)
            case .refused, .unusable:
                continue
            case .empty:
                return
            }
        }
    }

    private func readInbox() {
        self.wires.media.acknowledge()
        while let message = self.wires.media.take() {
            if self.order(message) { continue }
            self.protect(message)
            self.engine.handle(self.input(for: message), now: Clock.now())
            _ = self.drain()
            self.shakeHands()
            // Only now: the last packets of a call are encrypted as all before.
            if case .stop = message { self.unprotect() }
        }
    }

    private func input(for message: MediaMessage) -> MediaEngine.Input {
        switch message {
        case .start(let plan, _, let generation):
            self.generation = generation
            self.countersAt = Clock.now() + .milliseconds(Self.countersIntervalMs)
            return .start(plan)
        case .update(let plan, _):
            return .update(plan)
        case .stop:
            self.countersAt = nil
            return .stop
        case .audioEncoded(let payload, let samples, let captured):
            return .audioEncoded(payload, samples: samples, captured: captured)
        case .videoEncoded(let picture):
            return .videoEncoded(picture.nalUnits, isKeyFrame: picture.isKeyFrame, captured: picture.captured)
        case .sendDigit(let key, let durationMs):
            return .sendDigit(key, durationMs: durationMs)
        case .keyFrameDecoded:
            return .keyFrameDecoded
        case .pictureBroken:
            return .pictureBroken
        case .findWays, .forgetWays:
            return .timeout
        }
    }

    /// Carries out what the engine wants, until it has nothing more to say; returns what it waits for.
    private func drain() -> Instant? {
        while true {
            switch self.engine.pollOutput() {
            case .send(let bytes, let kind, let channel, let remote):
                guard let packet = self.closed(bytes, kind, channel) else { continue }
                self.transmit(packet, kind, channel, to: remote)
            case .audio(let packet):
                self.wires.sound.put(.packet(packet))
            case .video(let unit):
                self.wires.decoder.put(.unit(unit, self.generation))
            case .encodeKeyFrame:
                self.wires.camera.order(.encodeKeyFrame)
            case .encodeRate(let kbps):
                // As often as the far end likes: only the newest counts, and orders are not to be pushed out.
                self.wires.camera.put(.encodeRate(kbps: kbps))
            case .event(let event):
                self.report(event)
            case .wait(let deadline):
                return deadline
            }
        }
    }

    private func report(_ event: MediaEvent) {
        switch event {
        case .firstPacket(let kind): self.wires.report(.firstPacket(kind), self.generation)
        case .silent(let kind, let since): self.wires.report(.silent(kind, since: since), self.generation)
        case .resumed(let kind): self.wires.report(.resumed(kind), self.generation)
        case .byeReceived(let kind): self.wires.report(.byeReceived(kind), self.generation)
        case .digit(let key): self.wires.report(.digit(key), self.generation)
        case .keyFrameWanted: self.wires.report(.keyFrameWanted, self.generation)
        case .sourceChanged: break
        }
    }

    private func reportCounters() {
        guard let due = self.countersAt, due <= Clock.now() else { return }
        self.countersAt = due + .milliseconds(Self.countersIntervalMs)
        var counters = self.wires.counters.read()
        counters.streams = self.engine.statistics
        counters.streams.audio.count(self.audioGuard.counts)
        counters.streams.video.count(self.videoGuard.counts)
        self.wires.report(.counters(counters), self.generation)
    }
}
