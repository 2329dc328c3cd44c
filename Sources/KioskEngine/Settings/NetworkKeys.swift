// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire

extension ConfigurationSection {
    static let media = ConfigurationSection(
        "media", "How sound and picture travel.",
        [
            .init(
                "encryption", "optional",
                Self.choice([
                    ("off", .off), ("optional", .optional), ("required", .required),
                ]),
                """
                Whether sound and picture are encrypted (SRTP): `off`; `optional`, where the other side can;
                `required`, or there is no call.
                """
            ) { $0.media.encryption = $1 },
            .init(
                "keying", "auto",
                Self.choice([("auto", .automatic), ("sdes", .sdes), ("dtls", .dtls), ("both", .both)]),
                """
                How the keys are agreed: `sdes`, in the messages; `dtls`, by a handshake between the two sides;
                `both`; `auto`: `sdes` by TLS, else `dtls` where keys are required. Without TLS anybody on the way
                can read keys in messages: then they are offered only by `sdes` written here. Whatever the other
                side offers is taken.
                """
            ) { $0.media.keying = $1 },
        ])

    static let rtp = ConfigurationSection(
        "rtp", "Ports for sound and picture.",
        [
            .init(
                "ports", "40000-40099", ConfigurationValue.ports,
                "UDP ports for sound and picture: at least four, the first even."
            ) { $0.rtp.ports = $1 }
        ])

    static let network = ConfigurationSection(
        "network", "The network around the help point.",
        [
            .init(
                "dns", "auto", ConfigurationValue.nameServers,
                """
                Up to four name servers, with `:port` where it is not 53: `192.0.2.53, [2001:db8::53]:5300`.
                `auto`: those that the system names.
                """
            ) { $0.network.nameServers = $1 },
            .init(
                "dscp_signalling", "40", Self.number(0...63),
                "The mark (DSCP, 0 to 63) that routers and switches see on signalling; `0` marks nothing."
            ) { $0.network.signallingCodePoint = UInt8($1) },
            .init("dscp_sound", "46", Self.number(0...63), "The mark on sound.") {
                $0.network.soundCodePoint = UInt8($1)
            },
            .init("dscp_picture", "34", Self.number(0...63), "The mark on pictures.") {
                $0.network.pictureCodePoint = UInt8($1)
            },
        ] + Self.link)
}
