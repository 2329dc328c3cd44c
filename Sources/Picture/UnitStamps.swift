// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Tells which unit a picture was decoded from. A codec copies the time stamp of what goes in to what comes out, and
/// need not understand it: each unit has a number of its own there.
struct UnitStamps {
    /// Of a picture, by its stamp.
    enum Origin: Equatable {
        case unit(Instant)
        /// Put in before it was told to forget all.
        case forgotten
        /// Never given out.
        case unknown
    }

    /// Not 0, which drivers that copy nothing would give.
    private var first: UInt64 = 1
    private var following: UInt64 = 1
    private var waiting: [(stamp: UInt64, captured: Instant)] = []
    private var newest = Instant.zero

    /// Units of a decoder that holds back as many pictures as a stream allows, and some that gave none.
    private static let waitingMax = 64

    /// Units put in whose pictures have not come out.
    var count: Int { self.waiting.count }

    mutating func next(_ captured: Instant) -> UInt64 {
        let stamp = self.following
        self.following &+= 1
        if self.waiting.count == Self.waitingMax { self.waiting.removeFirst() }
        self.waiting.append((stamp, captured))
        return stamp
    }

    /// A second picture of one unit gets the newest time that was given.
    mutating func take(_ stamp: UInt64) -> Origin {
        guard stamp > 0, stamp < self.following else { return .unknown }
        guard stamp >= self.first else { return .forgotten }
        if let index = self.waiting.firstIndex(where: { $0.stamp == stamp }) {
            self.newest = self.waiting.remove(at: index).captured
        }
        return .unit(self.newest)
    }

    mutating func forget() {
        self.first = self.following
        self.waiting = []
    }
}
