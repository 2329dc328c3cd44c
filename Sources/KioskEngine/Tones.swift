// SPDX-License-Identifier: Apache-2.0

/// What sounds at the panel until another tone is ordered, beside the far end's voice. Nothing of it is sent to the far
/// end, nor of a chime.
public enum Tone: Hashable, Sendable {
    case none
    /// Ring-back: the far end rings.
    case ringback
    /// Somebody calls here: press to answer. The same everywhere.
    case bell
    /// The far end is busy, or has hung up.
    case busy
    /// The call failed: what telephone networks call congestion or reorder.
    case error
}

/// Whose telephone tones are heard: everybody knows those of the own country from childhood.
public enum ToneCountry: Hashable, Sendable {
    /// ETSI TS 101 041-2.
    case etsi
    /// BS 6305.
    case unitedKingdom
    /// The "precise tone plan" of ANSI T1.401.
    case unitedStates
    // The rest as in ITU-T E.180 supplement 2.
    case france
    case spain
    case china
}

/// A short sound that is heard once; whatever tone stands goes on.
public enum Chime: Hashable, Sendable {
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
