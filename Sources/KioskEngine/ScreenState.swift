// SPDX-License-Identifier: Apache-2.0
import Bytes

/// The picture language of the large symbol beside the headline.
public enum Symbol: Sendable {
    case none
    /// Idle: press to call.
    case handset
    /// The far end is being called.
    case calling
    /// The far end rings.
    case ringing
    /// Answered; no picture yet.
    case connecting
    /// In a call that has no picture.
    case talking
    /// The far end has asked to wait.
    case hold
    /// The call is over, nothing went wrong.
    case ended
    /// The far end is busy or refused.
    case busy
    /// The call failed, or the kiosk cannot call.
    case warning
}

/// Whether a picture layer is on the screen.
public enum LayerVisibility: Sendable {
    case hidden
    case shown
}

/// One fitted button in the legend at the lower edge, in panel order.
public struct CallBarItem: Equatable, Sendable {
    public var button: ButtonName
    /// What a press does now ("Mute", "Unmute"); UTF-8.
    public var label: ByteString
    /// True while what the button switches is in its unusual state: muted, camera off.
    public var isOn: Bool

    public init(button: ButtonName, label: ByteString, isOn: Bool = false) {
        self.button = button
        self.label = label
        self.isOn = isOn
    }
}

/// What the screen is used for.
public enum ScreenPage: Equatable, Sendable {
    /// Headline, detail and symbol.
    case card
    /// The same with the time of day in place of the symbol.
    case clock
    /// The owner's picture.
    case image
    /// Nothing but legend and banner.
    case black
    /// The own camera, large.
    case mirror
    /// What is wrong with the configuration: `problems`.
    case problems
    /// How the kiosk fares, for whoever installs it: `health`.
    case health
    /// The screen is off.
    case dark
}

/// The keypad while it is on the screen.
public struct KeypadView: Equatable, Sendable {
    /// The keys from left to right, top to bottom.
    public static let keys: [UInt8] = Array("123456789*0#".utf8)

    /// What was pressed so far: ASCII digits, `*`, `#`, or what stands for them where they are secret.
    public var entered: ByteString
    /// The key that four buttons choose, one of `keys`; nil where there are real ones.
    public var selected: UInt8?

    public init(entered: ByteString, selected: UInt8? = nil) {
        self.entered = entered
        self.selected = selected
    }
}

/// Something that happens by itself after a while, with the seconds until then.
public struct Countdown: Equatable, Sendable {
    public var text: ByteString
    /// The screen counts the seconds until then by itself.
    public var endsAt: Instant

    public init(_ text: ByteString, endsAt: Instant) {
        self.text = text
        self.endsAt = endsAt
    }
}

/// One line of the health page.
public struct HealthLine: Equatable, Sendable {
    public var name: ByteString
    public var value: ByteString
    public var isGood: Bool

    public init(_ name: ByteString, _ value: ByteString, isGood: Bool = true) {
        self.name = name
        self.value = value
        self.isGood = isGood
    }
}

/// The screen as data. The display draws it as it is and decides nothing; two equal states look the same, but for the
/// time that they count.
public struct ScreenState: Equatable, Sendable {
    public var page = ScreenPage.card
    /// Decides fonts, and which side is the first.
    public var language = Language.english
    /// A few words, large. May be empty. UTF-8, as are all texts here.
    public var headline: ByteString
    /// One or two sentences below it. May be empty.
    public var detail: ByteString
    /// The short code of a fault, for whoever is told of it; empty where all is well.
    public var code = ByteString()
    public var symbol: Symbol
    /// A fault or a problem of the configuration, small, at the upper edge; empty when all is well.
    public var banner: ByteString
    /// Who is at the other end of a call that stands; empty where that is not known.
    public var name = ByteString()
    /// Since when the call stands.
    public var timer: Instant?
    /// The microphone is muted: draw the crossed microphone.
    public var muted: Bool
    /// The camera is not sent: draw the crossed camera.
    public var videoOff: Bool
    /// The far end's picture. While it is shown, headline, detail and symbol are empty, or (`detail`) a short caption.
    public var remote: LayerVisibility
    /// The own camera, mirrored, above the remote picture.
    public var selfView: LayerVisibility
    /// The legend; empty where it should not be drawn.
    public var callBar: [CallBarItem]
    public var keypad: KeypadView?
    public var countdown: Countdown?
    public var problems: [ByteString] = []
    public var health: [HealthLine] = []

    public init(
        headline: ByteString = "", detail: ByteString = "", symbol: Symbol = .none, banner: ByteString = "",
        muted: Bool = false, videoOff: Bool = false, remote: LayerVisibility = .hidden,
        selfView: LayerVisibility = .hidden, callBar: [CallBarItem] = []
    ) {
        self.headline = headline
        self.detail = detail
        self.symbol = symbol
        self.banner = banner
        self.muted = muted
        self.videoOff = videoOff
        self.remote = remote
        self.selfView = selfView
        self.callBar = callBar
    }
}
