// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Cuts a TCP byte stream into messages (RFC 3261 section 18.3, keep-alives of RFC 5626 section 4.4.1). Bytes may come in
/// any cut.
public struct SIPStreamFramer: Sendable {
    public enum Item: Equatable, Sendable {
        /// The bytes of one message, to be parsed with `.stream` framing.
        case message([UInt8])
        /// CRLF CRLF: answer with `pong`.
        case ping
        /// A lone CRLF after `pingSent`.
        case pong
        /// The stream cannot be cut any more: answer (where the verdict says so) and close it. Nothing comes after this.
        case broken(SIPParseError)
    }

    /// The bytes that answer a ping.
    public static let pong: [UInt8] = [ASCII.carriageReturn, ASCII.lineFeed]
    /// The bytes of a ping.
    public static let ping: [UInt8] = [
        ASCII.carriageReturn, ASCII.lineFeed, ASCII.carriageReturn, ASCII.lineFeed,
    ]

    public init() {}

    /// Tells that a ping went out, so that a lone CRLF is its answer and not half of the peer's own ping.
    public mutating func pingSent() {}

    /// Takes in bytes, then `next()` until nil.
    public mutating func append(_ bytes: [UInt8]) {}

    public mutating func next() -> Item? { nil }
}
