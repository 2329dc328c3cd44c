// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Requests that the peer understands (RFC 4585, RFC 5104).
public struct NegotiatedFeedback: Hashable, Sendable {
    public var pli: Bool
    public var fir: Bool

    public init(pli: Bool = false, fir: Bool = false) {
        self.pli = pli
        self.fir = fir
    }
}

/// A payload type and what it carries.
public struct PayloadBinding: Hashable, Sendable {
    public var payloadType: UInt8
    public var codec: NegotiatedCodec

    public init(payloadType: UInt8, codec: NegotiatedCodec) {
        self.payloadType = payloadType
        self.codec = codec
    }
}

/// Telephone-event as negotiated (RFC 4733).
public struct NegotiatedTelephoneEvent: Hashable, Sendable {
    /// What we send with.
    public var sendPayloadType: UInt8
    /// What the peer sends with.
    public var receivePayloadType: UInt8
    /// Hertz.
    public var clockRate: UInt32

    public init(sendPayloadType: UInt8, receivePayloadType: UInt8, clockRate: UInt32) {
        self.sendPayloadType = sendPayloadType
        self.receivePayloadType = receivePayloadType
        self.clockRate = clockRate
    }
}

/// One medium that both sides agreed upon.
public struct NegotiatedStream: Hashable, Sendable {
    /// What we send.
    public var codec: NegotiatedCodec
    public var sendPayloadType: UInt8
    /// Everything the peer may send.
    public var receivePayloadTypes: [PayloadBinding]
    public var telephoneEvent: NegotiatedTelephoneEvent?
    public var remoteRTP: SocketAddress
    public var remoteRTCP: SocketAddress
    /// Ours: `.sendonly` means that we send.
    public var direction: Direction
    public var feedback: NegotiatedFeedback
    /// Milliseconds of sound in each packet we send.
    public var ptimeMs: Int
    /// What the peer wants to receive at most; nil where it does not say.
    public var bandwidthKbps: Int?
    /// RTCP shares the RTP port (RFC 5761).
    public var isMuxed: Bool
    public var protection: NegotiatedProtection
    /// Nil where media go to the addresses of the descriptions.
    public var ice: NegotiatedICE?

    public init(
        codec: NegotiatedCodec, sendPayloadType: UInt8, receivePayloadTypes: [PayloadBinding],
        telephoneEvent: NegotiatedTelephoneEvent? = nil, remoteRTP: SocketAddress, remoteRTCP: SocketAddress,
        direction: Direction, feedback: NegotiatedFeedback = NegotiatedFeedback(), ptimeMs: Int = 20,
        bandwidthKbps: Int? = nil, isMuxed: Bool = false, protection: NegotiatedProtection = .none,
        ice: NegotiatedICE? = nil
    ) {
        self.codec = codec
        self.sendPayloadType = sendPayloadType
        self.receivePayloadTypes = receivePayloadTypes
        self.telephoneEvent = telephoneEvent
        self.remoteRTP = remoteRTP
        self.remoteRTCP = remoteRTCP
        self.direction = direction
        self.feedback = feedback
        self.ptimeMs = ptimeMs
        self.bandwidthKbps = bandwidthKbps
        self.isMuxed = isMuxed
        self.protection = protection
        self.ice = ice
    }
}

/// What a finished offer and answer come to. Nil for a medium that was refused or never offered.
public struct NegotiatedSession: Hashable, Sendable {
    public var audio: NegotiatedStream?
    public var video: NegotiatedStream?

    public init(audio: NegotiatedStream? = nil, video: NegotiatedStream? = nil) {
        self.audio = audio
        self.video = video
    }

    /// Nothing in common: an offer is to be answered 488.
    public var isEmpty: Bool { self.audio == nil && self.video == nil }
}
