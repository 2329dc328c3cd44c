// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

extension ConfigurationSection {
    static let accounts: [ConfigurationSection] = (0..<Configuration.accountsMax).map { Self.account($0) }

    private static func account(_ index: Int) -> ConfigurationSection {
        ConfigurationSection(
            index == 0 ? "account" : "account." + ByteString(decimal: index + 1), like: index == 0 ? nil : "account",
            "An account of a telephone server, so that others can call the help point.",
            [
                .init(
                    "uri", "", ConfigurationValue.uri,
                    """
                    Who the help point is at a telephone server: `sip:user@host`. It is registered there, so that
                    others can call it, and calls in this name. Without an account, nothing is registered.
                    """, example: "sip:gate@example.com"
                ) { $0.accounts[index].uri = $1 },
                .init(
                    "registrar", "auto", ConfigurationValue.registrar,
                    """
                    The server to register with, where it is not the host of `uri`: `sip:HOST`, with `:PORT` and
                    `;transport=tcp` where needed.
                    """
                ) { $0.accounts[index].registrar = $1 },
                .init(
                    "register", "yes", ConfigurationValue.yesOrNo,
                    "`no`: calls are made in the name of the account, and it is not registered."
                ) { $0.accounts[index].registers = $1 },
                .init(
                    "expires", "600", Self.number(60...86_400, "seconds"),
                    """
                    Seconds, 60 to 86400, for which the server is asked to remember the help point. What the
                    server grants counts, and is renewed in time.
                    """
                ) { $0.accounts[index].expiresSeconds = $1 },
                .init(
                    "outbound", "yes", ConfigurationValue.yesOrNo,
                    "`yes`: where the server knows RFC 5626, it sends calls down the help point's own connection."
                ) { $0.accounts[index].isOutbound = $1 },
            ])
    }
}
