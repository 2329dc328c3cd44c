// SPDX-License-Identifier: Apache-2.0

import Bytes

/// What else there is to say about a response, RFC 3261 section 20.43.
public struct Warning: Hashable, Sendable {
    /// 300...399 in SIP; what else has three digits is taken as well.
    public var code: Int
    /// Who warns: a host and port, or a name.
    public var agent: ByteString
    /// Without quotes and backslashes.
    public var text: ByteString

    public init(_ code: Int, agent: ByteString, text: ByteString) {
        self.code = code
        self.agent = agent
        self.text = text
    }

    /// Reads `3DIGIT SP warn-agent SP quoted-string`; nil for a fault.
    public init?(_ value: ByteString) {
        var scanner = HeaderScanner(value)
        let digits = scanner.run(ASCII.isDigit)
        guard digits.count == 3, let code = digits.decimal(), scanner.takeBlanks() else { return nil }
        let agent = scanner.run { $0 > ASCII.space && $0 != ASCII.quote && $0 != 0x7F }
        guard !agent.isEmpty, scanner.takeBlanks(), let text = scanner.quotedString() else { return nil }
        scanner.skipBlanks()
        guard scanner.isAtEnd else { return nil }
        self.init(Int(code), agent: agent, text: QuotedString.unquoted(text))
    }

    public var printed: ByteString {
        ByteString(decimal: self.code) + " " + self.agent + " " + QuotedString.quoted(self.text)
    }
}
