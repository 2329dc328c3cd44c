// SPDX-License-Identifier: Apache-2.0
import Bytes

/// A button of the panel, by what it means.
public enum ButtonName: UInt8, Hashable, Sendable {
    case call
    case hook
    case mute
    case video

    /// In the order of the panel, and of the legend on the screen.
    public static let all: [ButtonName] = [.call, .hook, .mute, .video]

    /// As in `[button.NAME]`, in the control words and in events.
    public var text: ByteString {
        switch self {
        case .call: return "call"
        case .hook: return "hook"
        case .mute: return "mute"
        case .video: return "video"
        }
    }

    public init?(_ text: ByteString) {
        guard let name = Self.all.first(where: { $0.text == text }) else { return nil }
        self = name
    }
}

/// What a finger did to a button, after the kernel's debounce.
public enum ButtonEdge: Sendable {
    case pressed
    case released

    public var text: ByteString {
        switch self {
        case .pressed: return "pressed"
        case .released: return "released"
        }
    }
}

/// A lamp of the panel.
public enum LampName: UInt8, Hashable, Sendable {
    case call

    public static let all: [LampName] = [.call]

    /// As in `[lamp.NAME]`.
    public var text: ByteString {
        switch self {
        case .call: return "call"
        }
    }
}

/// A family of devices that may be missing, or fail and come back.
public enum DeviceFamily: UInt8, Hashable, Sendable {
    case display
    case camera
    case playback
    case capture
    /// Buttons and lamps.
    case panel
    /// No address, no route, or the SIP port could not be opened.
    case network

    public static let all: [DeviceFamily] = [.display, .camera, .playback, .capture, .panel, .network]

    /// As in `fault` events.
    public var text: ByteString {
        switch self {
        case .display: return "display"
        case .camera: return "camera"
        case .playback: return "playback"
        case .capture: return "capture"
        case .panel: return "panel"
        case .network: return "network"
        }
    }
}

/// A connection on the control socket. Numbers are the caller's and are not reused while the connection stands.
public struct ClientID: Hashable, Sendable {
    public var number: UInt64

    public init(_ number: UInt64) {
        self.number = number
    }
}

/// One search for the ways to a URI. What comes of former ones is ignored.
public struct ResolutionID: Hashable, Sendable {
    public var number: UInt64

    public init(_ number: UInt64) {
        self.number = number
    }
}

/// What sounds at the panel, beside the far end's voice. Nothing of it is sent to the far end.
public enum Tone: Hashable, Sendable {
    case none
    /// Ring-back: the far end rings. Goes on until another tone is ordered, as do `busy` and `error`.
    case ringback
    /// Somebody calls here: press to answer. Goes on as `ringback` does.
    case bell
    /// The far end is busy, or has hung up.
    case busy
    /// The call failed.
    case error

    // What follows sounds once; whatever tone stood before goes on.

    /// A click that answers a press.
    case key
    /// A pip for a key of the telephone (ASCII), which nobody takes for the key's own dual tone.
    case digit(UInt8)
    /// The call is on its way.
    case placed
    /// Somebody has answered.
    case answered
    /// The call is over.
    case ended
    case muted
    case unmuted
    /// The longest time for a call is nearly over; or the kiosk is about to do something by itself.
    case warning
    /// The kiosk has started.
    case ready
    /// A device or the network went away.
    case lost
    /// It is back.
    case back
}
