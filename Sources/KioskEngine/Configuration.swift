// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPWire

/// What `callbox.conf` says; each value is the default where the file is silent or wrong. `Settings` has a row
/// for each key, which tells what it means to the person who writes the file.
public struct Configuration: Equatable, Sendable {
    public var call = CallSettings()
    public var autoCall = AutoCallSettings()
    public var sip = SIPSettings()
    public var tls = TLSSettings()
    /// `[account]`, `[account.2]` …
    public var accounts = [AccountSettings](repeating: AccountSettings(), count: Configuration.accountsMax)
    public var servers = ServerSettings()
    /// In the order of `ButtonName.all`.
    private var buttonSettings = [ButtonSettings](repeating: ButtonSettings(), count: ButtonName.all.count)
    public var panel = PanelSettings()
    public var display = DisplaySettings()
    public var screen = ScreenSettings()
    public var language = LanguageSettings()
    public var camera = CameraSettings()
    public var audio = AudioSettings()
    public var sound = SoundSettings()
    public var video = VideoSettings()
    public var media = MediaSettings()
    public var rtp = RTPSettings()
    public var ice = ICESettings()
    public var identity = IdentitySettings()
    public var location = LocationSettings()

    public static let accountsMax = 4
    public var network = NetworkSettings()
    public var update = UpdateSettings()
    public var log = LogSettings()

    public init() {}

    /// What the file itself has to say to whoever asks for a password.
    public var credentials: [Credential] {
        self.sip.credentials + self.ice.credentials + self.network.link.credentials
    }

    private static func index(_ button: ButtonName) -> Int {
        guard let index = ButtonName.all.firstIndex(of: button) else { preconditionFailure("`all` has every name") }
        return index
    }

    public subscript(button: ButtonName) -> ButtonSettings {
        get { self.buttonSettings[Self.index(button)] }
        set { self.buttonSettings[Self.index(button)] = newValue }
    }
}

/// `[call]`
public struct CallSettings: Equatable, Sendable {
    public enum Incoming: Sendable {
        /// 480.
        case refuse
        /// The person at the panel answers or declines.
        case ring
        /// Answered by itself, once it was heard and seen here.
        case answer
    }

    public enum Transfer: Sendable {
        case follow
        /// 603.
        case refuse
    }

    /// Whom the call button calls, one step after the other; empty: nobody, which is itself a problem of the file.
    public var steps: [CallStep] = []
    /// How often all of them are called, at most.
    public var cycles = 1
    /// Between two cycles.
    public var pauseMs = 2_000
    /// Whoever answers has to press a key, or does not count.
    public var isConfirmed = false
    public var confirmTimeoutMs = 15_000
    /// Whoever answers is told so, over and over.
    public var tellsToConfirm = true
    /// Zero: as long as it likes.
    public var maxDurationMs = 0
    public var incoming = Incoming.refuse
    /// Who may call; empty where nobody is named.
    public var incomingFrom: [CallerPattern] = []
    /// For how long after a call whoever was called may call back; zero: not at all.
    public var callBackMs = 0
    /// What becomes of us when the far end asks us to call somebody else in its place.
    public var transfer = Transfer.follow
    /// From the first sign of the far end until we give up.
    public var ringTimeoutMs = 60_000
    /// How long a call goes on in which nothing at all is received.
    public var mediaTimeoutMs = 10_000

    /// The first of all targets, where there is only one as a rule.
    public var uri: SIPURI? {
        get { self.steps.first?.targets.first?.uri }
        set { self.steps = newValue.map { [CallStep($0)] } ?? [] }
    }
}

/// `[sip]`
public struct SIPSettings: Equatable, Sendable {
    /// `[::]` stands for every address of both families.
    public var listen = SocketAddress(.v6(high: 0, low: 0), port: 5060)
    /// For calls whose URI does not name one.
    public var transport = SIPTransport.udp
    /// The user part of our own address.
    public var user: ByteString = "callbox"
    /// How the far end sees us by name; may be empty.
    public var name: ByteString = "Callbox"
    /// Our INVITE has no offer: the far end makes one.
    public var isOfferless = false
    public var acceptFrom = SIPPeers.servers
    /// Whose wish to be answered at once is honoured; they may talk to us too.
    public var autoAnswerFrom: [AddressRange] = []
    public var accounts = AccountOrder.serial
    /// The name that goes with the password; empty: `user`.
    public var authUser = ByteString()
    /// Empty where it was never here, or was moved to a place of its own.
    public var password = ByteString()

    /// The name that goes with a password that comes without one.
    public var passwordUser: ByteString { self.authUser.isEmpty ? self.user : self.authUser }

    /// What the file itself has to say to whoever asks for a password.
    public var credentials: [Credential] {
        self.password.isEmpty ? [] : [Credential(username: self.passwordUser, password: self.password)]
    }
}

/// How many of the accounts are registered.
public enum AccountOrder: Sendable {
    /// The first that can be.
    case serial
    case all
}

/// `[account]`
public struct AccountSettings: Equatable, Sendable {
    /// Who we are there; nil: there is no such account.
    public var uri: SIPURI?
    /// Where REGISTER is sent; nil: where the host of `uri` is.
    public var registrar: SIPURI?
    /// Whether it is registered, or only called from.
    public var registers = true
    public var expiresSeconds = 600
    /// RFC 5626.
    public var isOutbound = true

    /// Whom to ask for the way to the registrar.
    var way: SIPURI? { self.registrar ?? self.uri }
}

/// `[servers]`
public struct ServerSettings: Equatable, Sendable {
    public enum Failback: Sendable {
        /// Once nothing goes on and the first has answered for a while.
        case auto
        /// By the word `failback`.
        case manual
        /// When the one in use fails.
        case never
    }

    /// Where all calls and texts go first, best first; empty: each goes where its own address leads.
    public var proxies: [SIPURI] = []
    public var failback = Failback.auto
}

/// Who may talk to us by SIP outside of our own calls.
public enum SIPPeers: Equatable, Sendable {
    /// The addresses of the servers in `[servers] proxies`, or of that in `[call] uri`.
    case servers
    case anyone
    /// These, and the servers.
    case listed([AddressRange])
}

/// A GPIO line, by names that do not change from start to start.
public struct LineName: Equatable, Sendable {
    /// A line's name, or `chip-label:offset`.
    public var text: ByteString
}

/// `[button.NAME]`
public struct ButtonSettings: Equatable, Sendable {
    public enum Bias: Sendable {
        case pullUp
        case pullDown
        case none
    }

    /// Nil: the button is not fitted.
    public var line: LineName?
    /// Pressed is low: the button connects the line to ground.
    public var isActiveLow = true
    /// Nil: away from pressed (up where it is active low, else down).
    public var biasWanted: Bias?
    public var debounceMs = 20
    /// How long it is held before it acts; 0: it acts when it is pressed.
    public var holdSeconds = 0
    /// What it does when it stays pressed.
    public var long = LongPress.none
    public var longAfterSeconds = 3
    /// Of call buttons: what the legend on the screen says; nil: that it calls.
    public var text: ByteString?
    /// `call` only: whom it calls; empty: whom `[call]` names.
    public var steps: [CallStep] = []
    /// `call` only: nil for that of `[call]`.
    public var ringTimeoutMs: Int?
    /// `call` only.
    public var start = CallStart.normal
    /// `call` only: a press in a call ends it.
    public var endsCall = false
    /// `call` only: the name that the far end sees for calls by this button; nil for `[sip] name`.
    public var callerName: ByteString?
    /// `call` only: what `X-Callbox-Button` says; nil for the button's name, empty to leave it out.
    public var label: ByteString?

    /// The second meaning of a button.
    public enum LongPress: Sendable {
        case none
        case hook
        case mute
        case video
        case keypad
        case language
        /// The installer's page.
        case health
    }

    public var bias: Bias { self.biasWanted ?? (self.isActiveLow ? .pullUp : .pullDown) }
}

/// A device that may be left to us, left out, or named.
public enum DeviceName: Equatable, Sendable {
    /// The first that is there, or the system's default.
    case automatic
    case none
    case named(ByteString)
}

/// `[display]`
public struct DisplaySettings: Equatable, Sendable {
    public enum Fit: Sendable {
        /// The whole picture, with bars.
        case fit
        /// The whole screen, with the picture's edges cut.
        case fill
    }

    public enum Layout: Sendable {
        /// The far end alone.
        case full
        /// The own picture in a corner of the far end's.
        case pictureInPicture
        case sideBySide
    }

    public enum SelfView: Sendable {
        case off
        /// From the press to the end of the call.
        case call
        case always
    }

    public enum Corner: Sendable {
        case topLeft
        case topRight
        case bottomLeft
        case bottomRight
    }

    /// A connector's name (`HDMI-A-1`).
    public var connector = DeviceName.automatic
    /// Driven so where no display is noticed; nil: not at all.
    public var forced: ScreenMode?
    public var remote = Fit.fit
    public var selfView = SelfView.call
    public var selfViewCorner = Corner.bottomRight
    /// The own picture's share of the screen's width and height.
    public var selfViewPercent = 25
    public var layout = Layout.pictureInPicture
    /// How far everything is turned clockwise: 0, 90, 180 or 270.
    public var rotationDegrees = 0
}

/// A size in pixels, and how often a second it is drawn.
public struct ScreenMode: Equatable, Sendable {
    public var size: PictureSize
    public var refreshHz: Int

    public init(_ size: PictureSize, refreshHz: Int) {
        self.size = size
        self.refreshHz = refreshHz
    }
}

public struct PictureSize: Equatable, Sendable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

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

    public var h264Licence = H264Licence.none
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

/// `[log]`
public struct LogSettings: Equatable, Sendable {
    public var level = LogLevel.info
    public var keepsDigits = false

    public var policy: LogPolicy { LogPolicy(self.level, keepsDigits: self.keepsDigits) }
}

/// `[network]`
public struct NetworkSettings: Equatable, Sendable {
    /// The name servers that are asked; empty for those that the system names.
    public var nameServers: [SocketAddress] = []
    /// Differentiated services code points (RFC 2474) as RFC 4594 section 2.3 has them: CS5, EF, AF41.
    public var signallingCodePoint: UInt8 = 40
    public var soundCodePoint: UInt8 = 46
    public var pictureCodePoint: UInt8 = 34
    public var link = LinkSettings()
}
