// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The trace as a ladder: for each of the last dialogs a heading, a column for each peer, an arrow for each message.
///
///     Call-ID 5f0c9a
///            ms  us                     192.0.2.2:5070 udp
///             0  |-- INVITE 1 (SDP) -------------------->|
///            12  |<-- 180 INVITE 1 ----------------------|
extension SIPTrace {
    /// - Parameter withMessages: the messages follow below their ladder.
    /// - Returns: lines of at most `Ladder.width` bytes, without control characters.
    public func lines(withMessages: Bool) -> [ByteString] {
        var dialogs: [Ladder] = []
        for entry in self.entries {
            let callID = entry.callID
            if let known = dialogs.firstIndex(where: { $0.callID == callID }) {
                dialogs[known].entries.append(entry)
            } else {
                dialogs.append(Ladder(callID: callID, entries: [entry]))
            }
        }
        var lines: [ByteString] = []
        for ladder in dialogs.suffix(Limits.traceDialogsMax) {
            if !lines.isEmpty { lines.append("") }
            lines += ladder.lines
            if withMessages { lines += ladder.messages }
        }
        return lines
    }
}

/// The messages of one Call-ID.
struct Ladder {
    static let width = 100
    /// The time, and two blanks.
    private static let margin = 11
    private static let columnMax = 44

    let callID: ByteString
    var entries: [TraceEntry]

    /// Who is at the other end, in the order of appearance; those beyond the bound share the last column.
    private var peers: [Flow] {
        var peers: [Flow] = []
        for entry in self.entries where peers.count < Limits.tracePeersMax {
            if !peers.contains(where: { $0.isSamePeer(as: entry.flow) }) { peers.append(entry.flow) }
        }
        return peers
    }

    var lines: [ByteString] {
        let peers = self.peers
        let column = min(Self.columnMax, (Self.width - Self.margin - 1) / max(peers.count, 1))
        var lines = [UTF8Text.displayable("Call-ID " + self.callID, bytesMax: Self.width - 4)]
        lines.append(self.heading(peers, column))
        for (index, entry) in self.entries.enumerated() {
            let found = peers.firstIndex { $0.isSamePeer(as: entry.flow) }
            let isAgain = self.entries[..<index].contains { entry.isCopy(of: $0) }
            let label = entry.label + (isAgain ? " again" : "")
            lines.append(
                self.time(entry) + "  "
                    + Self.arrow(
                        label, isSent: entry.isSent, to: found ?? peers.count - 1, of: peers.count, column: column))
        }
        return lines
    }

    private func heading(_ peers: [Flow], _ column: Int) -> ByteString {
        var line = ByteString.blanks(Self.margin - 4) + "ms  us"
        for (index, peer) in peers.enumerated() {
            let name = (peer.remote.text + " " + peer.transport.token.lowercasedASCII()).slice(0..<column - 3)
            // Each name ends above its bar.
            let end = Self.margin + (index + 1) * column + 1
            line += ByteString.blanks(max(1, end - line.count - name.count)) + name
        }
        return line
    }

    /// Milliseconds since the first message.
    private func time(_ entry: TraceEntry) -> ByteString {
        let ms = ByteString(decimal: max(0, (entry.at - self.entries[0].at).milliseconds))
        return ByteString.blanks(max(0, Self.margin - 2 - ms.count)) + ms
    }

    private static func arrow(
        _ label: ByteString, isSent: Bool, to peer: Int, of count: Int, column: Int
    ) -> ByteString {
        let length = (peer + 1) * column - 1
        let text = (isSent ? "-- " : "<-- ") + label.slice(0..<length - 7) + " "
        let shaft = ByteString([UInt8](repeating: ASCII.minus, count: max(0, length - text.count - (isSent ? 1 : 0))))
        var line = "|" + text + shaft + (isSent ? ">|" : "|")
        for _ in (peer + 1)..<max(count, peer + 1) { line += ByteString.blanks(column - 1) + "|" }
        return line
    }

    // MARK: - Messages

    var messages: [ByteString] {
        var lines: [ByteString] = []
        for entry in self.entries {
            let way: ByteString = entry.isSent ? "to " : "from "
            let size = ByteString(decimal: entry.size) + " bytes"
            lines.append("")
            lines.append(self.time(entry) + " ms " + way + entry.flow.remote.text + ", " + size)
            for line in ByteString(entry.text).split(on: ASCII.lineFeed) { lines += Self.wrapped(line.trimmed()) }
        }
        return lines
    }

    private static func wrapped(_ line: ByteString) -> [ByteString] {
        let indent: ByteString = "    "
        var rest = UTF8Text.displayable(line, bytesMax: .max).bytes[...]
        var lines: [ByteString] = []
        while !rest.isEmpty {
            var count = min(rest.count, self.width - indent.count)
            // Not in the middle of a character.
            while count < rest.count, rest[rest.startIndex + count] & 0xC0 == 0x80 { count -= 1 }
            lines.append(indent + ByteString(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return lines
    }
}

extension TraceEntry {
    var callID: ByteString {
        HeadScan.value(of: "call-id", compact: UInt8(ascii: "i"), in: self.text).map { ByteString($0) } ?? "unknown"
    }

    /// `INVITE 1 (SDP)`, `200 INVITE 1`.
    var label: ByteString {
        let line = self.firstLine
        let words = line.split(on: ASCII.space)
        let isResponse = line.hasPrefixIgnoringCase("SIP/")
        let cseq = HeadScan.value(of: "cseq", in: self.text).map { ByteString($0).split(on: ASCII.space) } ?? []
        var label = isResponse ? (words.count > 1 ? words[1] : "?") + " " + (cseq.last ?? "?") : words[0]
        label += " " + (cseq.first ?? "?")
        if self.hasDescription { label += " (SDP)" }
        return UTF8Text.displayable(label, bytesMax: Ladder.width)
    }

    var firstLine: ByteString { ByteString(self.text).split(on: ASCII.lineFeed)[0].trimmed() }

    private var hasDescription: Bool {
        let type = HeadScan.value(of: "content-type", compact: UInt8(ascii: "c"), in: self.text).map { ByteString($0) }
        return type.map { $0.hasPrefixIgnoringCase("application/sdp") || $0.hasPrefixIgnoringCase("multipart/") }
            ?? false
    }

    fileprivate func isCopy(of other: TraceEntry) -> Bool {
        self.isSent == other.isSent && self.text == other.text && self.flow.isSamePeer(as: other.flow)
    }
}

extension Flow {
    fileprivate func isSamePeer(as other: Flow) -> Bool {
        self.remote == other.remote && self.transport == other.transport
    }
}

extension ByteString {
    fileprivate static func blanks(_ count: Int) -> ByteString {
        ByteString([UInt8](repeating: ASCII.space, count: count))
    }
}
