// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ConfigurationSection {
    static let relays: [ConfigurationSection] = (0..<PanelSettings.relaysMax).map { index in
        ConfigurationSection(
            "relay." + ByteString(decimal: index + 1), like: index == 0 ? nil : "relay.1",
            """
            A relay: a door opener, a light for the camera. It is off from the start, at the end, and after `max`
            whatever happens; should the program crash in between, it is switched off at once.
            """,
            Self.line(ofRelay: index) + Self.code(ofRelay: index))
    }

    private static func line(ofRelay index: Int) -> [ConfigurationSetting] {
        [
            .init(
                "line", "none", ConfigurationValue.line, "The GPIO line of the relay, named as that of a button.",
                instead: "no such relay"
            ) { $0.panel.relays[index].line = $1 },
            .init(
                "active_low", "no", ConfigurationValue.yesOrNo, "`yes`: the relay is on while the line is low."
            ) { $0.panel.relays[index].isActiveLow = $1 },
            .init(
                "on", "none", ConfigurationValue.signals,
                """
                When it is on by itself, with commas between: `idle`, `fault`, `calling`, `ringing`, `alerting`,
                `connected`, `failed`; each as in `[lamp.call]`.
                """
            ) { $0.panel.relays[index].signals = $1 },
            .init(
                "max", "60", Self.number(1...86_400, "seconds"),
                "Seconds, 1 to 86400, after which it is off whatever happens."
            ) { $0.panel.relays[index].maxMs = $1 * 1000 },
        ]
    }

    private static func code(ofRelay index: Int) -> [ConfigurationSetting] {
        [
            .init(
                "code", "none", ConfigurationValue.relayCode,
                """
                What the other side types in a call, and then `#`, to switch it on: 4 to 16 of `0` to `9`, `*` and `A`
                to `D`. After three wrong ones no code is looked at for five minutes. There is none by itself.
                """
            ) { $0.panel.relays[index].code = $1 },
            .init(
                "allow", "called", ConfigurationValue.relayAllowed,
                """
                Whose code is looked at: `called` for those whom this help point has called, or up to eight addresses
                with commas between, whoever called.
                """
            ) { $0.panel.relays[index].allowed = $1 },
            .init(
                "pulse", "3000", Self.number(100...600_000, "milliseconds"),
                "Milliseconds, 100 to 600000, for which the code switches it on."
            ) { $0.panel.relays[index].pulseMs = $1 },
        ]
    }
}
