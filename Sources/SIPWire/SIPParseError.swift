// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Why bytes are not a SIP message we can work with, and what a user agent should do about it.
public struct SIPParseError: Error, Equatable, Sendable {
    public enum Verdict: Hashable, Sendable {
        /// Answer the request with this status. `message` then holds what the answer must copy.
        case answer(StatusCode)
        /// Say nothing: noise, a bad response, a bad ACK, or a request without a way back.
        case drop
    }

    public var verdict: Verdict
    /// A short English reason for the log, and for the reason phrase of the answer.
    public var reason: ByteString
    /// What could be read. Set whenever the verdict is `.answer`, with a Via that `SIPMessage.replyVia` can read.
    public var message: SIPMessage?

    public init(_ verdict: Verdict, _ reason: ByteString, message: SIPMessage? = nil) {
        self.verdict = verdict
        self.reason = reason
        self.message = message
    }
}
