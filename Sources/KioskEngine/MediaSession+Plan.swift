// SPDX-License-Identifier: Apache-2.0
import MediaEngine
import RTPWire
import SDPWire

/// From what was agreed to what the media threads do.
extension MediaSession {
    /// Before the answer the far end may be heard, but not seen, and it sees nothing.
    func earlyPlan(_ session: NegotiatedSession, ntpAtZero: NTPTime) -> MediaPlan {
        MediaPlan(audio: session.audio.flatMap { self.audioPlan($0) }, video: nil, ntpAtZero: ntpAtZero)
    }

    /// - Parameter encoder: nil where no video is sent.
    func plan(_ session: NegotiatedSession, _ world: KioskWorld, _ encoder: EncoderPlan?) -> MediaPlan {
        let video = session.video.flatMap {
            self.videoPlan($0, fps: world.cameraFPS, bitrateKbps: encoder?.bitrateKbps ?? 0)
        }
        return MediaPlan(
            audio: session.audio.flatMap { self.audioPlan($0) }, video: video, ntpAtZero: world.ntpAtZero)
    }

    private func streamPlan(_ stream: NegotiatedStream, _ ssrc: SSRC) -> StreamPlan {
        StreamPlan(
            remoteRTP: stream.remoteRTP, remoteRTCP: stream.remoteRTCP, signalling: self.signalling,
            rtcpMux: stream.isMuxed, sends: stream.direction.sends, receives: stream.direction.receives,
            localSSRC: ssrc, cname: self.cname)
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

    private func videoPlan(_ stream: NegotiatedStream, fps: Int, bitrateKbps: Int) -> VideoPlan? {
        guard case .h264(let parameters) = stream.codec else { return nil }
        let feedback = stream.feedback
        return VideoPlan(
            stream: self.streamPlan(stream, self.videoSSRC),
            packetizationMode: parameters.packetizationMode == 0 ? .singleNAL : .nonInterleaved,
            sendPayloadType: PayloadType(stream.sendPayloadType),
            receivePayloadTypes: stream.receivePayloadTypes.map { PayloadType($0.payloadType) },
            feedback: VideoFeedback(pli: feedback.pli, fir: feedback.fir), framesPerSecond: fps,
            bitrateKbps: bitrateKbps, parameterSets: parameters.parameterSets)
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
