// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ConfigurationSection {
    static let audio = ConfigurationSection(
        "audio", "Loudspeaker and microphone.",
        [
            .init(
                "playback", "auto", ConfigurationValue.sound,
                """
                The ALSA name of the loudspeaker with its card's id (`plughw:Headset`), `auto` for the system's
                default, or `none`.
                """
            ) { $0.audio.playback = $1 },
            .init("capture", "auto", ConfigurationValue.sound, "The same for the microphone.") {
                $0.audio.capture = $1
            },
            .init("codecs", "opus, pcmu, pcma", ConfigurationValue.codecs, "What is offered, best first.") {
                $0.audio.codecs = $1
            },
            .init(
                "echo_cancellation", "on", ConfigurationValue.yesOrNo,
                """
                What the loudspeaker plays is taken out of what the microphone hears. `off` where the sound card does it
                already; the microphone is then silent while a prompt is spoken.
                """
            ) { $0.audio.cancelsEcho = $1 },
            .init(
                "noise_suppression", "off", Self.choice(Self.noiseSuppressions),
                """
                Takes steady noise, of wind or traffic, out of what the microphone hears: `low`, `moderate` or `high`
                for 6, 12 or 18 dB; `off`. A tone that goes on, as that of an alarm, is taken for noise.
                """
            ) { $0.audio.noiseSuppression = $1 },
            .init(
                "gain_control", "off", ConfigurationValue.yesOrNo,
                "Makes louder who speaks softly or from afar, and the noise around them too."
            ) { $0.audio.controlsGain = $1 },
        ])

    static let sound = ConfigurationSection(
        "sound",
        """
        What the person at the panel hears beside the far end's voice; nothing of it is sent to the far end. Own prompts
        lie beside this file as `prompts/en/busy.wav`: the language, and the name as in the list in
        `/usr/share/callbox/prompts`; WAV of 16 bits, 8 to 48 kHz, 30 seconds at most.
        """,
        [
            .init(
                "tones", "etsi", Self.choice(Self.tones),
                "Whose ring-back, busy and error tones: `etsi` (most of Europe), `uk`, `us`, `fr`, `es`, `cn`."
            ) { $0.sound.tones = $1 },
            .init(
                "chimes", "yes", ConfigurationValue.yesOrNo,
                "A short sound when a call is placed, answered and ended, and for mute."
            ) { $0.sound.chimes = $1 },
            .init(
                "status", "yes", ConfigurationValue.yesOrNo,
                "A short sound when the kiosk has started, and when a device or the network goes away or comes back."
            ) { $0.sound.tellsStatus = $1 },
            .init(
                "prompts", "yes", ConfigurationValue.yesOrNo,
                """
                Each step of a call is spoken, for people who do not see the screen. The far end does not hear it, and
                its first sound ends it.
                """
            ) { $0.sound.speaks = $1 },
            .init(
                "volume", "100", Self.number(0...100, "percent"),
                "How loud everything is, the far end's voice too, in percent; 50 is about half as loud."
            ) { $0.sound.volume = $1 },
            .init("tone_volume", "100", Self.number(0...100, "percent"), "The same for tones and chimes alone.") {
                $0.sound.toneVolume = $1
            },
            .init("prompt_volume", "100", Self.number(0...100, "percent"), "The same for prompts alone.") {
                $0.sound.promptVolume = $1
            },
        ])

    private static let noiseSuppressions: [(ByteString, AudioSettings.NoiseSuppression)] = [
        ("off", .off), ("low", .low), ("moderate", .moderate), ("high", .high),
    ]

    private static let tones: [(ByteString, ToneCountry)] = [
        ("etsi", .etsi), ("uk", .unitedKingdom), ("us", .unitedStates), ("fr", .france), ("es", .spain),
        ("cn", .china),
    ]
}
