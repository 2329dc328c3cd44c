// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Something that goes with a session description in one body: RFC 5621 section 3.1.
public struct BodyPart: Equatable, Sendable {
    /// `application/pidf+xml`.
    public var contentType: ByteString
    /// What a `cid:` URL in a header field names it by; without angle brackets. Empty for none.
    public var contentID: ByteString
    public var content: [UInt8]

    public init(contentType: ByteString, contentID: ByteString, content: [UInt8]) {
        self.contentType = contentType
        self.contentID = contentID
        self.content = content
    }
}

extension Multipart {
    /// `multipart/mixed` of the parts: its Content-Type and its bytes (RFC 2046 section 5.1).
    static func mixed(_ parts: [BodyPart]) -> (contentType: ByteString, body: [UInt8]) {
        let boundary = Self.boundary(outside: parts)
        var body: [UInt8] = []
        for part in parts {
            var head: ByteString = "--"
            head += boundary
            head += "\r\nContent-Type: "
            head += part.contentType
            head += "\r\n"
            if !part.contentID.isEmpty { head += "Content-ID: <" + part.contentID + ">\r\n" }
            // A peer that knows the session only may pass over the rest (RFC 3261 section 20.11).
            if part.contentType != "application/sdp" { head += "Content-Disposition: render;handling=optional\r\n" }
            head += "\r\n"
            body += head.bytes
            body += part.content
            body += [ASCII.carriageReturn, ASCII.lineFeed]
        }
        let end: ByteString = "--" + boundary + "--\r\n"
        body += end.bytes
        return ("multipart/mixed;boundary=" + boundary, body)
    }

    /// Words that stand in none of the parts.
    private static func boundary(outside parts: [BodyPart]) -> ByteString {
        var number = 1
        while true {
            let boundary: ByteString = "callbox-" + ByteString(decimal: number)
            if !parts.contains(where: { ByteString($0.content).containsIgnoringCase(boundary) }) { return boundary }
            number += 1
        }
    }
}
