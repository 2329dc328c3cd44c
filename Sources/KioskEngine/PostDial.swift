// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Keys that are pressed by themselves once a target has answered: the rest of a number behind a switchboard.
struct PostDial: Equatable {
    private var left: ArraySlice<UInt8>
    /// When the next of them are due.
    private(set) var dueAt: Instant

    /// A pause, and what the far end has to get ready.
    static let pauseMs = 1_000

    /// Nil where there are none.
    init?(_ keys: ByteString, now: Instant) {
        guard !keys.isEmpty else { return nil }
        self.left = keys.bytes[...]
        self.dueAt = now + .milliseconds(Self.pauseMs)
    }

    var isOver: Bool { self.left.isEmpty }

    /// The keys up to the next pause, which begins now.
    mutating func take(now: Instant) -> [UInt8] {
        let isPause = { (byte: UInt8) in byte == UInt8(ascii: "p") }
        let keys = Array(self.left.prefix { !isPause($0) })
        self.left = self.left.dropFirst(keys.count)
        let pauses = self.left.prefix(while: isPause).count
        self.left = self.left.dropFirst(pauses)
        self.dueAt = now + .milliseconds(Self.pauseMs * max(1, pauses))
        return keys
    }
}
