// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ConfigurationSection {
    static let buttons: [ConfigurationSection] = ButtonName.all.map { button in
        ConfigurationSection(
            "button." + button.text, like: button == .call ? nil : "button.call", Self.meaning(button),
            Self.line(button) + Self.fingers(button) + (button.isCall ? Self.caller(button) : []))
    }

    private static func meaning(_ button: ButtonName) -> StaticString {
        switch button {
        case .call, .further:
            return "The call button; there may be further ones. It also answers a call from outside that rings."
        case .hook: return "The hook button cancels or ends a call, and clears a message."
        case .mute: return "The mute button sends silence, and with the next press the microphone again."
        case .video: return "The video button stops the camera, and with the next press starts it again."
        case .keypad: return "The keypad button shows and hides the keypad on the screen, in a call."
        case .language: return "The language button goes on to the next of the languages."
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
                """
                Milliseconds, 0 to 500, for which the line must be pressed before it counts, without what contacts
                and cables do by themselves. A release takes 60 ms or more.
                """
            ) { $0[button].debounceMs = $1 },
        ]
    }

    /// What a finger may mean by staying on the button.
    private static func fingers(_ button: ButtonName) -> [ConfigurationSetting] {
        let meanings: [(ByteString, ButtonSettings.LongPress)] = [
            ("none", .none), ("hook", .hook), ("mute", .mute), ("video", .video), ("keypad", .keypad),
            ("language", .language), ("health", .health),
        ]
        return [
            .init(
                "hold", "0", Self.number(0...10, "seconds"),
                """
                Seconds, 0 to 10, for which the button must be held before it acts; the screen counts them down.
                With `0` it acts when it is pressed.
                """
            ) { $0[button].holdSeconds = $1 },
            .init(
                "long", "none", Self.choice(meanings),
                """
                What the button does as well when it stays pressed: what the button `hook`, `mute`, `video`, `keypad`
                or `language` does, or `health`, the installer's page. A help point with one button can end calls so.
                """
            ) { $0[button].long = $1 },
            .init(
                "long_after", "3", Self.number(1...30, "seconds"), "Seconds, 1 to 30, until it does."
            ) { $0[button].longAfterSeconds = $1 },
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
                "text", "auto", ConfigurationValue.textOrAuto,
                "What the legend on the screen calls the button; `auto`: that it calls."
            ) { $0[button].text = $1.flatMap { $0.isEmpty ? nil : $0 } },
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
}
