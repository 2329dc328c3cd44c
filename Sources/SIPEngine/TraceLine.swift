// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// A message that went in or out, in a few words for a log: without secrets, without control characters.
public struct TraceLine {
    private static let lineBytesMax = 200

    public let isSent: Bool
    /// Address, port and transport of who is at the other end.
    public let peer: ByteString
    /// The first line of the message.
    public let line: ByteString
    /// `INVITE 1 (SDP)`, `200 INVITE 1`.
    public let label: ByteString
    public let callID: ByteString
    /// Bytes of the message.
    public let size: Int

    init(_ entry: TraceEntry) {
        self.isSent = entry.isSent
        self.peer = entry.flow.remote.text + " " + entry.flow.transport.token.lowercasedASCII()
        self.line = UTF8Text.displayable(entry.firstLine, bytesMax: Self.lineBytesMax)
        self.label = entry.label
        self.callID = UTF8Text.displayable(entry.callID, bytesMax: Self.lineBytesMax)
        self.size = entry.size
    }
}

extension SIPTrace {
    /// Those that were recorded since there were `count` of them and that are still kept, the oldest first.
    public func lines(since count: UInt64) -> [TraceLine] {
        let fresh = Int(clamping: self.count &- count)
        return self.entries.suffix(fresh).map { TraceLine($0) }
    }
}
