// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ConfigurationSection {
    static let inputs: [ConfigurationSection] = InputName.all.map { input in
        ConfigurationSection(
            "input." + input.text, like: input == .hookSwitch ? nil : "input.hook_switch", Self.meaning(input),
            Self.line(input) + (input == .hookSwitch ? [Self.dials] : []))
    }

    private static func meaning(_ input: InputName) -> StaticString {
        switch input {
        case .hookSwitch:
            return """
                The switch of a handset, active while it is lifted. Lifting it answers a call from outside, or calls;
                putting it back ends the call.
                """
        case .tamper:
            return """
                A contact that is active while the housing is open. From then on no relay is switched on until
                `callbox clear-tamper`, over starts too.
                """
        case .inhibit: return "A switch that is active while nobody may call from here, or be called."
        case .power: return "A contact that is active while the mains have failed and a battery is all there is."
        }
    }

    private static func line(_ input: InputName) -> [ConfigurationSetting] {
        let biases: [(ByteString, ButtonSettings.Bias?)] = [
            ("pull-up", .pullUp), ("pull-down", .pullDown), ("none", ButtonSettings.Bias.none), ("auto", nil),
        ]
        return [
            .init(
                "line", "none", ConfigurationValue.line, "The GPIO line, named as that of a button.",
                instead: "no such input"
            ) { $0.panel[input].line = $1 },
            .init(
                "active_low", "yes", ConfigurationValue.yesOrNo, "`yes`: the line is low while the input is active."
            ) { $0.panel[input].isActiveLow = $1 },
            .init(
                "bias", "auto", Self.choice(biases), "As for a button."
            ) { $0.panel[input].biasWanted = $1 },
            .init(
                "debounce", "50", Self.number(0...5000, "milliseconds"),
                "Milliseconds, 0 to 5000, for which the input must stand before it counts."
            ) { $0.panel[input].debounceMs = $1 },
        ]
    }

    private static let dials: ConfigurationSetting = .init(
        "dials", "yes", ConfigurationValue.yesOrNo,
        "`no`: a handset that is lifted only answers; the call button calls."
    ) { $0.panel[.hookSwitch].dials = $1 }

    private static let keypadKinds: [(ByteString, KeypadSettings.Kind)] = [
        ("none", .none), ("matrix", .matrix), ("evdev", .evdev), ("scroll", .scroll),
    ]

    static let keypad = ConfigurationSection(
        "keypad",
        "The keys of a telephone. In a call they go to the other side.",
        [
            .init(
                "type", "none", Self.choice(Self.keypadKinds),
                """
                `matrix`: keys that connect rows with columns. `evdev`: a keypad that the kernel knows as a keyboard.
                `scroll`: on the screen, shown by the button `keypad`; then `mute` goes back, `video` goes on, and
                `call` takes the key that is chosen.
                """
            ) { $0.panel.keypad.kind = $1 },
            .init(
                "device", "none", ConfigurationValue.keypadDevice,
                """
                For `evdev`: a path below `/dev/input/by-id` or `/dev/input/by-path`, or `evdev:` and the name that the
                device says. It is ours alone then.
                """
            ) { $0.panel.keypad.device = $1 },
            .init(
                "rows", "none", ConfigurationValue.keypadLines,
                "For `matrix`: the GPIO lines of the rows from above, up to eight with commas between."
            ) { $0.panel.keypad.rows = $1 },
            .init(
                "columns", "none", ConfigurationValue.keypadLines,
                "The same for the columns from the left; they are pulled up."
            ) { $0.panel.keypad.columns = $1 },
            .init(
                "keys", "123456789*0#", ConfigurationValue.keypadKeys,
                "For `matrix`: the keys row by row; `-` where there is none."
            ) { $0.panel.keypad.keys = $1 },
            .init(
                "debounce", "10", Self.number(1...200, "milliseconds"),
                "For `matrix`: milliseconds, 1 to 200, for which a key must be down before it counts."
            ) { $0.panel.keypad.debounceMs = $1 },
            .init(
                "settle", "50", Self.number(20...2000, "microseconds"),
                """
                For `matrix`: microseconds, 20 to 2000, that a row is given to pull its columns down before they are
                read. A long cable needs more.
                """
            ) { $0.panel.keypad.settleUs = $1 },
            .init(
                "before_answer", "queue", Self.choice([("queue", .queue), ("refuse", .refuse)]),
                "What becomes of keys before somebody has answered: `queue` sends them then, `refuse` does not."
            ) { $0.panel.keypad.beforeAnswer = $1 },
        ])

    static let panel = ConfigurationSection(
        "panel",
        "What concerns all buttons.",
        [
            .init(
                "stuck", "60", Self.number(0...3600, "seconds"),
                """
                Seconds, 0 to 3600, after which a button that stays pressed counts as stuck, which is shown; `0` for
                never.
                """
            ) { $0.panel.stuckSeconds = $1 },
            .init(
                "health", "hook, mute", ConfigurationValue.chord,
                """
                Two buttons, with a comma between, that show the installer's page when both are held for three seconds,
                or `none`.
                """
            ) { $0.panel.healthChord = $1 },
        ])
}
