// SPDX-License-Identifier: Apache-2.0

import Bytes

extension SIPMessage {
    /// The bytes of the message, with a Content-Length that is right, whatever the field said.
    public func printed() -> [UInt8] {
        var text = ByteString(reserving: self.size)
        Self.append(line: self.printedStartLine, to: &text)
        for header in self.headers where header.name != .contentLength {
            header.name.append(to: &text)
            text.append(literal: ": ")
            Self.append(line: header.value, to: &text)
        }
        HeaderName.contentLength.append(to: &text)
        text.append(literal: ": ")
        text.append(decimal: self.body.count)
        text.append(literal: "\r\n\r\n")
        text.bytes.append(contentsOf: self.body)
        return text.bytes
    }

    /// About as many bytes as will be printed: names and the start line are short.
    private var size: Int {
        self.headers.reduce(256 + self.body.count) { $0 + 32 + $1.value.count }
    }

    private var printedStartLine: ByteString {
        switch self.startLine {
        case .request(let method, let uri): return method.token + " " + uri.printed + " SIP/2.0"
        case .response(let status, let reason): return "SIP/2.0 " + ByteString(decimal: status.value) + " " + reason
        }
    }

    /// A value must not end its line, or a configured name could add fields to the message.
    private static func append(line: ByteString, to text: inout ByteString) {
        if line.bytes.contains(where: { $0 == ASCII.carriageReturn || $0 == ASCII.lineFeed }) {
            text.bytes.append(contentsOf: line.bytes.map(self.withoutLineEnd))
        } else {
            text.append(line)
        }
        text.append(literal: "\r\n")
    }

    private static func withoutLineEnd(_ byte: UInt8) -> UInt8 {
        byte == ASCII.carriageReturn || byte == ASCII.lineFeed ? ASCII.space : byte
    }
}
