// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire
import XCTest

/// An engine with a clock of its own: every output is kept with the time it came at.
struct Bench {
    struct Sent {
        var at: Instant
        var bytes: [UInt8]
        var kind: StreamKind
        var channel: Channel
        var to: SocketAddress
    }

    var engine: MediaEngine
    private(set) var now = Instant(nanoseconds: 1_000_000_000_000)
    var sent: [Sent] = []
    var sounds: [AudioPacket] = []
    var pictures: [AccessUnit] = []
    var keyFrameOrders: [Instant] = []
    var rateOrders: [Int] = []
    var events: [MediaEvent] = []
    private(set) var wakeAt: Instant?
    /// Wake-ups since the clock last moved: a machine that asks again for the same moment never sleeps.
    private var wakesInPlace = 0

    init(seed: UInt64 = 1) {
        self.engine = MediaEngine(seed: seed)
    }

    mutating func give(_ input: MediaEngine.Input) {
        self.engine.handle(input, now: self.now)
        self.drain()
    }

    private mutating func drain() {
        while true {
            switch self.engine.pollOutput() {
            case .send(let bytes, let kind, let channel, let target):
                self.sent.append(Sent(at: self.now, bytes: bytes, kind: kind, channel: channel, to: target))
            case .audio(let packet): self.sounds.append(packet)
            case .video(let unit): self.pictures.append(unit)
            case .encodeKeyFrame: self.keyFrameOrders.append(self.now)
            case .encodeRate(let kbps): self.rateOrders.append(kbps)
            case .event(let event): self.events.append(event)
            case .wait(let until):
                self.wakeAt = until
                return
            }
        }
    }

    /// Lets time pass, with a timeout whenever the engine asked for one.
    mutating func pass(ms: Int) {
        self.pass(Duration.milliseconds(ms))
    }

    mutating func pass(_ span: Duration) {
        let end = self.now + span
        while let wakeAt = self.wakeAt, wakeAt <= end {
            self.wakesInPlace = wakeAt > self.now ? 0 : self.wakesInPlace + 1
            precondition(self.wakesInPlace < 10, "the engine asks for the same moment again and again")
            self.now = max(self.now, wakeAt)
            self.give(.timeout)
        }
        self.now = end
    }

    mutating func forget() {
        self.sent.removeAll()
        self.sounds.removeAll()
        self.pictures.removeAll()
        self.keyFrameOrders.removeAll()
        self.rateOrders.removeAll()
        self.events.removeAll()
    }

    /// RTCP that was sent, as packets with their times.
    func reports(_ kind: StreamKind) -> [(at: Instant, packets: [RTCPPacket])] {
        self.sent.filter { $0.kind == kind && RTCPCompound.isRTCP($0.bytes) }
            .map { ($0.at, (try? RTCPCompound.parse($0.bytes)) ?? []) }
    }

    func media(_ kind: StreamKind) -> [(at: Instant, packet: RTPPacket)] {
        self.sent.filter { $0.kind == kind && $0.channel == .rtp && !RTCPCompound.isRTCP($0.bytes) }
            .compactMap { sent in (try? RTPPacket.parse(sent.bytes)).map { (sent.at, $0) } }
    }

    /// When key frames were asked for.
    var pictureLosses: [Instant] {
        self.reports(.video).filter { report in
            report.packets.contains { packet in
                if case .pictureLoss = packet { return true }
                return false
            }
        }.map { $0.at }
    }
}

/// Addresses, plans and packets of the test call.
enum Call {
    static let peer = IPAddress.v4(0xC000_0201)
    static let audioRTP = SocketAddress(peer, port: 4000)
    static let audioRTCP = SocketAddress(peer, port: 4001)
    static let videoRTP = SocketAddress(peer, port: 4002)
    static let videoRTCP = SocketAddress(peer, port: 4003)
    static let stranger = SocketAddress(.v4(0xCB00_7109), port: 4000)
    static let pcmu = PayloadType(0)
    static let opus = PayloadType(107)
    static let events = PayloadType(101)
    static let h264 = PayloadType(96)
    /// The host of the peer's signalling, which translates the addresses of its media, too.
    static let signalling = IPAddress.v4(0xC633_6401)
    static let ourAudio = SSRC(0xA0A0)
    static let ourVideo = SSRC(0xB0B0)
    /// 2026-01-01 at the start of the clock.
    static let ntpAtZero = NTPTime(3_976_214_400 << 32)

    static func audio(
        rtp: SocketAddress = audioRTP, rtcp: SocketAddress = audioRTCP, mux: Bool = false, sends: Bool = true,
        receives: Bool = true, events: PayloadType? = events
    ) -> AudioPlan {
        AudioPlan(
            stream: StreamPlan(
                remoteRTP: rtp, remoteRTCP: rtcp, signalling: self.signalling, rtcpMux: mux, sends: sends,
                receives: receives, localSSRC: self.ourAudio, cname: "panel@example.com"),
            codec: .pcmu, sendPayloadType: self.pcmu,
            receivePayloadTypes: [AudioPayload(self.pcmu, .pcmu), AudioPayload(self.opus, .opus)],
            telephoneEventPayloadType: events)
    }

    static func video(
        rtp: SocketAddress = videoRTP, sends: Bool = true, receives: Bool = true,
        feedback: VideoFeedback = VideoFeedback(pli: true, fir: true), parameterSets: [[UInt8]] = []
    ) -> VideoPlan {
        VideoPlan(
            stream: StreamPlan(
                remoteRTP: rtp, remoteRTCP: self.videoRTCP, signalling: self.signalling, sends: sends,
                receives: receives, localSSRC: self.ourVideo, cname: "panel@example.com"),
            packetizationMode: .nonInterleaved, sendPayloadType: self.h264, receivePayloadTypes: [self.h264],
            feedback: feedback, parameterSets: parameterSets)
    }

    static func plan(audio: AudioPlan? = nil, video: VideoPlan? = nil) -> MediaPlan {
        MediaPlan(audio: audio, video: video, ntpAtZero: self.ntpAtZero)
    }
}

/// A peer that sends one stream.
struct PeerStream {
    var ssrc = SSRC(0x1111)
    var type = Call.pcmu
    var sequence = SequenceNumber(100)
    var timestamp = RTPTimestamp(5000)
    /// Clock units from one packet (sound) or picture to the next.
    var step: UInt32 = 160
    let packetizer = H264Packetizer(mode: .nonInterleaved, maxPayloadSize: 1200)

    static func video(ssrc: SSRC = SSRC(0x2222)) -> PeerStream {
        PeerStream(ssrc: ssrc, type: Call.h264, step: 3000)
    }

    private func packet(_ payload: [UInt8], marker: Bool) -> [UInt8] {
        RTPPacket(
            marker: marker, payloadType: self.type, sequence: self.sequence, timestamp: self.timestamp,
            ssrc: self.ssrc, payload: payload[...]
        ).printed()
    }

    mutating func sound(_ payload: [UInt8] = Array(repeating: 0xFF, count: 160)) -> [UInt8] {
        defer {
            self.sequence = self.sequence.next
            self.timestamp = self.timestamp.advanced(by: self.step)
        }
        return self.packet(payload, marker: false)
    }

    mutating func picture(key: Bool, size: Int = 100) -> [[UInt8]] {
        defer { self.timestamp = self.timestamp.advanced(by: self.step) }
        return self.packetizer.payloads(of: Pictures.units(key: key, size: size)).map { payload in
            defer { self.sequence = self.sequence.next }
            return self.packet(payload.bytes, marker: payload.marker)
        }
    }
}

/// Coded pictures as far as a depacketizer looks into them.
enum Pictures {
    /// 640 × 360, constrained baseline.
    static let sps: [UInt8] = [0x67, 0x42, 0xC0, 0x1F, 0xF4, 0x05, 0x01, 0x7F, 0xCA]
    static let pps: [UInt8] = [0x68, 0xC2]

    static func units(key: Bool, size: Int = 100) -> [[UInt8]] {
        // first_mb_in_slice 0, slice_type 7 (I) or 5 (P), picture parameter set 0.
        let head: [UInt8] = key ? [0x65, 0x88, 0x80] : [0x41, 0x9A, 0x80]
        let slice = head + Array(repeating: 0xAB, count: max(1, size - head.count))
        return key ? [self.sps, self.pps, slice] : [slice]
    }
}
