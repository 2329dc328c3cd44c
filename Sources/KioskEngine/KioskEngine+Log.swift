// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine

/// What the log keeps beside events.
extension KioskEngine {
    /// - Parameter part: nil for all of them.
    mutating func log(_ level: LogLevel, of part: LogPart?) {
        self.logPolicy.set(level, of: part)
        self.put(.log(self.logPolicy))
    }

    /// The raw edges of a line, where somebody wants to know of them.
    mutating func logEdges(_ part: ByteString, _ edges: ByteString, age: Duration, leftOut: Int, now: Instant) {
        guard self.logPolicy.keeps(.debug, of: .panel) else { return }
        let line = Self.line("edges", now: now) {
            $0.put("line", part)
            $0.put("edges", edges)
            $0.put("first_ms_ago", msOf: age)
            $0.put("left_out", leftOut)
        }
        self.put(.event(line))
    }

    /// The messages of SIP that went in or out since the last time, where somebody wants to know of them: for the log
    /// alone, without secrets.
    mutating func logMessages(now: Instant) {
        defer { self.loggedMessages = self.sip.trace.count }
        guard self.logPolicy.keeps(.debug, of: .sip) else { return }
        for message in self.sip.trace.lines(since: self.loggedMessages) {
            let line = Self.line("sip", now: now) {
                $0.put("sent", message.isSent)
                $0.put("peer", message.peer)
                $0.put("message", message.label)
                $0.put("line", message.line)
                $0.put("call_id", message.callID)
                $0.put("bytes", message.size)
            }
            self.put(.event(line))
        }
    }
}
