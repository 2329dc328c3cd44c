// SPDX-License-Identifier: Apache-2.0

/// Every bound of the engine. What comes beyond is refused or dropped, and counted.
enum Limits {
    /// Calls that live at once, the ones that are ending included.
    static let callsMax = 8
    /// Client transactions. Something waits on at most six for a call (INVITE, BYE, re-INVITE, UPDATE, an INFO, a
    /// NOTIFY), on our MESSAGEs, and on a REGISTER of each account; the others, for CANCEL, PRACK and the losers of
    /// forks, may be forgotten.
    static let clientTransactionsMax = 96
    /// Server transactions.
    static let serverTransactionsMax = 64
    /// Server transactions that only requests within our dialogs may use, so that strangers cannot shut them out.
    static let serverTransactionsForDialogs = 24
    /// Dialogs of one forked INVITE that we acknowledge and end.
    static let forksMax = 8
    /// Early dialogs of one INVITE that we remember.
    static let earlyDialogsMax = 8
    /// How often one INVITE is sent again in other words (420, 421, 422).
    static let inviteRetriesMax = 4
    /// How often of these because the session interval was too small (RFC 4028 section 7.3).
    static let intervalRetriesMax = 2
    /// Credentials, and challenges that are answered before they are made.
    static let credentialsMax = 16
    static let protectionSpacesMax = 16
    /// How often one request is sent again with an answer to a challenge.
    static let challengesAnsweredMax = 3
    /// What credentials add to a request, about.
    static let credentialsBytes = 320
    /// Streams with a framer; the one unused for longest goes.
    static let streamsMax = 32
    /// Streams with a framer of those who may not talk to us.
    static let strangerStreamsMax = 4
    /// How far into a stranger's message its Call-ID is looked for.
    static let strangerHeadBytes = 4_096
    /// Addresses of our servers.
    static let trustedMax = 64
    /// Hops of one call that refused TCP.
    static let streamsRefusedMax = 4
    /// REFERs with a decision, a new call or a NOTIFY to come.
    static let referralsMax = 8
    /// How long a REFER may wait for a decision; its sender gives up after 32 s.
    static let referralDecisionMs = 16_000
    /// How long the subscription of a REFER lasts: longer than a new call rings.
    static let referralSeconds = 240
    /// A longer Referred-By is not passed on.
    static let referredByBytesMax = 512
    /// MESSAGEs of ours without an answer.
    static let messagesMax = 16
    /// OPTIONS of ours without an answer.
    static let probesMax = 8
    /// The body of an INFO with a digit.
    static let digitBodyBytesMax = 256
    /// How long a digit lasts at least, and where nothing is said about it.
    static let digitMs = 100
    static let digitMsMax = 5_000
    /// The trace: messages, bytes of all of them, bytes of one.
    static let traceEntriesMax = 192
    static let traceBytesMax = 98_304
    static let traceTextBytesMax = 2_048
    /// Dialogs of a trace that are drawn, and the columns of peers in each.
    static let traceDialogsMax = 8
    static let tracePeersMax = 4
    /// Accounts.
    static let registrationsMax = 8
    /// How often one order is sent again because an answer asks for it (423, 439).
    static let registerRetriesMax = 4
    /// What a registrar grants is taken for at least and at most so much, in seconds.
    static let registerSecondsMin: UInt32 = 10
    static let registerSecondsMax: UInt32 = 3_600
    /// What we ask for at most where a 423 does not say what it wants, and the most that it may want.
    static let registerSecondsWantedMax: UInt32 = 86_400
    static let registerSecondsMinMax: UInt32 = 604_800
    /// The shortest time between a grant and the next REGISTER.
    static let registerRefreshMsMin = 5_000
    /// A longer Retry-After is cut to this, in seconds.
    static let retryAfterSecondsBelieved: UInt32 = 300
    /// Between two pings on a stream, and on a datagram flow (RFC 5626 sections 4.4.1 and 4.4.2).
    static let streamPingMs = 95_000...120_000
    static let datagramPingMs = 24_000...29_000
    /// A shorter Flow-Timer is taken for this, in seconds.
    static let flowTimerSecondsMin = 10
    /// How long a pong is waited for (RFC 5626 section 4.4.1).
    static let pongMs = 10_000
    /// INVITE is answered with 100 when nothing else was sent for so long (RFC 3261 section 17.2.1).
    static let tryingMs = 200
    /// The shortest session interval that there is (RFC 4028 section 4), in seconds.
    static let sessionSecondsMin: UInt32 = 90
    /// The longest that is timed, in seconds: some 23 days in milliseconds still fit into 32 bits.
    static let sessionSecondsMax: UInt32 = 2_000_000
    /// After a 491 who placed the call waits 2.1 to 4 s before its re-INVITE, the other at most 2 s, in steps of
    /// 10 ms (RFC 3261 section 14.1).
    static let glareCallerMinMs = 2_100
    static let glareCallerSteps: UInt64 = 191
    static let glareCalleeSteps: UInt64 = 201
    static let glareStepMs = 10
    /// How long an incoming call may wait for a decision (RFC 3261 section 13.3.1.1 speaks of three minutes), and our
    /// re-INVITE for its final answer.
    static let decisionMs = 180_000
    /// The largest random Retry-After of a request that came too early (RFC 3261 section 14.2), in seconds.
    static let retryAfterSecondsMax: UInt64 = 10
}
