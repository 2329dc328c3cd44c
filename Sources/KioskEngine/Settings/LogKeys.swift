// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ConfigurationSection {
    static let log = ConfigurationSection(
        "log", "The log in the data folder: four files of a megabyte, the oldest of which makes room.",
        [
            .init(
                "level", "info", Self.choice(LogLevel.all),
                """
                How much is kept: `error`, what keeps calls from being made; `warning`, what else is wrong; `info`,
                what happens; `debug`, what is counted each second, the first line of each message of SIP, and when the
                contact of each button and input opened and closed, in microseconds (32 times a second at most).
                `callbox log LEVEL PART` changes it for a part until the next start.
                """
            ) { $0.log.level = $1 },
            .init(
                "digits", "no", ConfigurationValue.yesOrNo,
                "`yes`: which keys the other side presses is kept too. They may be somebody's code."
            ) { $0.log.keepsDigits = $1 },
        ])
}
