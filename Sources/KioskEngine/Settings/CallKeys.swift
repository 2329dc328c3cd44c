// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

extension ConfigurationSection {
    static let call = ConfigurationSection(
        "call", "Whom the call button calls, and how calls go.",
        [
            .init(
                "uri", "", ConfigurationValue.steps,
                """
                Whom the call button calls: `sip:user@host`, with `:port` and `;transport=tcp` or `;transport=tls`
                where needed, or `sips:user@host`: encrypted all the way, and never otherwise. A name or number alone
                (`help`, `100`, `tel:+49-30-1234567`) is one of the server's in `[account]` or `[servers]`, and a link
                `callbox://server?uri=help` one of that server's. Up to eight with commas between them are called one
                after the other, where one is busy, declines, does not answer or cannot be reached; up to four with
                ` + ` between them at the same time: the first that answers has the call. `;ring=20` after an address
                says for how many seconds this one may ring, `;postd=12p34` which keys are pressed once it has
                answered (`p`: a second's pause). Without `uri` the help point says that it is out of order.
                """, example: "sip:help@example.com"
            ) { $0.call.steps = $1 },
            .init(
                "cycles", "1", Self.number(1...10),
                "How often all of `uri` are called, 1 to 10, until somebody answers."
            ) { $0.call.cycles = $1 },
            .init(
                "pause", "2", Self.number(0...300, "seconds"), "Seconds, 0 to 300, between two cycles."
            ) { $0.call.pauseMs = $1 * 1000 },
            .init(
                "confirm", "none", Self.choice([("none", false), ("dtmf", true)]),
                """
                `dtmf`: whoever answers has to press a key of the telephone, or the next of `uri` is called: an
                answering machine presses none. Until then it still rings for whoever stands at the help point, and
                neither side sees or hears the other. `none`: every answer counts.
                """
            ) { $0.call.isConfirmed = $1 },
            .init(
                "confirm_timeout", "15", Self.number(5...120, "seconds"),
                "Seconds, 5 to 120, in which the key has to be pressed."
            ) { $0.call.confirmTimeoutMs = $1 * 1000 },
            .init(
                "confirm_prompt", "yes", ConfigurationValue.yesOrNo,
                """
                Whether whoever answers hears, over and over until then, that a key is to be pressed: in the first of
                the languages, and in your own words where `prompts/LANGUAGE/press-a-key.wav` lies beside this file.
                """
            ) { $0.call.tellsToConfirm = $1 },
            .init(
                "max_duration", "none", ConfigurationValue.maxDuration,
                """
                Seconds, 20 to 86400, after which a call is ended, ten seconds after a tone has said so; `none`: it
                lasts as long as it likes.
                """
            ) { $0.call.maxDurationMs = $1 * 1000 },
            .init(
                "incoming", "never", Self.choice(Self.treatments),
                """
                Calls from outside: `never` (refused with 480), `ring` (the call button answers, the hook declines),
                or `answer`: a bell and the lamp for a second, and then whoever calls can see and hear the
                surroundings of the help point. While there is a call, 486.
                """
            ) { $0.call.incoming = $1 },
            .init(
                "incoming_from", "auto", ConfigurationValue.callers,
                """
                Up to 32 callers for whom `incoming` holds; the others are refused: `desk, 1*, *@example.com`, with
                `*` for any characters, or `anyone`. `auto`: anyone who is let in by `accept_from` may ring, and nobody
                is answered by itself.
                """
            ) { $0.call.incomingFrom = $1 },
            .init(
                "call_back", "0", ConfigurationValue.callBack,
                """
                Minutes, 0 to 1440, or seconds (`30s`), after a call of the help point's in which whoever was called
                may call back: it rings, whatever `incoming` says.
                """
            ) { $0.call.callBackMs = $1 },
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
                Seconds, 5 to 600, from the first sign of the other side until an unanswered call is given up. Where
                nothing at all comes back, the next of `uri` is called after 4 s, and the last ends after 32 s.
                """
            ) { $0.call.ringTimeoutMs = $1 * 1000 },
            .init(
                "media_timeout", "10", Self.number(5...600, "seconds"),
                "Seconds, 5 to 600, after which a call is ended in which nothing is received any more."
            ) { $0.call.mediaTimeoutMs = $1 * 1000 },
        ])

    private static let treatments: [(ByteString, CallSettings.Incoming)] = [
        ("never", .refuse), ("refuse", .refuse), ("ring", .ring), ("answer", .answer),
    ]
}

extension ConfigurationValue {
    /// Milliseconds.
    static func callBack(_ value: ByteString) throws(BadValue) -> Int {
        guard value.bytes.last == UInt8(ascii: "s") else {
            return try self.number(value, 0...1440, unit: "minutes") * 60_000
        }
        return try self.number(value.slice(0..<value.count - 1), 1...3600, unit: "seconds") * 1000
    }
}
