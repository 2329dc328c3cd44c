// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A codec as both sides understand it. Audio: the first three. Video: the last.
public enum NegotiatedCodec: Hashable, Sendable {
    /// RFC 7587. The parameters are what the other side wants to receive.
    case opus(OpusParameters)
    case pcmu
    case pcma
    /// RFC 6184. In a negotiated stream: profile and packetization mode in use, and what the *peer* can receive.
    case h264(H264Parameters)

    /// Hertz, as in `rtpmap` and RTP time stamps.
    public var clockRate: UInt32 {
        switch self {
        case .opus: return 48_000
        case .pcmu, .pcma: return 8_000
        case .h264: return 90_000
        }
    }
}

/// What a receiver of Opus asks for (RFC 7587 section 6.1).
public struct OpusParameters: Hashable, Sendable {
    public var usesInbandFEC: Bool
    /// Bits a second; nil where the sender may choose.
    public var maxAverageBitrate: Int?

    public init(usesInbandFEC: Bool = false, maxAverageBitrate: Int? = nil) {
        self.usesInbandFEC = usesInbandFEC
        self.maxAverageBitrate = maxAverageBitrate
    }

    public init(_ fmtp: Fmtp?) {
        self.usesInbandFEC = fmtp?.value("useinbandfec") == "1"
        self.maxAverageBitrate = fmtp?.value("maxaveragebitrate")?.decimal(max: 510_000).map { max(6_000, Int($0)) }
    }
}

/// A codec and the payload type we give it in our offers.
public struct CodecOffer: Hashable, Sendable {
    public var codec: NegotiatedCodec
    public var payloadType: UInt8

    public init(_ codec: NegotiatedCodec, payloadType: UInt8) {
        precondition(payloadType < 128, "payload types have seven bits, and ours are written by hand")
        self.codec = codec
        self.payloadType = payloadType
    }
}

/// One medium of ours: where we receive it and what we can do with it.
public struct LocalStream: Hashable, Sendable {
    public var port: UInt16
    public var rtcpPort: UInt16
    /// Best first.
    public var codecs: [CodecOffer]
    /// What we would do if the peer agreed.
    public var wish: Direction
    /// Payload type of telephone-event in our offers (RFC 4733); nil for video.
    public var telephoneEventPayloadType: UInt8?
    /// Hertz: 8000, which all peers know, unless the session uses another already.
    var telephoneEventRate: UInt32 = 8_000
    public var ssrc: UInt32
    public var cname: ByteString
    /// What we want to receive at most; nil where we do not care.
    public var bandwidthKbps: Int?
    /// Said in offers; nil where nothing is said.
    public var image: ImageAttribute?
    public var security: LocalSecurity
    /// Nil where ICE is not used, or nothing was found out yet.
    public var ice: LocalICE?

    public init(
        port: UInt16, rtcpPort: UInt16, codecs: [CodecOffer], wish: Direction = .sendrecv,
        telephoneEventPayloadType: UInt8? = nil, ssrc: UInt32, cname: ByteString, bandwidthKbps: Int? = nil,
        security: LocalSecurity = .off
    ) {
        self.port = port
        self.rtcpPort = rtcpPort
        self.codecs = codecs
        self.wish = wish
        self.telephoneEventPayloadType = telephoneEventPayloadType
        self.ssrc = ssrc
        self.cname = cname
        self.bandwidthKbps = bandwidthKbps
        self.security = security
    }
}

/// What this kiosk can do in a call right now.
public struct LocalMedia: Hashable, Sendable {
    /// Where the peer is to send to: the address of the route towards it.
    public var address: IPAddress
    public var audio: LocalStream
    /// Nil where there is neither camera nor screen: video is refused, the call goes on.
    public var video: LocalStream?

    public init(address: IPAddress, audio: LocalStream, video: LocalStream?) {
        self.address = address
        self.audio = audio
        self.video = video
    }
}
