// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop

/// The lines with which a running kiosk answers a word; nil where none answers.
func askKiosk(_ word: ByteString, socket: ByteString) -> [ByteString]? {
    replyOfKiosk(word, socket: socket).flatMap { Reply.lines(in: $0) }
}

/// The JSON object with which a running kiosk answers a word; nil where none answers.
func replyOfKiosk(_ word: ByteString, socket: ByteString) -> ByteString? {
    guard let connection = ControlConnection(path: socket) else { return nil }
    connection.send(word)
    var reply: [UInt8] = []
    while let bytes = connection.receive(limit: .seconds(5)) {
        reply += bytes
        if let end = reply.firstIndex(of: ASCII.lineFeed) { return ByteString(reply[..<end]) }
    }
    return nil
}

/// Sends one line to the running kiosk and prints what it answers: one line, or all until the kiosk ends. Text that
/// comes in a JSON array is printed as lines.
///
/// Returns the exit code: 0 when answered, 1 when the kiosk says no, 2 when no kiosk runs or answers.
func tell(_ line: ByteString, follow: Bool, socket: ByteString) -> Int32 {
    guard let connection = ControlConnection(path: socket) else {
        Log.write("callbox: no kiosk listens at " + socket + "; is `callbox run` running, and may you use its socket?")
        return 2
    }
    connection.send(line)
    var partial: [UInt8] = []
    while let bytes = connection.receive(limit: follow ? nil : .seconds(5)) {
        for byte in bytes {
            guard byte == ASCII.lineFeed else {
                partial.append(byte)
                continue
            }
            let reply = ByteString(partial)
            partial = []
            for line in Reply.lines(in: reply) ?? [reply] { printLine(line) }
            if !follow { return reply.hasPrefix("{\"ok\":false") ? 1 : 0 }
        }
    }
    if follow { return 0 }
    Log.write("callbox: the kiosk at " + socket + " did not answer")
    return 2
}
