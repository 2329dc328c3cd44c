// SPDX-License-Identifier: Apache-2.0
import Bytes

/// The lines that answer words.
public enum Reply {
    public static let done = JSON.object { $0.put("ok", true) }

    /// `reason` is a sentence or a clause for a person.
    public static func refused(_ reason: ByteString) -> ByteString {
        JSON.object {
            $0.put("ok", false)
            $0.put("error", reason)
        }
    }

    /// The reason in a reply that `refused` made; nil for any other.
    public static func refusal(in reply: ByteString) -> ByteString? {
        let start: ByteString = "{\"ok\":false,\"error\":"
        guard reply.hasPrefix(start), reply.hasSuffix("}") else { return nil }
        return self.texts(reply.bytes[start.count..<reply.count - 1])?.first
    }

    /// Text for people, in lines.
    public static func lines(_ lines: [ByteString]) -> ByteString {
        JSON.object {
            $0.put("ok", true)
            $0.put("lines", lines)
        }
    }

    /// The text of a reply that `lines` made; nil for any other.
    public static func lines(in reply: ByteString) -> [ByteString]? {
        let start: ByteString = "{\"ok\":true,\"lines\":["
        guard reply.hasPrefix(start), reply.hasSuffix("]}") else { return nil }
        return self.texts(reply.bytes[start.count..<reply.count - 2])
    }

    /// Texts in quotes with commas between them.
    private static func texts(_ bytes: ArraySlice<UInt8>) -> [ByteString]? {
        var lines: [ByteString] = []
        var line: ByteString?
        var rest = bytes
        while let byte = rest.popFirst() {
            switch (byte, line) {
            case (ASCII.quote, nil): line = ByteString()
            case (ASCII.quote, let whole?):
                lines.append(whole)
                line = nil
            case (ASCII.backslash, .some):
                guard let escaped = rest.popFirst() else { return nil }
                // Of the escapes that `JSON` writes, lines without control characters have only these.
                guard escaped == ASCII.quote || escaped == ASCII.backslash else { return nil }
                line?.append(byte: escaped)
            case (ASCII.comma, nil): break
            case (_, nil): return nil
            case (_, .some): line?.append(byte: byte)
            }
        }
        return line == nil ? lines : nil
    }
}
