// SPDX-License-Identifier: Apache-2.0

import Bytes

/// An `o=` line (RFC 8866 section 5.2). The numbers are kept as text: peers write more digits than fit.
public struct Origin: Hashable, Sendable {
    public var username: ByteString
    public var sessionID: ByteString
    public var sessionVersion: ByteString
    /// Network type, address type and address.
    public var address: ByteString

    /// An origin of our own.
    public init(username: ByteString = "-", sessionID: UInt64, sessionVersion: UInt64, address: IPAddress) {
        self.username = username
        self.sessionID = ByteString(decimal: sessionID)
        self.sessionVersion = ByteString(decimal: sessionVersion)
        self.address = Connection.printed(address)
    }

    /// Reads the value of an `o=` line; nil where it has not six fields.
    public init?(_ value: ByteString) {
        let fields = Fields.split(value)
        guard fields.count == 6 else { return nil }
        self.username = fields[0]
        self.sessionID = fields[1]
        self.sessionVersion = fields[2]
        self.address = fields[3] + " " + fields[4] + " " + fields[5]
    }

    public var printed: ByteString {
        self.username + " " + self.sessionID + " " + self.sessionVersion + " " + self.address
    }
}
