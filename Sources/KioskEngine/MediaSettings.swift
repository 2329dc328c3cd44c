// SPDX-License-Identifier: Apache-2.0
import SDPWire

/// `[camera]`
public struct CameraSettings: Equatable, Sendable {
    /// A by-path name or bus information, or `file:PATH` of a YUV4MPEG2 clip.
    public var device = DeviceName.automatic
    public var size = PictureSize(width: 640, height: 360)
    public var fps = 30
    /// How far its picture is turned clockwise: 0, 90, 180 or 270.
    public var rotationDegrees = 0
}

/// The audio codecs that can be offered.
public enum AudioCodecName: Sendable {
    case opus
    case pcmu
    case pcma
}

/// `[audio]`
public struct AudioSettings: Equatable, Sendable {
    /// ALSA names.
    public var playback = DeviceName.automatic
    public var capture = DeviceName.automatic
    /// Best first, each once, never empty.
    public var codecs: [AudioCodecName] = [.opus, .pcmu, .pcma]
    /// What the loudspeaker plays is taken out of what the microphone hears.
    public var cancelsEcho = true
    public var noiseSuppression = NoiseSuppression.off
    /// Who speaks softly is made louder.
    public var controlsGain = false

    /// How much of steady noise is taken out of what the microphone hears.
    public enum NoiseSuppression: Sendable {
        case off
        case low
        case moderate
        case high
    }
}

/// `[video]`
public struct VideoSettings: Equatable, Sendable {
    /// Why the owner may send and receive H.264, which is patented: their act, which nobody does for them.
    public enum H264Licence: Sendable {
        /// Not settled yet: calls have no picture.
        case none
        /// The terms of the codec in use are accepted.
        case accepted
        /// The owner has a licence of their own.
        case own
    }

    /// Who decodes or encodes the pictures.
    public enum Codec: Sendable {
        /// The board's device where it does it well, software where not.
        case automatic
        case software
    }

    public var h264Licence = H264Licence.none
    public var decoder = Codec.automatic
    public var encoder = Codec.automatic
    /// What the encoder may send.
    public var bitrateKbps = 1500

    public var mayUseH264: Bool { self.h264Licence != .none }
}

/// `[media]`
public struct MediaSettings: Equatable, Sendable {
    public enum KeyingChoice: Sendable {
        /// SDES where the signalling is secret; else DTLS where there have to be keys, and no offer of them where not.
        case automatic
        case sdes
        case dtls
        case both
    }

    public var encryption = LocalSecurity.Policy.optional
    public var keying = KeyingChoice.automatic
}

/// `[rtp]`
public struct RTPSettings: Equatable, Sendable {
    /// UDP ports for media: audio RTP and RTCP, video RTP and RTCP are taken from here.
    public var ports: ClosedRange<UInt16> = 40_000...40_099
}
