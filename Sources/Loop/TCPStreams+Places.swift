// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Who has to go where all places are taken.
extension TCPStreams {
    /// Closes the connection that is needed least, where there is no place for one more.
    public mutating func makeRoom(poller: borrowing Poller) {
        _ = self.slotForOwn(poller: poller)
    }

    /// A place for a connection of ours: a free one, else a stranger's, else that of the one unused for longest.
    mutating func slotForOwn(poller: borrowing Poller) -> Int {
        if let free = self.connections.firstIndex(where: { $0 == nil }) { return free }
        let slot = self.oldest(isOwn: false) ?? self.oldest(isOwn: true) ?? 0
        _ = self.drop(slot, poller: poller)
        return slot
    }

    /// A place for a stranger: a free one while strangers have not got all of theirs, else that of the stranger unused
    /// for longest. Nil where we talk to so many that there is none.
    mutating func slotForStranger(poller: borrowing Poller) -> Int? {
        let strangers = self.connections.filter { $0.map { !$0.isOwn } ?? false }.count
        let free = self.connections.firstIndex { $0 == nil }
        if let free, strangers < self.strangersMax { return free }
        guard let slot = self.oldest(isOwn: false) else { return nil }
        _ = self.drop(slot, poller: poller)
        return slot
    }

    private func oldest(isOwn: Bool) -> Int? {
        var uses: [(slot: Int, lastUse: Instant)] = []
        for (slot, connection) in self.connections.enumerated() {
            if let connection, connection.isOwn == isOwn { uses.append((slot, connection.lastUse)) }
        }
        return uses.min { $0.lastUse < $1.lastUse }?.slot
    }
}
