// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

public enum StreamKind: Hashable, Sendable {
    case audio, video
}

/// The two datagram sockets of a stream.
public enum Channel: Hashable, Sendable {
    case rtp, rtcp
}

public enum AudioCodec: Hashable, Sendable {
    case opus, pcmu, pcma

    /// The RTP clock, in Hz.
    public var clockRate: UInt32 {
        switch self {
        case .opus: return OpusPacket.clockRate
        case .pcmu, .pcma: return 8000
        }
    }
}

/// A payload type under which a codec may come in.
public struct AudioPayload: Hashable, Sendable {
    public var payloadType: PayloadType
    public var codec: AudioCodec

    public init(_ payloadType: PayloadType, _ codec: AudioCodec) {
        self.payloadType = payloadType
        self.codec = codec
    }
}

/// What is the same for a stream of either kind.
public struct StreamPlan: Hashable, Sendable {
    /// Where RTP and RTCP go until the stream shows another source. An unspecified address or port 0: nothing is sent.
    public var remoteRTP: SocketAddress
    public var remoteRTCP: SocketAddress
    /// The host that the peer's signalling comes from: its media may come from there, too.
    public var signalling: IPAddress?
    /// RTCP shares the RTP port (RFC 5761).
    public var rtcpMux: Bool
    public var sends: Bool
    public var receives: Bool
    public var localSSRC: SSRC
    public var cname: ByteString

    public init(
        remoteRTP: SocketAddress, remoteRTCP: SocketAddress, signalling: IPAddress? = nil, rtcpMux: Bool = false,
        sends: Bool, receives: Bool, localSSRC: SSRC, cname: ByteString
    ) {
        self.remoteRTP = remoteRTP
        self.remoteRTCP = remoteRTCP
        self.signalling = signalling
        self.rtcpMux = rtcpMux
        self.sends = sends
        self.receives = receives
        self.localSSRC = localSSRC
        self.cname = cname
    }

    /// Whether packets of the stream can come from there at all.
    public func mayComeFrom(_ source: SocketAddress) -> Bool {
        Latch(announced: self.remoteRTP, signalling: self.signalling).mayLearn(source)
    }
}

public struct AudioPlan: Hashable, Sendable {
    public var stream: StreamPlan
    /// What we send.
    public var codec: AudioCodec
    public var sendPayloadType: PayloadType
    public var receivePayloadTypes: [AudioPayload]
    /// Length of the packets we send.
    public var packetTimeMs: Int
    /// RFC 4733 events as we send them; their clock is `telephoneEventRate`.
    public var telephoneEventPayloadType: PayloadType?
    public var telephoneEventRate: UInt32
    /// The same as they come in; nil where it is the same number.
    public var telephoneEventReceivePayloadType: PayloadType?

    public init(
        stream: StreamPlan, codec: AudioCodec, sendPayloadType: PayloadType, receivePayloadTypes: [AudioPayload],
        packetTimeMs: Int = 20, telephoneEventPayloadType: PayloadType? = nil, telephoneEventRate: UInt32 = 8000,
        telephoneEventReceivePayloadType: PayloadType? = nil
    ) {
        self.stream = stream
        self.codec = codec
        self.sendPayloadType = sendPayloadType
        self.receivePayloadTypes = receivePayloadTypes
        self.packetTimeMs = packetTimeMs
        self.telephoneEventPayloadType = telephoneEventPayloadType
        self.telephoneEventRate = telephoneEventRate
        self.telephoneEventReceivePayloadType = telephoneEventReceivePayloadType
    }
}

/// Feedback the peer understands (a=rtcp-fb, RFC 4585 section 4.2).
public struct VideoFeedback: Hashable, Sendable {
    public var pli: Bool
    public var fir: Bool

    public init(pli: Bool = false, fir: Bool = false) {
        self.pli = pli
        self.fir = fir
    }
}

public struct VideoPlan: Hashable, Sendable {
    public var stream: StreamPlan
    public var packetizationMode: H264Packetizer.Mode
    public var sendPayloadType: PayloadType
    public var receivePayloadTypes: [PayloadType]
    public var feedback: VideoFeedback
    /// Bytes of an RTP payload.
    public var maxPayloadSize: Int
    /// Frames a second that we send; big frames are spread over a part of one frame's time.
    public var framesPerSecond: Int
    /// What was agreed that we send at most, headers aside.
    public var bitrateKbps: Int
    /// NAL units of `sprop-parameter-sets`, without start codes.
    public var parameterSets: [[UInt8]]

    public init(
        stream: StreamPlan, packetizationMode: H264Packetizer.Mode, sendPayloadType: PayloadType,
        receivePayloadTypes: [PayloadType], feedback: VideoFeedback, maxPayloadSize: Int = 1200,
        framesPerSecond: Int = 30, bitrateKbps: Int = 1500, parameterSets: [[UInt8]] = []
    ) {
        self.stream = stream
        self.packetizationMode = packetizationMode
        self.sendPayloadType = sendPayloadType
        self.receivePayloadTypes = receivePayloadTypes
        self.feedback = feedback
        self.maxPayloadSize = maxPayloadSize
        self.framesPerSecond = framesPerSecond
        self.bitrateKbps = bitrateKbps
        self.parameterSets = parameterSets
    }
}

/// What media a call has, as offer and answer agreed.
public struct MediaPlan: Hashable, Sendable {
    public var audio: AudioPlan?
    public var video: VideoPlan?
    /// The wall clock at `Instant.zero`, for sender reports.
    public var ntpAtZero: NTPTime

    public init(audio: AudioPlan?, video: VideoPlan?, ntpAtZero: NTPTime) {
        self.audio = audio
        self.video = video
        self.ntpAtZero = ntpAtZero
    }
}
