// SPDX-License-Identifier: Apache-2.0

/// Why something that came was not taken, or what else an operator should know.
public enum SIPCount: Int, CaseIterable, Sendable {
    /// A message that cannot be read and is not worth an answer.
    case malformed
    /// A request that was refused for a fault in it (400, 413, 505 …).
    case refusedFaulty
    /// A response that belongs to nothing: late, forged, or a 2xx after the time for forks.
    case strayResponse
    /// A response with more than one Via: it was meant for somebody else (RFC 3261 section 8.1.3.3).
    case misdirectedResponse
    /// An ACK that belongs to nothing.
    case strayAcknowledge
    /// A request within a dialog that is not ours, answered with 481.
    case strayRequest
    /// An answer or a hang-up of ours that came too late to mean anything.
    case lateOrder
    /// A call, ours or theirs, that found no room.
    case tooManyCalls
    /// A request that found no room for a transaction.
    case tooManyTransactions
    /// A branch of a fork that found no room.
    case tooManyForks
    /// A stream that was forgotten because of newer ones.
    case tooManyStreams
    /// A stream that held something that is not SIP.
    case brokenStream
    /// A request of ours that was sent again.
    case retransmitted
    /// An answer of ours that was sent again.
    case answeredAgain
    /// A request of ours above the size that is safe in one datagram (RFC 3261 section 18.1.1).
    case largeRequest
    /// One of those that went by UDP after all, for TCP was refused.
    case streamRefused
    /// A final answer to a request of ours never came.
    case unanswered
    /// A message, a ping or noise from somebody who may not talk to us: nothing was answered.
    case stranger
    /// A flow that was closed because nothing answered a ping.
    case pingUnanswered
}

/// How often each `SIPCount` happened since the start.
public struct SIPCounters: Sendable {
    private var counts = InlineArray<19, UInt64>(repeating: 0)

    public subscript(count: SIPCount) -> UInt64 { self.counts[count.rawValue] }

    mutating func add(_ count: SIPCount) {
        self.counts[count.rawValue] &+= 1
    }
}
