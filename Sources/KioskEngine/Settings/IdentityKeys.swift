// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

extension ConfigurationSection {
    static let identity = ConfigurationSection(
        "identity", "What the help point tells servers of itself.",
        [
            .init(
                "user_agent", "auto", ConfigurationValue.textOrAuto,
                """
                The whole `User-Agent`. `auto` composes it of the parts below, as in
                `callbox/0.1.0 (Raspberry Pi 4; arm64; Debian 13; 1a2b3c4)`; with `none` nothing is sent.
                """
            ) { $0.identity.userAgent = $1 },
            .init("product", "auto", ConfigurationValue.textOrAuto, "In place of `callbox`.") {
                $0.identity.product = $1
            },
            .init("version", "auto", ConfigurationValue.textOrAuto, "In place of the program's version.") {
                $0.identity.version = $1
            },
            .init(
                "board", "auto", ConfigurationValue.textOrAuto,
                "In place of the board's model; `none` leaves a part out."
            ) { $0.identity.board = $1 },
            .init("architecture", "auto", ConfigurationValue.textOrAuto, "In place of `arm64` or `armv7`.") {
                $0.identity.architecture = $1
            },
            .init("system", "auto", ConfigurationValue.textOrAuto, "In place of the system's name and version.") {
                $0.identity.system = $1
            },
            .init("build", "auto", ConfigurationValue.textOrAuto, "In place of the program's build.") {
                $0.identity.build = $1
            },
            .init(
                "preferred", "none", ConfigurationValue.uriOrNone,
                "Whom the server is asked to name as the caller (P-Preferred-Identity): a `sip:` address."
            ) { $0.identity.preferred = $1 },
            .init(
                "privacy", "none", ConfigurationValue.privacy,
                """
                What the server is asked to hide (Privacy): `none`, or some of `id`, `header`, `session`, `user`,
                `critical`.
                """
            ) { $0.identity.privacy = $1 },
        ])
}
