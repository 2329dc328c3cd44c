// SPDX-License-Identifier: Apache-2.0

import Bytes

extension SessionDescription {
    /// Reads a description. Lines may end with CRLF, LF or CR. Only an empty or oversized body and a wrong version are
    /// refused; a fault in a line costs that line, and a faulty `m=` line stays in its place with port 0.
    public static func parse(_ bytes: [UInt8]) throws(SDPParseError) -> SessionDescription {
        guard bytes.count <= SDPLimits.bytes else { throw SDPParseError(line: 0, .tooLong) }
        var description = SessionDescription(origin: nil)
        var number = 0
        var isStarted = false
        var reader = LineReader(bytes)
        while let line = reader.next() {
            number += 1
            if line.isEmpty { continue }
            guard isStarted else {
                guard line.trimmed() == "v=0" else { throw SDPParseError(line: number, .notVersionZero) }
                isStarted = true
                continue
            }
            guard line.count >= 2, line.bytes[1] == ASCII.equals else { continue }
            if line.bytes[0] == UInt8(ascii: "m"), description.media.count == SDPLimits.media {
                throw SDPParseError(line: number, .tooLong)
            }
            description.take(line.bytes[0], line.slice(2..<line.count))
        }
        guard isStarted else { throw SDPParseError(line: 0, .empty) }
        return description
    }

    private mutating func take(_ type: UInt8, _ value: ByteString) {
        if type == UInt8(ascii: "m") {
            self.media.append(MediaDescription(line: value))
        } else if let last = self.media.indices.last {
            self.media[last].take(type, value)
        } else {
            self.takeForSession(type, value)
        }
    }

    private mutating func takeForSession(_ type: UInt8, _ value: ByteString) {
        switch type {
        case UInt8(ascii: "o"): self.origin = Origin(value)
        case UInt8(ascii: "s"): self.name = value
        case UInt8(ascii: "t"): self.timing = value
        case UInt8(ascii: "c"): self.connection = self.connection ?? Connection(value)
        case UInt8(ascii: "a"): Attribute.append(value, to: &self.attributes)
        case UInt8(ascii: "v"): break
        default: OtherLine(type: type, value: value).append(to: &self.otherLines)
        }
    }
}

extension MediaDescription {
    /// Reads the value of an `m=` line. Never fails, for a medium must keep its place: whatever cannot be used has
    /// port 0.
    fileprivate init(line: ByteString) {
        let fields = Fields.split(line)
        let port = fields.count < 4 ? 0 : fields[1].split(on: ASCII.slash)[0].decimal(max: 65_535) ?? 0
        self.init(
            kind: MediaKind(fields.first ?? "-"), port: UInt16(port),
            profile: fields.count < 3 ? .avp : TransportProfile(fields[2]),
            formats: Array(fields.dropFirst(3).prefix(SDPLimits.formats)))
    }

    fileprivate mutating func take(_ type: UInt8, _ value: ByteString) {
        switch type {
        case UInt8(ascii: "c"): self.connection = self.connection ?? Connection(value)
        case UInt8(ascii: "a"): self.takeAttribute(value)
        default: OtherLine(type: type, value: value).append(to: &self.otherLines)
        }
    }

    /// However many candidates there are, they take no room from what else is said.
    private mutating func takeAttribute(_ value: ByteString) {
        guard value.hasPrefix("candidate:") else { return Attribute.append(value, to: &self.attributes) }
        guard self.attributes.count(where: { $0.name == "candidate" }) < SDPLimits.candidates else {
            self.candidatesCut += 1
            return
        }
        Attribute.append(value, to: &self.attributes)
    }
}

extension Attribute {
    fileprivate static func append(_ value: ByteString, to list: inout [Attribute]) {
        guard list.count < SDPLimits.attributes, !value.isEmpty else { return }
        guard let colon = value.firstIndex(of: ASCII.colon) else {
            list.append(Attribute(value.trimmed()))
            return
        }
        list.append(Attribute(value.slice(0..<colon), value.slice(colon + 1..<max(colon + 1, value.count))))
    }
}

extension OtherLine {
    fileprivate func append(to list: inout [OtherLine]) {
        if list.count < SDPLimits.otherLines { list.append(self) }
    }
}

/// Lines that end with CRLF, LF or CR.
private struct LineReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func next() -> ByteString? {
        guard self.position < self.bytes.count else { return nil }
        let start = self.position
        var end = start
        while end < self.bytes.count, self.bytes[end] != ASCII.lineFeed, self.bytes[end] != ASCII.carriageReturn {
            end += 1
        }
        self.position = end + 1
        if end + 1 < self.bytes.count, self.bytes[end] == ASCII.carriageReturn, self.bytes[end + 1] == ASCII.lineFeed {
            self.position += 1
        }
        return ByteString(self.bytes[start..<end])
    }
}
