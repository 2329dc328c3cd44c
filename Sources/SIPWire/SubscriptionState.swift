// SPDX-License-Identifier: Apache-2.0

import Bytes

/// How a subscription stands after a NOTIFY, RFC 6665 section 8.2.3.
public struct SubscriptionState: Hashable, Sendable {
    public enum State: Hashable, Sendable {
        case active, pending, terminated
        /// As written.
        case other(ByteString)

        init(_ token: ByteString) {
            if token.equalsIgnoringCase("active") {
                self = .active
            } else if token.equalsIgnoringCase("pending") {
                self = .pending
            } else if token.equalsIgnoringCase("terminated") {
                self = .terminated
            } else {
                self = .other(token)
            }
        }

        public var token: ByteString {
            switch self {
            case .active: return "active"
            case .pending: return "pending"
            case .terminated: return "terminated"
            case .other(let token): return token
            }
        }
    }

    public var state: State
    /// What is left of it, in seconds.
    public var expiresSeconds: UInt32?
    /// Why it ended: `noresource`, `timeout`, `deactivated` …
    public var reason: ByteString?
    public var retryAfterSeconds: UInt32?

    public init(_ state: State, expiresSeconds: UInt32? = nil, reason: ByteString? = nil) {
        self.state = state
        self.expiresSeconds = expiresSeconds
        self.reason = reason
        self.retryAfterSeconds = nil
    }

    /// Reads `token *(SEMI param)`; nil for a fault. Numbers out of range count as missing.
    public init?(_ value: ByteString) {
        var scanner = HeaderScanner(value)
        guard let token = scanner.token(), let parameters = scanner.parameters() else { return nil }
        func seconds(_ name: ByteString) -> UInt32? {
            parameters.value(name)?.decimal(max: UInt64(UInt32.max)).map { UInt32($0) }
        }
        self.init(State(token), expiresSeconds: seconds("expires"), reason: parameters.value("reason"))
        self.retryAfterSeconds = seconds("retry-after")
    }

    public var printed: ByteString {
        var text = self.state.token
        if let seconds = self.expiresSeconds { text += ";expires=" + ByteString(decimal: seconds) }
        if let reason = self.reason { text += ";reason=" + reason }
        if let seconds = self.retryAfterSeconds { text += ";retry-after=" + ByteString(decimal: seconds) }
        return text
    }
}
