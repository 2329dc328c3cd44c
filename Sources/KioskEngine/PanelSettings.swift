// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// What the file says about the panel, beside its buttons.
public struct PanelSettings: Equatable, Sendable {
    public static let relaysMax = 4

    /// By `InputName.rawValue`.
    private var inputSettings = [InputSettings](repeating: InputSettings(), count: InputName.all.count)
    /// By `LampName.rawValue`.
    private var lampSettings = LampName.all.map { LampSettings($0) }
    public var relays = [RelaySettings](repeating: RelaySettings(), count: PanelSettings.relaysMax)
    public var keypad = KeypadSettings()
    /// Held together they show the installer's page; empty: nothing does.
    public var healthChord: [ButtonName] = [.hook, .mute]
    /// How long any button may be pressed before it counts as stuck; 0: for ever.
    public var stuckSeconds = 60

    public init() {}

    public subscript(input: InputName) -> InputSettings {
        get { self.inputSettings[Int(input.rawValue)] }
        set { self.inputSettings[Int(input.rawValue)] = newValue }
    }

    public subscript(lamp: LampName) -> LampSettings {
        get { self.lampSettings[Int(lamp.rawValue)] }
        set { self.lampSettings[Int(lamp.rawValue)] = newValue }
    }
}

/// `[input.NAME]`
public struct InputSettings: Equatable, Sendable {
    public var line: LineName?
    public var isActiveLow = true
    /// Nil: away from active.
    public var biasWanted: ButtonSettings.Bias?
    public var debounceMs = 50
    /// `hook_switch` only: a handset that is lifted calls.
    public var dials = true

    public var bias: ButtonSettings.Bias { self.biasWanted ?? (self.isActiveLow ? .pullUp : .pullDown) }
}

/// `[lamp.NAME]`
public struct LampSettings: Equatable, Sendable {
    public var line: LineName?
    public var isActiveLow = false
    /// By `Signal.rawValue`.
    private var patterns: [LampPattern]
    /// While anything is wrong, whatever else goes on; nil: as otherwise.
    public var standing: LampPattern?

    public init(_ name: LampName) {
        self.standing = name == .fault ? .on : nil
        self.patterns = Signal.all.map { name.standard($0) }
    }

    public subscript(signal: Signal) -> LampPattern {
        get { self.patterns[Int(signal.rawValue)] }
        set { self.patterns[Int(signal.rawValue)] = newValue }
    }
}

/// `[relay.N]`
public struct RelaySettings: Equatable, Sendable {
    /// Whose codes are looked at.
    public enum Allowed: Equatable, Sendable {
        /// Those whom this help point has called.
        case called
        /// These, whoever called.
        case listed([SIPURI])
    }

    public var line: LineName?
    public var isActiveLow = false
    /// It is on in these.
    public var signals: [Signal] = []
    /// What the far end has to type before `#`; empty: nothing does.
    public var code = ByteString()
    public var allowed = Allowed.called
    public var pulseMs = 3_000
    public var maxMs = 60_000

    public static let codeBytesMin = 4
}

/// `[keypad]`
public struct KeypadSettings: Equatable, Sendable {
    public enum Kind: Sendable {
        case none
        /// Keys that connect rows with columns.
        case matrix
        /// A keyboard of the kernel's.
        case evdev
        /// On the screen, by the other buttons.
        case scroll
    }

    public enum BeforeAnswer: Sendable {
        /// Kept until somebody has answered.
        case queue
        case refuse
    }

    public var kind = Kind.none
    /// A path below /dev/input/by-id or by-path, or `evdev:NAME`.
    public var device = ByteString()
    public var rows: [LineName] = []
    public var columns: [LineName] = []
    /// Row by row.
    public var keys: ByteString = "123456789*0#"
    public var debounceMs = 10
    /// How long a row needs to pull its columns down.
    public var settleUs = 50
    public var beforeAnswer = BeforeAnswer.queue
}
