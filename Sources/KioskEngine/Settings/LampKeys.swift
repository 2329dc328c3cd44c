// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ConfigurationSection {
    static let lamps: [ConfigurationSection] = LampName.all.map { lamp in
        ConfigurationSection(
            "lamp." + lamp.text, like: lamp == .call ? nil : "lamp.call", Self.meaning(lamp),
            [
                .init(
                    "line", "none", ConfigurationValue.line, "The GPIO line of the lamp, named as that of a button.",
                    instead: "no such lamp"
                ) { $0.panel[lamp].line = $1 },
                .init(
                    "active_low", "no", ConfigurationValue.yesOrNo, "`yes`: the lamp is lit while the line is low."
                ) { $0.panel[lamp].isActiveLow = $1 },
            ] + Signal.all.map { Self.pattern(lamp, $0) } + [Self.standing(lamp)])
    }

    private static func meaning(_ lamp: LampName) -> StaticString {
        switch lamp {
        case .call:
            return """
                The lamp of the call: off when idle, slow blink while calling, on in a call, fast blink after a call
                that failed and while there is nobody to call. Each may be another pattern: `off`, `on`, `slow` (once a
                second), `fast` (2.5 times), `flash` (short, every two seconds), or the milliseconds lit and dark as in
                `300/700`. No lamp may blink more than three times a second.
                """
        case .answered: return "A lamp that says that somebody has answered: on in a call."
        case .ready: return "A lamp that says that the help point can be used: on but where there is nobody to call."
        case .fault:
            return "A lamp that is on as long as anything is wrong, and blinks slowly after a call that failed."
        }
    }

    private static func pattern(_ lamp: LampName, _ signal: Signal) -> ConfigurationSetting {
        .init(
            signal.text, lamp.standard(signal).text, ConfigurationValue.lampPattern, Self.meaning(signal)
        ) { $0.panel[lamp][signal] = $1 }
    }

    private static func standing(_ lamp: LampName) -> ConfigurationSetting {
        .init(
            "standing", LampSettings(lamp).standing?.text ?? "none", ConfigurationValue.lampPatternOrNone,
            """
            The pattern as long as anything is wrong, a device, the network or the file, whatever else goes on; `none`:
            as otherwise.
            """
        ) { $0.panel[lamp].standing = $1 }
    }

    private static func meaning(_ signal: Signal) -> StaticString {
        switch signal {
        case .idle: return "The pattern when nothing goes on."
        case .fault: return "The pattern while nobody can be called."
        case .calling: return "The pattern from the press until it rings at the other side."
        case .ringing: return "The pattern while it rings at the other side."
        case .alerting: return "The pattern while somebody calls here."
        case .connected: return "The pattern in a call."
        case .failed: return "The pattern after a call that failed, for as long as the screen says why."
        }
    }
}
