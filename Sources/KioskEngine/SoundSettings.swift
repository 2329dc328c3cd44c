// SPDX-License-Identifier: Apache-2.0

/// `[sound]`: what the person at the panel hears beside the far end's voice.
public struct SoundSettings: Equatable, Sendable {
    public var tones = ToneCountry.etsi
    /// A short sound where a call is placed, answered or ended, and for mute.
    public var chimes = true
    /// A short sound when the kiosk has started, and when a device or the network goes away or comes back.
    public var tellsStatus = true
    /// Sentences are spoken.
    public var speaks = true
    /// In percent of what the loudspeaker does.
    public var volume = 100
    public var toneVolume = 100
    public var promptVolume = 100

    public init() {}
}
