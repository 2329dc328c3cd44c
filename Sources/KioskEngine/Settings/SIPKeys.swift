// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

extension ConfigurationSection {
    static let sip = ConfigurationSection(
        "sip", "The help point's own name and address, its password, and who may talk to it.",
        [
            .init(
                "listen", "any:5060", ConfigurationValue.listen,
                "Address and port for SIP over UDP and TCP: `any:5060`, `192.0.2.1`, `[2001:db8::1]:5062`."
            ) { $0.sip.listen = $1 },
            .init(
                "transport", "udp", Self.choice([("udp", .udp), ("tcp", .tcp), ("tls", .tls)]),
                "`udp`, `tcp` or `tls`, for a `uri` without `;transport=`."
            ) { $0.sip.transport = $1 },
            .init(
                "user", "callbox", ConfigurationValue.user, "The user part of the help point's own address."
            ) { $0.sip.user = $1 },
            .init("name", "Callbox", ConfigurationValue.displayName, "The name that the other side sees.") {
                $0.sip.name = $1
            },
            .init(
                "offerless", "no", ConfigurationValue.yesOrNo,
                """
                `yes`: the invitation has no session description, and the other side makes the offer. For systems
                that want it so.
                """
            ) { $0.sip.isOfferless = $1 },
            .init(
                "accept_from", "servers", ConfigurationValue.peers,
                """
                Who may send SIP outside of the help point's own calls: `servers` (the addresses of those in
                `[servers]`, or of the host in `uri`, and those of the accounts' servers), `anyone`, or a list of
                up to 32 addresses and ranges (`192.0.2.7, 2001:db8::/32`) beside the servers. To everybody else
                nothing is answered, not even an error.
                """
            ) { $0.sip.acceptFrom = $1 },
            .init(
                "auto_answer_from", "none", ConfigurationValue.ranges,
                """
                Addresses and ranges whose calls are answered at once where they ask for it (Answer-Mode,
                Call-Info, Alert-Info), whatever `incoming` says. They may also send everything else.
                """
            ) { $0.sip.autoAnswerFrom = $1 },
            .init(
                "accounts", "serial", Self.choice([("serial", .serial), ("all", .all)]),
                """
                How many of the accounts are registered: `serial` registers the first, and each later one only
                while all before it fail; `all` registers every one.
                """
            ) { $0.sip.accounts = $1 },
            .init(
                "auth_user", "", ConfigurationValue.authUser,
                "The name that goes with the password; where it is missing, `user`."
            ) { $0.sip.authUser = $1 },
            .init(
                "password", "", ConfigurationValue.password,
                """
                The password for servers that ask for one. At the next start or reload it is moved to a safer
                place, the secrets file, and its line here is left empty.
                """
            ) { $0.sip.password = $1 },
        ])
}
