// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The lines before the empty line, unfolded and cut into fields, not yet judged (RFC 3261 section 7.3.1).
struct HeaderSection {
    var startLine = ByteString()
    var headers: [Header] = []
    /// The first bound that was overstepped; reading stopped there.
    var fault: ByteString?

    /// Reads lines that end with CRLF or LF. A line without a field name is left out: a receiver ignores what it cannot
    /// read and does not need.
    init(_ bytes: ArraySlice<UInt8>) {
        var reader = ByteReader(bytes)
        self.startLine = ByteString(Self.line(&reader))
        guard self.startLine.count <= SIPLimits.headerBytes else {
            self.fault = "Start Line Too Long"
            return
        }
        while !reader.isAtEnd, self.fault == nil { self.take(Self.withoutReturns(Self.line(&reader))) }
    }

    /// Where the header section of `bytes` ends and the body starts, looking only at line ends at or after `from`.
    static func bodyStart(in bytes: ArraySlice<UInt8>, from: Int) -> Int? {
        var index = max(from, bytes.startIndex)
        while let lineEnd = bytes[index...].firstIndex(of: ASCII.lineFeed) {
            index = lineEnd + 1
            if index < bytes.endIndex, bytes[index] == ASCII.lineFeed { return index + 1 }
            if index + 1 < bytes.endIndex, bytes[index] == ASCII.carriageReturn, bytes[index + 1] == ASCII.lineFeed {
                return index + 2
            }
        }
        return nil
    }

    private static func line(_ reader: inout ByteReader) -> ArraySlice<UInt8> {
        let line = reader.take(upTo: ASCII.lineFeed) ?? reader.take(reader.remaining) ?? []
        return line.last == ASCII.carriageReturn ? line.dropLast() : line
    }

    /// A carriage return that ends no line is white space to us: no field that is printed may hold one.
    private static func withoutReturns(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard line.contains(ASCII.carriageReturn) else { return line }
        return line.map { $0 == ASCII.carriageReturn ? ASCII.space : $0 }[...]
    }

    private mutating func take(_ line: ArraySlice<UInt8>) {
        guard let first = line.first else { return }
        if first == ASCII.space || first == ASCII.tab {
            self.unfold(line)
            return
        }
        guard let colon = line.firstIndex(of: ASCII.colon),
            let name = HeaderName(ByteString(trimming: line[..<colon]))
        else { return }
        guard self.headers.count < SIPLimits.headers else {
            self.fault = "Too Many Header Fields"
            return
        }
        self.headers.append(Header(name, ByteString(trimming: line[(colon + 1)...])))
        self.checkLast()
    }

    /// A line that starts with a blank continues the one before it.
    private mutating func unfold(_ line: ArraySlice<UInt8>) {
        guard let last = self.headers.indices.last else {
            self.fault = "Folded Start Line"
            return
        }
        let rest = ByteString(trimming: line)
        if !rest.isEmpty && !self.headers[last].value.isEmpty { self.headers[last].value.append(byte: ASCII.space) }
        self.headers[last].value.append(rest)
        self.checkLast()
    }

    private mutating func checkLast() {
        guard let last = self.headers.last, last.value.count > SIPLimits.headerBytes else { return }
        self.fault = "Header Field Too Long"
    }
}
