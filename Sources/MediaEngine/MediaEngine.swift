// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// The media of one call at a time: RTP and RTCP of an audio and a video stream.
///
/// One mutation, then drain: `handle(input, now)`, then `pollOutput()` until it gives `.wait`. No clock, no socket, no
/// randomness but the seed. Every input also does what has come due; a `.timeout` too many is harmless.
public struct MediaEngine {
    public enum Input {
        /// Begins a call's media; what ran before is forgotten without a word.
        case start(MediaPlan)
        /// Applies a new offer/answer to the running streams.
        case update(MediaPlan)
        /// Ends the media with RTCP BYE.
        case stop
        /// One datagram from the socket of that stream and channel.
        case received([UInt8], StreamKind, Channel, from: SocketAddress)
        /// One encoded packet; `samples` is its length at the codec's RTP clock.
        case audioEncoded([UInt8], samples: UInt32, captured: Instant)
        /// One encoded picture as NAL units without start codes.
        case videoEncoded([[UInt8]], isKeyFrame: Bool, captured: Instant)
        /// Send a key press (ASCII digit, `*`, `#`, `A`–`D`) as telephone-event. Dropped where not agreed.
        case sendDigit(UInt8, durationMs: Int)
        /// The decoder gave a picture from the last key frame delivered.
        case keyFrameDecoded
        /// The decoder failed: hold pictures and ask for a key frame.
        case pictureBroken
        case timeout
    }

    public enum Output {
        case send([UInt8], StreamKind, Channel, to: SocketAddress)
        /// For the playout buffer.
        case audio(AudioPacket)
        /// For the decoder: complete, in order, never after a loss without a key frame.
        case video(AccessUnit)
        /// The encoder's next picture must be an IDR.
        case encodeKeyFrame
        /// From the next picture on the encoder makes at most so much. First when pictures begin.
        case encodeRate(kbps: Int)
        case event(MediaEvent)
        /// The last output: nothing to do until then (or, if nil, until the next input).
        case wait(until: Instant?)
    }

    private struct Running {
        var audio: AudioStream?
        var video: VideoStream?
        var ntpAtZero: NTPTime
    }

    /// A source of a call that is over: its last packets may still be under way to the same ports.
    private struct FormerSource {
        var ssrc: SSRC
        var until: Instant
    }

    private var running: Running?
    private var former: [FormerSource] = []
    private var outputs = OutputQueue()
    private var generator: Generator
    /// Of streams that ended since the last start.
    private var ended = MediaStatistics()

    public init(seed: UInt64) {
        self.generator = Generator(seed: seed)
    }

    /// Of the running call, or of the last one.
    public var statistics: MediaStatistics {
        var statistics = self.ended
        if let audio = self.running?.audio { statistics.audio = audio.core.statistics }
        if let video = self.running?.video { statistics.video = video.core.statistics }
        return statistics
    }

    public mutating func handle(_ input: Input, now: Instant) {
        switch input {
        case .start(let plan): self.start(plan, now: now)
        case .update(let plan): self.update(plan, now: now)
        case .stop: self.stop(now: now)
        case .received(let bytes, let kind, let channel, let source):
            self.receive(bytes, kind, channel, from: source, now: now)
        case .audioEncoded(let payload, let samples, let captured):
            self.running?.audio?.encoded(payload, samples: samples, captured: captured, &self.outputs)
        case .videoEncoded(let nalUnits, let isKeyFrame, let captured):
            self.running?.video?.encoded(
                nalUnits, isKeyFrame: isKeyFrame, captured: captured, now: now, &self.outputs)
        case .sendDigit(let key, let durationMs):
            self.running?.audio?.sendDigit(key, durationMs: durationMs, now: now)
        case .keyFrameDecoded: self.running?.video?.keyFrameDecoded()
        case .pictureBroken: self.running?.video?.pictureBroken(now: now)
        case .timeout: break
        }
        self.expire(now: now)
    }

    public mutating func pollOutput() -> Output {
        if let output = self.outputs.pop() { return output }
        return .wait(until: MediaClock.earlier(self.running?.audio?.deadline, self.running?.video?.deadline))
    }

    private mutating func expire(now: Instant) {
        guard let ntpAtZero = self.running?.ntpAtZero else { return }
        self.running?.audio?.expire(now: now, ntpAtZero: ntpAtZero, &self.outputs)
        self.running?.video?.expire(now: now, ntpAtZero: ntpAtZero, &self.outputs)
    }
}

// MARK: - Calls

extension MediaEngine {
    private mutating func start(_ plan: MediaPlan, now: Instant) {
        self.remember(self.running?.audio?.core.source, now: now)
        self.remember(self.running?.video?.core.source, now: now)
        self.ended = MediaStatistics()
        self.running = Running(audio: nil, video: nil, ntpAtZero: plan.ntpAtZero)
        self.apply(plan, now: now)
    }

    private mutating func update(_ plan: MediaPlan, now: Instant) {
        guard self.running != nil else { return self.start(plan, now: now) }
        self.running?.ntpAtZero = plan.ntpAtZero
        self.apply(plan, now: now)
    }

    /// Begins, changes or ends each stream as the plan has it.
    private mutating func apply(_ plan: MediaPlan, now: Instant) {
        if let audio = plan.audio {
            if self.running?.audio == nil {
                self.running?.audio = AudioStream(plan: audio, seed: self.generator.next(), now: now)
            } else {
                self.running?.audio?.update(audio, now: now)
            }
        } else {
            self.endAudio(now: now)
        }
        if let video = plan.video {
            if self.running?.video == nil {
                self.running?.video = VideoStream(
                    plan: video, seed: self.generator.next(), now: now, &self.outputs)
            } else {
                self.running?.video?.update(video, now: now, &self.outputs)
            }
        } else {
            self.endVideo(now: now)
        }
    }

    private mutating func stop(now: Instant) {
        self.remember(self.running?.audio?.core.source, now: now)
        self.remember(self.running?.video?.core.source, now: now)
        self.endAudio(now: now)
        self.endVideo(now: now)
        self.running = nil
    }

    private mutating func endAudio(now: Instant) {
        guard let running = self.running, var audio = running.audio else { return }
        audio.core.sendBye(now: now, ntpAtZero: running.ntpAtZero, &self.outputs)
        self.ended.audio = audio.core.statistics
        self.running?.audio = nil
    }

    private mutating func endVideo(now: Instant) {
        guard let running = self.running, var video = running.video else { return }
        video.core.sendBye(now: now, ntpAtZero: running.ntpAtZero, &self.outputs)
        self.ended.video = video.core.statistics
        self.running?.video = nil
    }

    private mutating func remember(_ source: SSRC?, now: Instant) {
        guard let source else { return }
        if self.former.count == MediaLimits.formerSourcesMax { self.former.removeFirst() }
        self.former.append(
            FormerSource(ssrc: source, until: now + Duration.milliseconds(MediaLimits.formerSourceMs)))
    }
}

// MARK: - Receiving

extension MediaEngine {
    private mutating func receive(
        _ bytes: [UInt8], _ kind: StreamKind, _ channel: Channel, from source: SocketAddress, now: Instant
    ) {
        switch (kind, channel == .rtcp || self.isMuxed(kind) && RTCPCompound.isRTCP(bytes)) {
        case (.audio, false): self.receiveAudio(bytes, from: source, now: now)
        case (.video, false): self.receiveVideo(bytes, from: source, now: now)
        case (.audio, true):
            guard let ntpAtZero = self.running?.ntpAtZero else { return }
            _ = self.running?.audio?.core.receiveReports(
                bytes, from: source, channel: channel, now: now, ntpAtZero: ntpAtZero, &self.outputs)
        case (.video, true):
            guard let ntpAtZero = self.running?.ntpAtZero else { return }
            let feedback = self.running?.video?.core.receiveReports(
                bytes, from: source, channel: channel, now: now, ntpAtZero: ntpAtZero, &self.outputs)
            if let feedback { self.running?.video?.take(feedback, now: now, ntpAtZero: ntpAtZero, &self.outputs) }
        }
    }

    private func isMuxed(_ kind: StreamKind) -> Bool {
        switch kind {
        case .audio: return self.running?.audio?.core.plan.rtcpMux ?? false
        case .video: return self.running?.video?.core.plan.rtcpMux ?? false
        }
    }

    private mutating func receiveAudio(_ bytes: [UInt8], from source: SocketAddress, now: Instant) {
        guard let plan = self.running?.audio?.core.plan else { return }
        guard let packet = self.parse(bytes, from: source, announced: plan.remoteRTP, now: now) else {
            self.running?.audio?.core.counts.packetsDropped &+= 1
            return
        }
        self.running?.audio?.receive(packet, from: source, now: now, &self.outputs)
    }

    private mutating func receiveVideo(_ bytes: [UInt8], from source: SocketAddress, now: Instant) {
        guard let plan = self.running?.video?.core.plan else { return }
        guard let packet = self.parse(bytes, from: source, announced: plan.remoteRTP, now: now) else {
            self.running?.video?.core.counts.packetsDropped &+= 1
            return
        }
        self.running?.video?.receive(packet, from: source, now: now, &self.outputs)
    }

    /// Nil for what is no RTP, and for what is left of a former call: a source known from it, from elsewhere than this
    /// peer.
    private func parse(
        _ bytes: [UInt8], from source: SocketAddress, announced: SocketAddress, now: Instant
    ) -> RTPPacket? {
        guard let packet = try? RTPPacket.parse(bytes) else { return nil }
        let isFormer = self.former.contains { $0.ssrc == packet.ssrc && $0.until > now }
        return isFormer && source != announced ? nil : packet
    }
}
