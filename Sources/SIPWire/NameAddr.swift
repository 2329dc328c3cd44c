// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The value of From, To, Contact, Route, Record-Route and their kin: an optional display name, a URI, parameters
/// (RFC 3261 sections 20.10 and 25.1).
public struct NameAddr: Hashable, Sendable {
    /// Without quotes and backslashes. Empty where there is none.
    public var displayName: ByteString
    public var uri: URI
    /// Parameters of the header value, not of the URI.
    public var parameters: Parameters

    public init(displayName: ByteString = ByteString(), uri: URI, parameters: Parameters = Parameters()) {
        self.displayName = displayName
        self.uri = uri
        self.parameters = parameters
    }

    public init(displayName: ByteString = ByteString(), _ uri: SIPURI, tag: ByteString? = nil) {
        self.init(displayName: displayName, uri: .sip(uri))
        self.tag = tag
    }

    /// Reads one value. Nil for a fault; in particular for an address without angle brackets that holds `?` or `,`.
    public init?(_ value: ByteString) {
        return nil
    }

    public var tag: ByteString? {
        get { self.parameters.value("tag") }
        set {
            if let newValue { self.parameters.set("tag", newValue) } else { self.parameters.remove("tag") }
        }
    }

    /// Always with angle brackets, the display name in quotes.
    public var printed: ByteString {
        var text = ByteString()
        if !self.displayName.isEmpty { text = QuotedString.quoted(self.displayName) + " " }
        return text + "<" + self.uri.printed + ">" + self.parameters.printed
    }
}
