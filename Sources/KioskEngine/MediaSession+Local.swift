// SPDX-License-Identifier: Apache-2.0
import MediaEngine
import RTPWire
import SDPWire

/// What we can do in a call, as our descriptions say it.
extension MediaSession {
    private static let opusPayloadType: UInt8 = 96
    private static let telephoneEventPayloadType: UInt8 = 101
    private static let videoPayloadType: UInt8 = 102
    private static let videoSingleNALPayloadType: UInt8 = 103

    func local(
        _ world: KioskWorld, _ configuration: Configuration, _ intent: MediaIntent
    ) -> LocalMedia {
        let ports = self.ports ?? MediaPorts(audio: world.audioPorts, video: world.videoPorts)
        var audio = LocalStream(
            port: ports.audio.rtp, rtcpPort: ports.audio.rtcp,
            codecs: configuration.audio.codecs.map { Self.offer(of: $0) },
            wish: Direction(sends: true, receives: !intent.isHolding),
            telephoneEventPayloadType: Self.telephoneEventPayloadType, ssrc: self.audioSSRC.value, cname: self.cname,
            security: self.security.local(.audio, world.fingerprint))
        audio.ice = self.ways?.local(.audio)
        guard intent.hasVideo, configuration.video.mayUseH264, self.hadCamera || self.hadScreen else {
            return LocalMedia(address: self.address, audio: audio, video: nil)
        }
        // Both packetization modes: some gateways take only the one, some only the other.
        let offers = [(UInt8(1), Self.videoPayloadType), (0, Self.videoSingleNALPayloadType)]
        let received = H264ProfileLevelID.constrainedBaseline(self.decoderLevel)
        var video = LocalStream(
            port: ports.video.rtp, rtcpPort: ports.video.rtcp,
            codecs: offers.map { mode, type in
                CodecOffer(.h264(H264Parameters(profileLevelID: received, packetizationMode: mode)), payloadType: type)
            },
            wish: Direction(sends: self.hadCamera, receives: self.hadScreen && !intent.isHolding),
            ssrc: self.videoSSRC.value, cname: self.cname,
            security: self.security.local(.video, world.fingerprint))
        video.ice = self.ways?.local(.video)
        video.image = self.pictureSize.map { ImageAttribute(width: $0.width, height: $0.height) }
        return LocalMedia(address: self.address, audio: audio, video: video)
    }

    private static func offer(of codec: AudioCodecName) -> CodecOffer {
        switch codec {
        case .opus: return CodecOffer(.opus(OpusParameters()), payloadType: Self.opusPayloadType)
        case .pcmu: return CodecOffer(.pcmu, payloadType: PayloadType.pcmu.value)
        case .pcma: return CodecOffer(.pcma, payloadType: PayloadType.pcma.value)
        }
    }
}
