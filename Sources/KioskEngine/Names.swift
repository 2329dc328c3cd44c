// SPDX-License-Identifier: Apache-2.0
import Bytes

/// A button of the panel, by what it means.
public enum ButtonName: Hashable, Sendable {
    case call
    /// Another call button, with targets of its own: 2 to `callButtonsMax`.
    case further(Int)
    case hook
    case mute
    case video
    case keypad
    case language

    public static let callButtonsMax = 8

    /// In the order of the panel, and of the legend on the screen.
    public static let all: [ButtonName] =
        [.call] + (2...Self.callButtonsMax).map { .further($0) } + [.hook, .mute, .video, .keypad, .language]

    /// As in `[button.NAME]`, in the control words and in events.
    public var text: ByteString {
        switch self {
        case .call: return "call"
        case .further(let number): return "call." + ByteString(decimal: number)
        case .hook: return "hook"
        case .mute: return "mute"
        case .video: return "video"
        case .keypad: return "keypad"
        case .language: return "language"
        }
    }

    /// Whether a press of it places a call.
    public var isCall: Bool {
        switch self {
        case .call, .further: return true
        case .hook, .mute, .video, .keypad, .language: return false
        }
    }

    public init?(_ text: ByteString) {
        guard let name = Self.all.first(where: { $0.text == text }) else { return nil }
        self = name
    }
}

/// Something at the panel that is not pressed but stands one way or the other.
public enum InputName: UInt8, Hashable, Sendable {
    /// Active while the handset is lifted.
    case hookSwitch
    /// Active while the housing is open.
    case tamper
    /// Active while nobody may call from here.
    case inhibit
    /// Active while the mains have failed.
    case power

    public static let all: [InputName] = [.hookSwitch, .tamper, .inhibit, .power]

    /// As in `[input.NAME]` and in events.
    public var text: ByteString {
        switch self {
        case .hookSwitch: return "hook_switch"
        case .tamper: return "tamper"
        case .inhibit: return "inhibit"
        case .power: return "power"
        }
    }
}

/// What a finger did to a button, without the bouncing of its contact.
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
    /// The call is placed.
    case call
    /// Somebody has answered.
    case answered
    /// The help point can be used.
    case ready
    /// It cannot.
    case fault

    public static let all: [LampName] = [.call, .answered, .ready, .fault]

    /// As in `[lamp.NAME]`.
    public var text: ByteString {
        switch self {
        case .call: return "call"
        case .answered: return "answered"
        case .ready: return "ready"
        case .fault: return "fault"
        }
    }
}

/// A family of devices that may be missing, or fail and come back; and what else the help point stands on.
public enum DeviceFamily: UInt8, Hashable, Sendable {
    case display
    case camera
    case playback
    case capture
    /// Buttons and lamps.
    case panel
    /// No address, no route, or the SIP port could not be opened.
    case network
    /// Where logs and calls are written down.
    case storage
    /// It was opened.
    case housing
    /// The mains.
    case supply
    /// The starts: this one is made with as little as can be.
    case safeMode
    /// The partition that `callbox.conf` is on: it is not there.
    case bootPartition
    /// The same: nothing can be written on it.
    case bootWrite
    /// The data partition: it was made anew.
    case dataLost
    /// The same: there is none.
    case dataPartition
    /// What time it is.
    case clock

    public static let all: [DeviceFamily] = [
        .display, .camera, .playback, .capture, .panel, .network, .storage, .housing, .supply, .safeMode,
        .bootPartition, .bootWrite, .dataLost, .dataPartition, .clock,
    ]

    /// As in `fault` events.
    public var text: ByteString {
        switch self {
        case .display: return "display"
        case .camera: return "camera"
        case .playback: return "playback"
        case .capture: return "capture"
        case .panel: return "panel"
        case .network: return "network"
        case .storage: return "storage"
        case .housing: return "housing"
        case .supply: return "supply"
        case .safeMode: return "safe_mode"
        case .bootPartition: return "boot_partition"
        case .bootWrite: return "boot_write"
        case .dataLost: return "data_lost"
        case .dataPartition: return "data_partition"
        case .clock: return "clock"
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
