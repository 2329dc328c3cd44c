// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

extension ConfigurationSection {
    static let servers = ConfigurationSection(
        "servers", "Telephone servers that calls go through, where they do not go straight to their address.",
        [
            .init(
                "proxies", "none", ConfigurationValue.proxies,
                """
                Up to eight servers to which every call and text goes first, whatever host it is for, best first,
                each with its transport: `sip:one.example.com;transport=tcp, sip:192.0.2.2`. The next is tried
                where one is silent for two seconds, refuses, or says that it is out of service, and stays in use
                then.
                """
            ) { $0.servers.proxies = $1 },
            .init(
                "failback", "auto", Self.choice([("auto", .auto), ("manual", .manual), ("never", .never)]),
                """
                How the first comes back: `auto`, between calls and once it has answered for a minute; `manual`,
                by `callbox failback`; `never`, only where the one in use fails.
                """
            ) { $0.servers.failback = $1 },
        ])
}
