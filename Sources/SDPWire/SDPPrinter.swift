// SPDX-License-Identifier: Apache-2.0

import Bytes

extension SessionDescription {
    /// Lines in the order of RFC 8866 section 5, each ended by CRLF.
    public func printed() -> [UInt8] {
        var lines = SDPLines()
        lines.put("v", "0")
        lines.put("o", self.origin?.printed ?? "- 0 0 IN IP4 0.0.0.0")
        lines.put("s", self.name.isEmpty ? "-" : self.name)
        lines.put(self.otherLines, of: "iuep")
        if let connection = self.connection { lines.put("c", connection.printed) }
        lines.put(self.otherLines, of: "b")
        lines.put("t", self.timing)
        lines.put(self.otherLines, of: "rzk")
        lines.put(self.attributes)
        for media in self.media { lines.put(media) }
        return lines.text.bytes
    }
}

private struct SDPLines {
    private(set) var text = ByteString()

    mutating func put(_ type: ByteString, _ value: ByteString) {
        self.text.append(type)
        self.text.append(byte: ASCII.equals)
        // A value must not end its line, or a configured name could add lines to the description.
        for byte in value.bytes {
            self.text.append(byte: byte == ASCII.carriageReturn || byte == ASCII.lineFeed ? ASCII.space : byte)
        }
        self.text.append("\r\n")
    }

    mutating func put(_ lines: [OtherLine], of types: ByteString) {
        for type in types.bytes {
            for line in lines where line.type == type { self.put(ByteString([type]), line.value) }
        }
    }

    mutating func put(_ attributes: [Attribute]) {
        for attribute in attributes {
            self.put("a", attribute.value.map { attribute.name + ":" + $0 } ?? attribute.name)
        }
    }

    mutating func put(_ media: MediaDescription) {
        var line = media.kind.word
        line.append(byte: ASCII.space)
        line.append(decimal: media.port)
        line.append(byte: ASCII.space)
        line.append(media.profile.word)
        // The grammar wants at least one format, also where the medium is refused.
        for format in media.formats.isEmpty ? ["0"] : media.formats {
            line.append(byte: ASCII.space)
            line.append(format)
        }
        self.put("m", line)
        self.put(media.otherLines, of: "i")
        if let connection = media.connection { self.put("c", connection.printed) }
        self.put(media.otherLines, of: "bk")
        self.put(media.attributes)
    }
}
