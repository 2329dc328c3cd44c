// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import RTPWire
import SDPWire

/// What we want of a call beside what every call has.
struct MediaIntent: Equatable {
    /// The far end waits: it may hear us (or be sent silence), but we want nothing of it.
    var isHolding = false
    /// Whether there may be pictures, where the kiosk and the far end can.
    var hasVideo = true
}

/// The session descriptions of one call: what we offered or answered last, and what it came to.
struct MediaSession {
    /// An offer of ours that waits for its answer.
    private var offered: SessionDescription?
    private(set) var negotiated: NegotiatedSession?
    private let id: UInt64
    private var version: UInt64
    private let audioSSRC: SSRC
    private let videoSSRC: SSRC
    private let cname: ByteString
    /// The address towards the far end.
    private let address: IPAddress

    init(address: IPAddress, generator: inout Generator) {
        self.address = address
        // RFC 8866 section 5.2 wants numbers that fit peers which read them as signed.
        self.id = generator.next() >> 2
        self.version = self.id
        self.audioSSRC = SSRC(UInt32(truncatingIfNeeded: generator.next()))
        self.videoSSRC = SSRC(UInt32(truncatingIfNeeded: generator.next()))
        // Without a name in it: RFC 7022 section 4.2.
        self.cname = generator.token(digits: 16)
    }

    var awaitsAnswer: Bool { self.offered != nil }

    /// What was agreed last. What a `makeReoffer` asks for counts once it is answered.
    private(set) var intent = MediaIntent()
    /// Whether the last agreement differs from the one before; otherwise media go on and need not be told.
    private(set) var hasChanged = false

    // MARK: - Offer and answer

    /// Our own change of the session: hold, resume, video off and on. `accept` its answer, or `rollBack`.
    mutating func makeReoffer(
        _ world: KioskWorld, _ configuration: Configuration, _ intent: MediaIntent
    ) -> [UInt8] {
        self.makeOffer(world, configuration)
    }

    /// Our offer was refused: everything stands as it was.
    mutating func rollBack() {
        self.offered = nil
    }

    /// An offer of all that we can do now, in the intent that stands. Trimmed, it leaves out what a peer can do
    /// without, so that an INVITE with it fits one datagram.
    mutating func makeOffer(
        _ world: KioskWorld, _ configuration: Configuration, trimmed: Bool = false
    ) -> [UInt8] {
        self.version &+= 1
        let offer = OfferAnswer.makeOffer(
            self.local(world, configuration), sessionID: self.id, sessionVersion: self.version)
        self.offered = offer
        return offer.printed()
    }

    /// What a provisional answer comes to; the final one is still awaited. Nil where it makes no sense.
    func preview(_ answer: [UInt8]) -> NegotiatedSession? {
        guard let offered = self.offered else { return nil }
        return Self.accept(answer, to: offered)
    }

    /// The answer to our offer, or to a refresh with what we said last. Nil where it makes no sense.
    mutating func accept(_ answer: [UInt8]) -> NegotiatedSession? {
        guard let offered = self.offered, let session = Self.accept(answer, to: offered) else { return nil }
        self.offered = nil
        self.hasChanged = session != self.negotiated
        self.negotiated = session
        return session
    }

    private static func accept(_ answer: [UInt8], to offer: SessionDescription) -> NegotiatedSession? {
        guard let description = try? SessionDescription.parse(answer),
            let session = try? OfferAnswer.acceptAnswer(description, to: offer), !session.isEmpty
        else { return nil }
        return session
    }

    /// Our answer to an offer. Nil where nothing in it fits us; what was agreed upon before then stays (RFC 3261
    /// section 14.2).
    mutating func makeAnswer(
        to offer: [UInt8], _ world: KioskWorld, _ configuration: Configuration
    ) -> (body: [UInt8], session: NegotiatedSession)? {
        guard let description = try? SessionDescription.parse(offer) else { return nil }
        let answer = OfferAnswer.makeAnswer(
            to: description, local: self.local(world, configuration), sessionID: self.id,
            sessionVersion: self.version &+ 1)
        guard !answer.session.isEmpty else { return nil }
        self.version &+= 1
        self.hasChanged = answer.session != self.negotiated
        self.negotiated = answer.session
        return (answer.description.printed(), answer.session)
    }

    // MARK: - What we can do

    private static let opusPayloadType: UInt8 = 96
    private static let telephoneEventPayloadType: UInt8 = 101
    private static let videoPayloadType: UInt8 = 102
    private static let videoSingleNALPayloadType: UInt8 = 103

    private func local(_ world: KioskWorld, _ configuration: Configuration) -> LocalMedia {
        let audio = LocalStream(
            port: world.audioPorts.rtp, rtcpPort: world.audioPorts.rtcp,
            codecs: configuration.audio.codecs.map { Self.offer(of: $0) },
            telephoneEventPayloadType: Self.telephoneEventPayloadType, ssrc: self.audioSSRC.value, cname: self.cname)
        guard world.hasCamera || world.hasScreen else {
            return LocalMedia(address: self.address, audio: audio, video: nil)
        }
        // Both packetization modes: some gateways take only the one, some only the other.
        let video = LocalStream(
            port: world.videoPorts.rtp, rtcpPort: world.videoPorts.rtcp,
            codecs: [
                CodecOffer(.h264(H264Parameters(packetizationMode: 1)), payloadType: Self.videoPayloadType),
                CodecOffer(.h264(H264Parameters(packetizationMode: 0)), payloadType: Self.videoSingleNALPayloadType),
            ],
            wish: Direction(sends: world.hasCamera, receives: world.hasScreen), ssrc: self.videoSSRC.value,
            cname: self.cname)
        return LocalMedia(address: self.address, audio: audio, video: video)
    }

    private static func offer(of codec: AudioCodecName) -> CodecOffer {
        switch codec {
        case .opus: return CodecOffer(.opus(OpusParameters()), payloadType: Self.opusPayloadType)
        case .pcmu: return CodecOffer(.pcmu, payloadType: PayloadType.pcmu.value)
        case .pcma: return CodecOffer(.pcma, payloadType: PayloadType.pcma.value)
        }
    }

    // MARK: - Plans

    /// Before the answer the far end may be heard, but not seen, and it sees nothing.
    func earlyPlan(_ session: NegotiatedSession, ntpAtZero: NTPTime) -> MediaPlan {
        MediaPlan(audio: session.audio.flatMap { self.audioPlan($0) }, video: nil, ntpAtZero: ntpAtZero)
    }

    func plan(_ session: NegotiatedSession, _ world: KioskWorld) -> MediaPlan {
        MediaPlan(
            audio: session.audio.flatMap { self.audioPlan($0) },
            video: session.video.flatMap { self.videoPlan($0, fps: world.cameraFPS) }, ntpAtZero: world.ntpAtZero)
    }

    private func streamPlan(_ stream: NegotiatedStream, _ ssrc: SSRC) -> StreamPlan {
        StreamPlan(
            remoteRTP: stream.remoteRTP, remoteRTCP: stream.remoteRTCP, sends: stream.direction.sends,
            receives: stream.direction.receives, localSSRC: ssrc, cname: self.cname)
    }

    private func audioPlan(_ stream: NegotiatedStream) -> AudioPlan? {
        guard let codec = Self.audioCodec(stream.codec) else { return nil }
        let incoming = stream.receivePayloadTypes.compactMap { binding in
            Self.audioCodec(binding.codec).map { AudioPayload(PayloadType(binding.payloadType), $0) }
        }
        return AudioPlan(
            stream: self.streamPlan(stream, self.audioSSRC), codec: codec,
            sendPayloadType: PayloadType(stream.sendPayloadType), receivePayloadTypes: incoming,
            packetTimeMs: stream.ptimeMs,
            telephoneEventPayloadType: stream.telephoneEvent.map { PayloadType($0.sendPayloadType) },
            telephoneEventRate: stream.telephoneEvent?.clockRate ?? 8000,
            telephoneEventReceivePayloadType: stream.telephoneEvent.map { PayloadType($0.receivePayloadType) })
    }

    private static func audioCodec(_ codec: NegotiatedCodec) -> AudioCodec? {
        switch codec {
        case .opus: return .opus
        case .pcmu: return .pcmu
        case .pcma: return .pcma
        case .h264: return nil
        }
    }

    private func videoPlan(_ stream: NegotiatedStream, fps: Int) -> VideoPlan? {
        guard case .h264(let parameters) = stream.codec else { return nil }
        let feedback = stream.feedback
        return VideoPlan(
            stream: self.streamPlan(stream, self.videoSSRC),
            packetizationMode: parameters.packetizationMode == 0 ? .singleNAL : .nonInterleaved,
            sendPayloadType: PayloadType(stream.sendPayloadType),
            receivePayloadTypes: stream.receivePayloadTypes.map { PayloadType($0.payloadType) },
            feedback: VideoFeedback(pli: feedback.pli, fir: feedback.fir, nack: feedback.nack), framesPerSecond: fps,
            parameterSets: parameters.parameterSets)
    }
}

extension MediaShape {
    init(_ session: NegotiatedSession) {
        self.hasAudio = session.audio != nil
        self.sendsAudio = session.audio?.direction.sends ?? false
        self.receivesAudio = session.audio?.direction.receives ?? false
        self.receivesVideo = session.video?.direction.receives ?? false
    }
}
