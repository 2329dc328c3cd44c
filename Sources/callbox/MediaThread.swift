// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import MediaEngine
import Picture
import RTPWire

/// What goes to the media thread.
enum MediaMessage {
    case start(MediaPlan, Generation)
    case update(MediaPlan)
    case stop
    case audioEncoded([UInt8], samples: UInt32, captured: Instant)
    case videoEncoded(EncodedPicture)
    case sendDigit(UInt8, durationMs: Int)
    case keyFrameDecoded
    case pictureBroken
}

/// The four datagram sockets of the media, bound once at start: ports stay the same for the kiosk's whole life.
struct MediaSockets: ~Copyable {
    var audioRTP: UDPSocket
    var audioRTCP: UDPSocket
    var videoRTP: UDPSocket
    var videoRTCP: UDPSocket

    /// Nothing longer than this is a packet of ours: an Ethernet frame's worth, and room for jumbo ones.
    static let datagramMax = 9000

    /// Even ports for RTP, the next odd one for RTCP (RFC 3550 section 11): the first four in a row that are free.
    init(ports: ClosedRange<UInt16>) throws(SocketError) {
        var base = UInt32(ports.lowerBound) + UInt32(ports.lowerBound & 1)
        while base + 3 <= UInt32(ports.upperBound) {
            let port = UInt16(base)
            if let all = Self.open(port) {
                self = all
                return
            }
            base += 2
        }
        throw .bind(0)
    }

    private init(
        _ audioRTP: consuming UDPSocket, _ audioRTCP: consuming UDPSocket, _ videoRTP: consuming UDPSocket,
        _ videoRTCP: consuming UDPSocket
    ) {
        self.audioRTP = audioRTP
        self.audioRTCP = audioRTCP
        self.videoRTP = videoRTP
        self.videoRTCP = videoRTCP
    }

    private static func open(_ port: UInt16) -> MediaSockets? {
        guard let one = Self.socket(port), let two = Self.socket(port + 1), let three = Self.socket(port + 2),
            let four = Self.socket(port + 3)
        else { return nil }
        return MediaSockets(one, two, three, four)
    }

    private static func socket(_ port: UInt16) -> UDPSocket? {
        try? UDPSocket(address: nil, port: port, datagramMax: Self.datagramMax)
    }

    var audioPorts: StreamPorts { StreamPorts(rtp: self.audioRTP.port, rtcp: self.audioRTCP.port) }
    var videoPorts: StreamPorts { StreamPorts(rtp: self.videoRTP.port, rtcp: self.videoRTCP.port) }

    func send(_ bytes: [UInt8], _ kind: StreamKind, _ channel: Channel, to remote: SocketAddress) {
        switch (kind, channel) {
        case (.audio, .rtp): self.audioRTP.send(bytes, to: remote)
        case (.audio, .rtcp): self.audioRTCP.send(bytes, to: remote)
        case (.video, .rtp): self.videoRTP.send(bytes, to: remote)
        case (.video, .rtcp): self.videoRTCP.send(bytes, to: remote)
        }
    }

    mutating func receive(_ kind: StreamKind, _ channel: Channel) -> Datagram {
        switch (kind, channel) {
        case (.audio, .rtp): return self.audioRTP.receive()
        case (.audio, .rtcp): return self.audioRTCP.receive()
        case (.video, .rtp): return self.videoRTP.receive()
        case (.video, .rtcp): return self.videoRTCP.receive()
        }
    }
}

/// Runs the media engine: four sockets, an inbox, one deadline.
final class MediaThread {
    private var engine: MediaEngine
    private var sockets: MediaSockets
    private let wires: Wires
    private var generation: Generation = 0
    private var countersAt: Instant?
    private static let countersIntervalMs = 1000
    /// Datagrams read at one turn from one socket, so that a flood on one does not starve the others.
    private static let datagramsATurn = 64
    private static let order: [(StreamKind, Channel)] = [
        (.audio, .rtp), (.audio, .rtcp), (.video, .rtp), (.video, .rtcp),
    ]

    init(sockets: consuming MediaSockets, wires: Wires, seed: UInt64) {
        self.sockets = sockets
        self.wires = wires
        self.engine = MediaEngine(seed: seed)
    }

    func run() {
        let poller = Poller()
        poller.watch(self.sockets.audioRTP.descriptor, token: 0)
        poller.watch(self.sockets.audioRTCP.descriptor, token: 1)
        poller.watch(self.sockets.videoRTP.descriptor, token: 2)
        poller.watch(self.sockets.videoRTCP.descriptor, token: 3)
        poller.watch(self.wires.media.wakeup, token: 4)
        var deadline: Instant?
        while true {
            let limit = [deadline, self.countersAt].compactMap { $0 }.min()
            for ready in poller.wait(until: limit) {
                if ready.token == 4 {
                    self.readInbox()
                } else {
                    let (kind, channel) = Self.order[Int(ready.token)]
                    self.readSocket(kind, channel)
                }
            }
            self.engine.handle(.timeout, now: Clock.now())
            deadline = self.drain()
            self.reportCounters()
        }
    }

    private func readSocket(_ kind: StreamKind, _ channel: Channel) {
        for _ in 0..<Self.datagramsATurn {
            switch self.sockets.receive(kind, channel) {
            case .received(let bytes, let from, _):
                self.engine.handle(.received(bytes, kind, channel, from: from), now: Clock.now())
                _ = self.drain()
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
            self.engine.handle(self.input(for: message), now: Clock.now())
            _ = self.drain()
        }
    }

    private func input(for message: MediaMessage) -> MediaEngine.Input {
        switch message {
        case .start(let plan, let generation):
            self.generation = generation
            self.countersAt = Clock.now() + .milliseconds(Self.countersIntervalMs)
            return .start(plan)
        case .update(let plan):
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
        }
    }

    /// Carries out what the engine wants, until it has nothing more to say; returns what it waits for.
    private func drain() -> Instant? {
        while true {
            switch self.engine.pollOutput() {
            case .send(let bytes, let kind, let channel, let remote):
                self.sockets.send(bytes, kind, channel, to: remote)
            case .audio(let packet):
                self.wires.sound.put(.packet(packet))
            case .video(let unit):
                self.wires.decoder.put(.unit(unit, self.generation))
            case .encodeKeyFrame:
                self.wires.camera.order(.encodeKeyFrame)
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
        self.wires.report(.counters(counters), self.generation)
    }
}
