// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

extension ConfigurationSection {
    static let call = ConfigurationSection(
        "call", "Whom the call button calls, and how calls go.",
        [
            .init(
                "uri", "", ConfigurationValue.uri,
                """
                Whom the call button calls: `sip:user@host`, with `:port` and `;transport=tcp` or `;transport=tls`
                where needed, or `sips:user@host`: encrypted all the way, and never otherwise. Without it the help
                point says that it is out of order.
                """, example: "sip:help@example.com"
            ) { $0.call.uri = $1 },
            .init(
                "incoming", "refuse", Self.choice([("refuse", .refuse), ("ring", .ring), ("answer", .answer)]),
                """
                Calls from outside: `refuse` (with 480), `ring` (the call button answers, the hook declines), or
                `answer` (at once). With `answer`, whoever is let in by `accept_from` can see and hear the
                surroundings of the help point. While there is a call, 486.
                """
            ) { $0.call.incoming = $1 },
            .init(
                "transfer", "follow", Self.choice([("follow", .follow), ("refuse", .refuse)]),
                """
                What becomes of a call whose other side asks to call somebody else in its place: `follow`, or
                `refuse` (with 603).
                """
            ) { $0.call.transfer = $1 },
            .init(
                "ring_timeout", "60", Self.number(5...600, "seconds"),
                """
                Seconds, 5 to 600, from the first sign of the other side until an unanswered call is given up. A
                call to which nothing at all comes back ends after 32 s.
                """
            ) { $0.call.ringTimeoutMs = $1 * 1000 },
            .init(
                "media_timeout", "10", Self.number(5...600, "seconds"),
                "Seconds, 5 to 600, after which a call is ended in which nothing is received any more."
            ) { $0.call.mediaTimeoutMs = $1 * 1000 },
        ])
}
