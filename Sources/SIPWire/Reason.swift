// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Why a request was sent or a call ended, RFC 3326.
public struct Reason: Hashable, Sendable {
    /// `SIP`, `Q.850`, …
    public var protocolName: ByteString
    public var cause: Int?
    public var text: ByteString?

    public init(protocolName: ByteString, cause: Int?, text: ByteString?) {
        self.protocolName = protocolName
        self.cause = cause
        self.text = text
    }

    /// Reads one value; nil for a fault. A cause that is not a number below 65536 is left out.
    public init?(_ value: ByteString) {
        var scanner = HeaderScanner(value)
        guard let name = scanner.token(), let parameters = scanner.parameters() else { return nil }
        self.protocolName = name
        self.cause = parameters.value("cause")?.decimal(max: 65_535).map { Int($0) }
        self.text = parameters.text(of: "text")
    }

    public var printed: ByteString {
        var text = self.protocolName
        if let cause = self.cause { text += " ;cause=" + ByteString(decimal: cause) }
        if let words = self.text { text += " ;text=" + QuotedString.quoted(words) }
        return text
    }
}
