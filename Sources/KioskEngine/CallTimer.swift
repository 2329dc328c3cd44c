// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Every wake-up of the kiosk's call, with its reason. A state has at most one, which lives in the state: it cannot
/// outlive it.
enum CallTimer: Equatable {
    /// The search for the server came to no end.
    case lookUp
    /// Nothing at all came back, and there is another way to try.
    case way
    /// The far end gave a sign of life but nobody answered.
    case ring
    /// Nobody here answered a call from outside.
    case alert
    /// A call from outside that is answered by itself was announced for long enough.
    case answer
    /// Whoever answered has not shown to be a human.
    case confirm
    /// The longest time of a call is nearly over.
    case warn
    /// It is over.
    case limit
    /// Who we are handed over to does not answer.
    case transfer
    /// Nothing was received in the call for too long.
    case vanish
    /// The far end did not confirm our hanging up: go on without.
    case ending
    /// The outcome was shown for long enough.
    case outcome
    /// The far end did not confirm our hanging up, and the program must go.
    case stop
}

struct CallAlarm: Equatable {
    var timer: CallTimer
    var at: Instant
}

/// How long things last.
enum KioskTimes {
    /// The search itself gives up after two seconds; this is for one that never says so.
    static let lookUpMs = 10_000
    /// So long a server has for its first sign of life where there is another one: three copies of a datagram are out
    /// by then, and with two that are silent the third one still rings within five seconds.
    static let wayMs = 2_000
    /// The same of the last server where somebody else may be called.
    static let silentMs = 4_000
    /// Before the longest time of a call is over.
    static let warningMs = 10_000
    /// A call that is answered by itself is heard and seen for so long before it hears and sees anything.
    static let announcedMs = 1_000
    static let failureShownMs = 8_000
    static let farewellShownMs = 4_000
    /// A call outlives a cut cable for so long.
    static let cutOffMs = 120_000
    /// A far end that is there confirms within a round trip; whoever waits longer is gone.
    static let endingMs = 2_000
    /// Less than the 500 ms that systemd and the installer count on, so that devices can be closed too.
    static let stopMs = 400
    /// How long a server may take to let us go.
    static let unregisterMs = 2_000
    /// All that the end of the program may take where accounts are to be given back.
    static let leaveMs = 2_400
}
