// SPDX-License-Identifier: Apache-2.0

import Bytes

/// What a subscription is about, RFC 6665 section 8.2.1. Compared byte by byte, other parameters aside.
public struct Event: Hashable, Sendable {
    /// `refer`, `dialog`, `message-summary` …
    public var package: ByteString
    public var id: ByteString?

    public init(package: ByteString, id: ByteString? = nil) {
        self.package = package
        self.id = id
    }

    /// Reads `event-type *(SEMI param)`; nil for a fault.
    public init?(_ value: ByteString) {
        var scanner = HeaderScanner(value)
        guard let package = scanner.token(), let parameters = scanner.parameters() else { return nil }
        self.init(package: package, id: parameters.value("id"))
    }

    public var printed: ByteString {
        guard let id = self.id else { return self.package }
        return self.package + ";id=" + id
    }
}
