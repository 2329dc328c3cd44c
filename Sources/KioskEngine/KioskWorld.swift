// SPDX-License-Identifier: Apache-2.0
import Bytes
import RTPWire
import SDPWire
import SIPWire

/// The two ports on which a stream is received.
public struct StreamPorts: Equatable, Sendable {
    public var rtp: UInt16
    public var rtcp: UInt16

    public init(rtp: UInt16, rtcp: UInt16) {
        self.rtp = rtp
        self.rtcp = rtcp
    }
}

/// What the kiosk stands in: fixed while it runs, but for devices that fail and come back.
public struct KioskWorld: Sendable {
    public var hasCamera: Bool
    public var hasScreen: Bool
    /// Buttons whose lines could be had, for the legend.
    public var buttons: [ButtonName]
    /// The bound ports of the media sockets.
    public var audioPorts: StreamPorts
    public var videoPorts: StreamPorts
    /// What the camera gives, or will give once it is started.
    public var cameraSize: PictureSize
    public var cameraFPS: Int
    /// What we can decode, and offer: 720p at 30 pictures a second until more, or less, was measured.
    public var decoderLevel = KioskWorld.usualLevel
    public var version: ByteString
    public var facts = BoardFacts()
    /// `urn:uuid:…` of this board, the same for ever; empty where there is none.
    public var instanceID: ByteString
    /// Of the certificate that the media thread shows in handshakes; nil where it has none.
    public var fingerprint: Fingerprint?
    /// The wall clock at `Instant.zero`.
    public var ntpAtZero: NTPTime
    /// Where we listen for TLS, for Via and Contact.
    public var tlsPort = SIPTransport.tls.standardPort
    /// For answers to servers that ask for a password.
    public var hash: DigestHash = { _, _ in [] }
    /// The housing was opened before the start, and nobody has said since that all is well.
    public var wasTampered = false

    static let usualLevel = H264Level(levelIDC: 31)

    /// For a call that is to have sound alone.
    var withoutPictures: KioskWorld {
        var world = self
        world.hasCamera = false
        world.hasScreen = false
        return world
    }

    public init(
        hasCamera: Bool, hasScreen: Bool, buttons: [ButtonName], audioPorts: StreamPorts, videoPorts: StreamPorts,
        cameraSize: PictureSize, cameraFPS: Int, version: ByteString, ntpAtZero: NTPTime,
        instanceID: ByteString = ByteString(), fingerprint: Fingerprint? = nil
    ) {
        self.hasCamera = hasCamera
        self.hasScreen = hasScreen
        self.buttons = buttons
        self.audioPorts = audioPorts
        self.videoPorts = videoPorts
        self.cameraSize = cameraSize
        self.cameraFPS = cameraFPS
        self.version = version
        self.instanceID = instanceID
        self.ntpAtZero = ntpAtZero
        self.fingerprint = fingerprint
    }
}
