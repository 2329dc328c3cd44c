// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What is to happen, by time; what was put in first comes first among equals, so that a run replays.
struct EventQueue {
    typealias Action = (World) -> Void

    private struct Entry {
        let at: Instant
        let order: UInt64
        let action: Action

        func isBefore(_ other: Entry) -> Bool {
            self.at == other.at ? self.order < other.order : self.at < other.at
        }
    }

    /// A binary heap.
    private var entries: [Entry] = []
    private var order: UInt64 = 0

    var nextAt: Instant? { self.entries.first?.at }
    var count: Int { self.entries.count }

    mutating func put(at: Instant, _ action: @escaping Action) {
        self.order += 1
        self.entries.append(Entry(at: at, order: self.order, action: action))
        var child = self.entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard self.entries[child].isBefore(self.entries[parent]) else { break }
            self.entries.swapAt(child, parent)
            child = parent
        }
    }

    mutating func take() -> Action? {
        guard let first = self.entries.first else { return nil }
        let last = self.entries.removeLast()
        if !self.entries.isEmpty {
            self.entries[0] = last
            self.sink()
        }
        return first.action
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < self.entries.count {
                if self.entries[child].isBefore(self.entries[least]) { least = child }
            }
            guard least != parent else { return }
            self.entries.swapAt(parent, least)
            parent = least
        }
    }
}
