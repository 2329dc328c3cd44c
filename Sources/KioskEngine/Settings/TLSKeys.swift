// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ConfigurationSection {
    static let tls = ConfigurationSection(
        "tls", "Encrypted signalling: `sips:` addresses, and `transport = tls`.",
        [
            .init(
                "verify", "strict",
                Self.choice([
                    ("strict", .strict), ("pin", .pin), ("tofu", .firstSeen), ("off", .off),
                ]),
                """
                Which certificate of a server is taken. `strict`: valid today, from an authority of the system's
                list or of `ca`, for the host in the `uri`. `pin`: one whose fingerprint is in `pins`, whatever
                else it says. `tofu`: the first that is seen under a name, and then no other. `off`: any; what
                speaks against it is only logged.
                """
            ) { $0.tls.verify = $1 },
            .init(
                "pins", "none", ConfigurationValue.pins,
                """
                Up to 8 SHA-256 fingerprints, as `openssl x509 -noout -fingerprint -sha256 -in server.pem` prints
                them.
                """
            ) { $0.tls.pins = $1 },
            .init(
                "wildcard", "no", ConfigurationValue.yesOrNo,
                """
                `yes`: a certificate for `*.example.com` counts for `sip.example.com`. RFC 5922 forbids it; many
                servers have one.
                """
            ) { $0.tls.allowsWildcard = $1 },
            .init(
                "ca", "none", ConfigurationValue.path,
                "A PEM file of authorities that are trusted beside the system's: `/boot/callbox/ca.pem`."
            ) { $0.tls.authorities = $1 },
            .init(
                "certificate", "none", ConfigurationValue.path,
                """
                A PEM file of the help point's own certificate, followed by those above it. It is shown to servers
                that ask, and with it connections from outside are taken.
                """
            ) { $0.tls.certificate = $1 },
            .init(
                "key", "none", ConfigurationValue.path, "The PEM file of its private key, not encrypted."
            ) { $0.tls.key = $1 },
            .init(
                "listen", "any:5061", ConfigurationValue.listenForTLS,
                "Address and port for SIP over TLS, used when there is a `certificate`."
            ) { $0.tls.listen = $1 },
            .init(
                "ask", "none", ConfigurationValue.path,
                """
                A program that is started when a certificate would be refused. It reads one JSON object from its
                standard input, has three seconds, and writes `once`, `pin` (take it from now on under this name)
                or `refuse`.
                """
            ) { $0.tls.ask = $1 },
        ])
}
