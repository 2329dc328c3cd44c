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
        ])
}
