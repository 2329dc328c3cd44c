// SPDX-License-Identifier: Apache-2.0
import Bytes

/// One message that went in or out.
struct TraceEntry {
    let at: Instant
    let flow: Flow
    let isSent: Bool
    /// The message without its secrets, cut at the end of a line where it was longer than `Limits.traceTextBytesMax`.
    let text: [UInt8]
    /// Bytes of the whole message.
    let size: Int
}

/// The last messages in and out, for `callbox trace`. Strangers' messages are not among them.
///
/// Secrets are taken out before a message is kept, not when it is printed: what is not in memory cannot leave it by any
/// way, a core dump included. Once it is full, memory stays as it is.
public struct SIPTrace {
    /// Oldest first.
    private(set) var entries: [TraceEntry] = []
    private var textBytes = 0
    /// How many messages were recorded, those that are no longer kept among them.
    public private(set) var count: UInt64 = 0
    private let isKept: Bool
    /// The time of the input that is handled now.
    var now = Instant.zero

    init(isKept: Bool) {
        self.isKept = isKept
    }

    mutating func record(_ message: [UInt8], on flow: Flow, isSent: Bool) {
        guard self.isKept else { return }
        let text = Redaction.redacted(message, bytesMax: Limits.traceTextBytesMax)
        self.entries.append(TraceEntry(at: self.now, flow: flow, isSent: isSent, text: text, size: message.count))
        self.textBytes += text.count
        self.count &+= 1
        while self.entries.count > Limits.traceEntriesMax || self.textBytes > Limits.traceBytesMax {
            self.textBytes -= self.entries.removeFirst().text.count
        }
    }
}
