// SPDX-License-Identifier: Apache-2.0
import Bytes

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
