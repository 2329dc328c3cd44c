// SPDX-License-Identifier: Apache-2.0

import Bytes

extension SIPMessage {
    /// The bytes of the message, with a Content-Length that is right, whatever the field said.
    public func printed() -> [UInt8] {
        var text = self.printedStartLine
        text.append("\r\n")
        for header in self.headers where header.name != .contentLength {
            text.append(header.name.token)
            text.append(": ")
            Self.append(line: header.value, to: &text)
        }
        text.append(HeaderName.contentLength.token)
        text.append(": ")
        text.append(decimal: self.body.count)
        text.append("\r\n\r\n")
        return text.bytes + self.body
    }

    private var printedStartLine: ByteString {
        var line = ByteString()
        switch self.startLine {
        case .request(let method, let uri):
            line = method.token + " " + uri.printed + " SIP/2.0"
        case .response(let status, let reason):
            line = "SIP/2.0 " + ByteString(decimal: status.value) + " " + reason
        }
        return ByteString(line.bytes.map(Self.withoutLineEnd))
    }

    /// A field's value must not end its line, or a configured name could add fields to the message.
    private static func append(line: ByteString, to text: inout ByteString) {
        for byte in line.bytes { text.append(byte: self.withoutLineEnd(byte)) }
        text.append("\r\n")
    }

    private static func withoutLineEnd(_ byte: UInt8) -> UInt8 {
        byte == ASCII.carriageReturn || byte == ASCII.lineFeed ? ASCII.space : byte
    }
}
