// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A media type, RFC 3261 section 20.15.
public struct ContentType: Hashable, Sendable {
    public var type: ByteString
    public var subtype: ByteString
    public var parameters: Parameters

    public init(_ type: ByteString, _ subtype: ByteString, parameters: Parameters = Parameters()) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
    }

    /// Reads `type SLASH subtype *(SEMI parameter)`; nil for a fault.
    public init?(_ value: ByteString) {
        var scanner = HeaderScanner(value)
        guard let type = scanner.token(), scanner.takeSpaced(ASCII.slash), let subtype = scanner.token(),
            let parameters = scanner.parameters()
        else { return nil }
        self.init(type, subtype, parameters: parameters)
    }

    /// Whether it is this type, parameters and case aside.
    public func matches(_ type: ByteString, _ subtype: ByteString) -> Bool {
        self.type.equalsIgnoringCase(type) && self.subtype.equalsIgnoringCase(subtype)
    }

    /// `application/sdp`.
    public var isSDP: Bool { self.matches("application", "sdp") }

    public var printed: ByteString { self.type + "/" + self.subtype + self.parameters.printed }
}
