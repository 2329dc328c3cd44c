// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire

/// Datagrams one after another into a call's media. Each stands behind a byte that says where it comes in and when, and
/// a byte of length.
func fuzzRTP(_ input: [UInt8]) {
    var pieces = Pieces(input)
    var call = MediaCall()
    while !pieces.isEmpty {
        let how = pieces.byte()
        let datagram = pieces.bytes(Int(pieces.byte()))
        checkPacket(datagram)
        call.take(datagram, how & 1 == 0 ? .audio : .video, .rtp, afterMs: Int(how >> 1))
    }
    checkPacket(input)
}

private func checkPacket(_ datagram: [UInt8]) {
    guard let packet = try? RTPPacket.parse(datagram) else { return }
    let again = try? RTPPacket.parse(packet.printed())
    require(again?.payload == packet.payload, "the payload survives")
    require(again?.sequence == packet.sequence && again?.timestamp == packet.timestamp, "its place survives")
    require(again?.ssrc == packet.ssrc && again?.contributors == packet.contributors, "its sources survive")
    require(again?.marker == packet.marker && again?.payloadType == packet.payloadType, "what it is survives")
    _ = OpusPacket.samples(packet.payload)
    if let event = TelephoneEvent.parse(packet.payload) {
        require(TelephoneEvent.parse(event.printed()[...]) == event, "an event survives")
    }
}

/// The media of a call whose far end sends anything.
struct MediaCall {
    private static let peer = SocketAddress(.v4(0xC000_0201), port: 4_000)

    private var engine = MediaEngine(seed: 1)
    private var playout = PlayoutBuffer()
    private var now = Instant(nanoseconds: 1_000_000_000_000)

    init() {
        self.engine.handle(.start(Self.plan), now: self.now)
        self.drain()
    }

    mutating func take(_ datagram: [UInt8], _ kind: StreamKind, _ channel: Channel, afterMs: Int) {
        self.now = self.now + Duration.milliseconds(afterMs)
        self.engine.handle(.received(datagram, kind, channel, from: Self.peer), now: self.now)
        self.drain()
        self.engine.handle(.timeout, now: self.now)
        self.drain()
        for _ in 0...afterMs / 10 { _ = self.playout.next(now: self.now) }
    }

    private mutating func drain() {
        for _ in 0..<4_096 {
            switch self.engine.pollOutput() {
            case .video(let unit): require(unit.isComplete, "only whole pictures are shown")
            case .audio(let packet): self.playout.insert(packet, now: self.now)
            case .wait: return
            case .send, .encodeKeyFrame, .encodeRate, .event: break
            }
        }
        fatalError("the engine comes to rest")
    }

    private static var plan: MediaPlan {
        func stream(_ ssrc: UInt32) -> StreamPlan {
            StreamPlan(
                remoteRTP: self.peer, remoteRTCP: self.peer, sends: true, receives: true, localSSRC: SSRC(ssrc),
                cname: "c")
        }
        let audio = AudioPlan(
            stream: stream(1), codec: .pcmu, sendPayloadType: PayloadType(0),
            receivePayloadTypes: [AudioPayload(PayloadType(0), .pcmu), AudioPayload(PayloadType(107), .opus)],
            telephoneEventPayloadType: PayloadType(101))
        let video = VideoPlan(
            stream: stream(2), packetizationMode: .nonInterleaved, sendPayloadType: PayloadType(96),
            receivePayloadTypes: [PayloadType(96)], feedback: VideoFeedback(pli: true, fir: true))
        return MediaPlan(audio: audio, video: video, ntpAtZero: NTPTime(3_976_214_400 << 32))
    }
}
