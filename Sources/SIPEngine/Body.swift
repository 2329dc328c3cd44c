// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// What a message says about the session.
enum Description: Equatable {
    case none
    case sdp([UInt8])
    /// A body that is not a session description: 415 in a request that offers a session.
    case unsupported
}

extension SIPMessage {
    /// The session description in the body, alone or as a part of a multipart body (RFC 5621 section 3.1).
    var sessionDescription: Description {
        guard !self.body.isEmpty else { return .none }
        guard self.contentEncodings.isEmpty, let type = self.contentType else { return .unsupported }
        if type.isSDP { return .sdp(self.body) }
        guard type.type.equalsIgnoringCase("multipart"), let boundary = type.parameters.text(of: "boundary"),
            let part = Multipart.sessionDescription(in: self.body, boundary: boundary)
        else { return .unsupported }
        return .sdp(part)
    }
}

/// Multipart bodies: RFC 2046 section 5.1. Only the outermost level is looked at.
enum Multipart {
    /// The first part of type `application/sdp`. A body without the closing boundary gives nil: it was cut.
    static func sessionDescription(in body: [UInt8], boundary: ByteString) -> [UInt8]? {
        // 70 characters are the most that RFC 2046 allows.
        guard !boundary.isEmpty, boundary.count <= 70 else { return nil }
        let delimiter = ("--" + boundary).bytes
        var found: [UInt8]?
        var start: Int?
        var position = 0
        while position < body.count {
            let lineEnd = Self.endOfLine(in: body, from: position)
            if body[position..<lineEnd.text].starts(with: delimiter) {
                if let start, found == nil {
                    found = Self.description(inPart: body[start..<max(start, Self.beforeBreak(body, position))])
                }
                let rest = body[(position + delimiter.count)..<lineEnd.text]
                if rest.starts(with: [ASCII.minus, ASCII.minus]) { return found }
                start = lineEnd.next
            }
            position = lineEnd.next
        }
        return nil
    }

    /// Where the line that begins at `start` ends: its text, and the next line.
    private static func endOfLine(in body: [UInt8], from start: Int) -> (text: Int, next: Int) {
        guard let feed = body[start...].firstIndex(of: ASCII.lineFeed) else { return (body.count, body.count) }
        let hasReturn = feed > start && body[feed - 1] == ASCII.carriageReturn
        return (hasReturn ? feed - 1 : feed, feed + 1)
    }

    /// The line break before a boundary belongs to the boundary.
    private static func beforeBreak(_ body: [UInt8], _ position: Int) -> Int {
        guard position > 0, body[position - 1] == ASCII.lineFeed else { return position }
        return position > 1 && body[position - 2] == ASCII.carriageReturn ? position - 2 : position - 1
    }

    private static func description(inPart part: ArraySlice<UInt8>) -> [UInt8]? {
        let bytes = Array(part)
        var isDescription = false
        var position = 0
        while position < bytes.count {
            let lineEnd = Self.endOfLine(in: bytes, from: position)
            let line = ByteString(bytes[position..<lineEnd.text])
            position = lineEnd.next
            if line.isEmpty { return isDescription ? Array(bytes[position...]) : nil }
            guard line.hasPrefixIgnoringCase("content-type:") else { continue }
            isDescription = ContentType(line.slice(13..<line.count).trimmed())?.isSDP ?? false
        }
        return nil
    }
}
