// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What a finger did to a key of a keypad: its ASCII character, and whether it is down.
public struct KeyEvent: Equatable, Sendable {
    public var key: UInt8
    public var isPressed: Bool

    public init(_ key: UInt8, isPressed: Bool) {
        self.key = key
        self.isPressed = isPressed
    }
}

/// A keypad whose keys connect rows with columns.
///
/// At rest all rows are driven, so that any key pulls its column and wakes the program; only while a key is down the
/// rows are driven one after the other, a hundred times a second, to see which it is.
public struct KeyMatrix {
    public enum Input: Equatable, Sendable {
        /// A column was pulled while all rows were driven.
        case woken
        /// For each row, while it alone was driven: a bit for each column that was pulled, the first column lowest.
        /// `atRest` has those that are pulled now that all rows are driven again, and what the scan moved is forgotten.
        case scanned([UInt16], atRest: UInt16)
    }

    public enum Event: Equatable, Sendable {
        case key(KeyEvent)
        /// A key is held for longer than a finger would.
        case stuck(UInt8)
        case healed(UInt8)
    }

    /// Stands for a place without a key.
    public static let noKey = ASCII.minus
    public static let rowsMax = 8
    public static let columnsMax = 8
    static let scanMs = 10
    /// Between scans while only keys are down that are stuck, and at rest, where a lost wake-up is made good.
    static let slowScanMs = 200
    static let idleScanMs = 5_000
    static let releaseMs = 40
    static let stuckMs = 60_000
    /// Three keys in a rectangle look like four: nothing is believed of so many.
    static let keysDownMax = 2

    private let columns: Int
    private let keys: [UInt8]
    private var filters: [LineFilter]
    private var stuck: [Bool]
    /// Until then all rows are driven, and a column that is pulled wakes.
    public private(set) var scansAt: Instant
    private var scannedAt: Instant

    /// - Parameters:
    ///   - keys: ASCII characters, row by row; as many as rows times columns.
    ///   - debounceMs: how long a key has to be down.
    public init(rows: Int, columns: Int, keys: [UInt8], debounceMs: Int, now: Instant) {
        precondition(
            (1...Self.rowsMax).contains(rows) && (1...Self.columnsMax).contains(columns)
                && keys.count == rows * columns, "whoever reads the file sees to it")
        self.columns = columns
        self.keys = keys
        let settings = LineFilter.Settings(
            pressMs: debounceMs, releaseMs: max(debounceMs, Self.releaseMs), stuckMs: Self.stuckMs)
        self.filters = keys.map { _ in LineFilter(settings, isActive: false, now: now) }
        self.stuck = keys.map { _ in false }
        self.scansAt = now
        self.scannedAt = now
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Event] {
        switch input {
        case .woken:
            // The scan itself moves the columns, which may be told late: that must not go round in circles.
            self.scansAt = min(self.scansAt, max(now, self.scannedAt + .milliseconds(Self.scanMs)))
            return []
        case .scanned(let rows, let atRest): return self.scanned(rows, atRest, now: now)
        }
    }

    private mutating func scanned(_ rows: [UInt16], _ atRest: UInt16, now: Instant) -> [Event] {
        self.scannedAt = now
        var down = self.keys.indices.map { index in
            let row = index / self.columns
            return row < rows.count && rows[row] & (1 << UInt16(index % self.columns)) != 0
        }
        let countDown = down.filter { $0 }.count
        // A key that is known to be stuck has no say in whether there are too many.
        let countStuck = down.indices.filter { down[$0] && self.stuck[$0] }.count
        if countDown - countStuck > Self.keysDownMax {
            for index in down.indices { down[index] = self.filters[index].isPressed && down[index] }
        }
        var events: [Event] = []
        // A key that went down behind its row's back has nothing left to wake by.
        var isSettled = atRest & ~rows.reduce(0, |) == 0
        for index in self.keys.indices {
            for event in self.filters[index].handle(.level(isActive: down[index]), now: now) {
                self.tell(event, of: index, &events)
            }
            if down[index] != self.filters[index].isPressed { isSettled = false }
            if down[index], !self.stuck[index] { isSettled = false }
        }
        let waitMs = !isSettled ? Self.scanMs : countDown > 0 ? Self.slowScanMs : Self.idleScanMs
        self.scansAt = now + .milliseconds(waitMs)
        return events
    }

    private mutating func tell(_ event: LineFilter.Event, of index: Int, _ events: inout [Event]) {
        let key = self.keys[index]
        guard key != Self.noKey else { return }
        switch event {
        case .pressed: events.append(.key(KeyEvent(key, isPressed: true)))
        case .released: events.append(.key(KeyEvent(key, isPressed: false)))
        case .stuck:
            self.stuck[index] = true
            events.append(.stuck(key))
        case .healed:
            self.stuck[index] = false
            events.append(.healed(key))
        case .noisy: break
        }
    }
}
