// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ConfigurationSection {
    static let buttons: [ConfigurationSection] = ButtonName.all.map { button in
        ConfigurationSection(
            "button." + button.text, like: button == .call ? nil : "button.call", Self.meaning(button),
            Self.line(button) + (button == .call ? Self.caller(button) : []))
    }

    private static func meaning(_ button: ButtonName) -> StaticString {
        switch button {
        case .call: return "The call button. It also answers a call from outside that rings."
        case .hook: return "The hook button cancels or ends a call, and clears a message."
        case .mute: return "The mute button sends silence, and with the next press the microphone again."
        case .video: return "The video button stops the camera, and with the next press starts it again."
        }
    }

    /// The keys of every button.
    private static func line(_ button: ButtonName) -> [ConfigurationSetting] {
        let biases: [(ByteString, ButtonSettings.Bias?)] = [
            ("pull-up", .pullUp), ("pull-down", .pullDown), ("none", ButtonSettings.Bias.none), ("auto", nil),
        ]
        return [
            .init(
                "line", "none", ConfigurationValue.line,
                """
                The GPIO line of the button: the line's name, or `chip-label:offset`. `gpioinfo` lists both.
                Numbers alone are not taken, because they change with the kernel.
                """, instead: "no such button"
            ) { $0[button].line = $1 },
            .init(
                "active_low", "yes", ConfigurationValue.yesOrNo,
                "`yes`: the line is low while the button is pressed, which connects it to ground."
            ) { $0[button].isActiveLow = $1 },
            .init(
                "bias", "auto", Self.choice(biases),
                "`pull-up`, `pull-down`, `none`, or `auto`: up where `active_low` is `yes`, else down."
            ) { $0[button].biasWanted = $1 },
            .init(
                "debounce", "20", Self.number(0...500, "milliseconds"),
                "Milliseconds, 0 to 500, for which a level must stand before it counts."
            ) { $0[button].debounceMs = $1 },
        ]
    }

    /// The keys of buttons that call.
    private static func caller(_ button: ButtonName) -> [ConfigurationSetting] {
        [
            .init(
                "uri", "auto", ConfigurationValue.stepsOrAuto,
                "Whom this button calls, written as in `[call]`; `auto`: the same."
            ) { $0[button].steps = $1 },
            .init(
                "ring_timeout", "auto", ConfigurationValue.ringTimeoutOrAuto,
                "Seconds, 5 to 600, as in `[call]`, for calls by this button; `auto`: the same."
            ) { $0[button].ringTimeoutMs = $1 },
            .init(
                "start", "normal", Self.choice(Self.starts),
                """
                How calls by this button begin: `normal`; `muted`, until the mute button is pressed; `no_video`, with
                the camera off until the video button is pressed; `audio`, with sound alone.
                """
            ) { $0[button].start = $1 },
            .init(
                "ends_call", "no", ConfigurationValue.yesOrNo,
                """
                `yes`: a press during a call ends it, for help points with one button. With `no`, a second press
                does nothing: somebody in distress presses twice.
                """
            ) { $0[button].endsCall = $1 },
            .init(
                "name", "auto", ConfigurationValue.textOrAuto,
                "The name that the other side sees for calls by this button; `auto` for that of `[sip]`."
            ) { $0[button].callerName = $1 },
            .init(
                "label", "auto", ConfigurationValue.textOrAuto,
                """
                What the header `X-Callbox-Button` tells servers; `auto` for the button's name, `none` for no
                header.
                """
            ) { $0[button].label = $1 },
        ]
    }

    private static let starts: [(ByteString, CallStart)] = [
        ("normal", .normal), ("muted", .muted), ("no_video", .noVideo), ("audio", .audio),
    ]

    static let lamp = ConfigurationSection(
        "lamp.call",
        """
        The lamp: off when idle, slow blink while calling, on in a call, fast blink after a call that failed and
        while there is nobody to call.
        """,
        [
            .init(
                "line", "none", ConfigurationValue.line, "The GPIO line of the lamp, named as that of a button.",
                instead: "no such lamp"
            ) { $0.callLamp.line = $1 },
            .init(
                "active_low", "no", ConfigurationValue.yesOrNo, "`yes`: the lamp is lit while the line is low."
            ) { $0.callLamp.isActiveLow = $1 },
        ])
}
