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

/// The screen as data. The display draws it as it is and decides nothing; two equal states look the same.
public struct ScreenState: Equatable, Sendable {
    /// A few words, large. May be empty. UTF-8, as are all texts here.
    public var headline: ByteString
    /// One or two sentences below it. May be empty.
    public var detail: ByteString
    public var symbol: Symbol
    /// A fault or a problem of the configuration, small, at the upper edge; empty when all is well.
    public var banner: ByteString
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
