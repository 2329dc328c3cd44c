// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A request method, RFC 3261 section 7.1. Compared with case.
public enum Method: Hashable, Sendable {
    case invite, ack, bye, cancel, options, register
    /// RFC 3262.
    case prack
    /// RFC 3311.
    case update
    /// RFC 6086.
    case info
    /// RFC 6665.
    case subscribe, notify
    /// RFC 3515.
    case refer
    /// RFC 3428.
    case message
    /// RFC 3903.
    case publish
    case other(ByteString)

    private static let known: [(token: ByteString, method: Method)] =
        ([
            .invite, .ack, .bye, .cancel, .options, .register, .prack, .update, .info, .subscribe, .notify, .refer,
            .message, .publish,
        ] as [Method]).map { ($0.token, $0) }

    /// Reads a method token; nil where it is not a token (RFC 3261 section 25.1).
    public init?(_ token: ByteString) {
        guard Token.isToken(token) else { return nil }
        self = Self.known.first { $0.token == token }?.method ?? .other(token)
    }

    public var token: ByteString {
        switch self {
        case .invite: return "INVITE"
        case .ack: return "ACK"
        case .bye: return "BYE"
        case .cancel: return "CANCEL"
        case .options: return "OPTIONS"
        case .register: return "REGISTER"
        case .prack: return "PRACK"
        case .update: return "UPDATE"
        case .info: return "INFO"
        case .subscribe: return "SUBSCRIBE"
        case .notify: return "NOTIFY"
        case .refer: return "REFER"
        case .message: return "MESSAGE"
        case .publish: return "PUBLISH"
        case .other(let token): return token
        }
    }
}
