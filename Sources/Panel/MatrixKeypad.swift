// SPDX-License-Identifier: Apache-2.0

import Bytes
import CGPIO
import CSystem
import PanelEngine

/// A keypad whose keys connect lines for rows with lines for columns: rows pull down, columns are pulled up.
public final class MatrixKeypad {
    private let rows: [Line]
    private let columns: [Line]
    private let buffer: OpaquePointer
    private var matrix: KeyMatrix
    private let settleUs: UInt32

    /// - Parameters:
    ///   - rows, columns: names of lines.
    ///   - keys: ASCII characters, row by row.
    ///   - settleUs: how long a row takes to pull its columns down, over the keypad's cable.
    public init(
        rows: [ByteString], columns: [ByteString], keys: [UInt8], debounceMs: Int, settleUs: Int, now: Instant
    ) throws(PanelError) {
        guard (1...KeyMatrix.rowsMax).contains(rows.count), (1...KeyMatrix.columnsMax).contains(columns.count),
            keys.count == rows.count * columns.count
        else { throw .keysDoNotFit }
        var rowLines: [Line] = []
        for name in rows {
            rowLines.append(try Line(name, settings: LineSettings(isActiveLow: true, bias: .none), use: .openDrain))
        }
        var columnLines: [Line] = []
        for name in columns {
            columnLines.append(try Line(name, settings: LineSettings(isActiveLow: true, bias: .pullUp), use: .input))
        }
        guard let buffer = gpiod_edge_event_buffer_new(Line.eventsMax) else { throw .refused(callbox_errno()) }
        self.rows = rowLines
        self.columns = columnLines
        self.buffer = buffer
        self.settleUs = UInt32(settleUs)
        self.matrix = KeyMatrix(
            rows: rows.count, columns: columns.count, keys: keys, debounceMs: debounceMs, now: now)
        self.driveAll(true)
    }

    deinit {
        gpiod_edge_event_buffer_free(self.buffer)
    }

    /// Those of the columns: one becomes readable when a key goes down.
    public var descriptors: [Int32] { self.columns.map { $0.descriptor } }
    /// When `scan` is to be called at the latest.
    public var deadline: Instant { self.matrix.scansAt }

    /// A descriptor is readable.
    public func wake(now: Instant) {
        self.forgetEdges()
        _ = self.matrix.handle(.woken, now: now)
    }

    /// Looks which keys are down, where it is time; nil where the chip of a line is gone.
    public func scan(now: Instant) -> [KeyMatrix.Event]? {
        guard now >= self.deadline else { return [] }
        self.driveAll(false)
        var found: [UInt16] = []
        for row in self.rows {
            guard row.set(true) else { return nil }
            usleep(self.settleUs)
            guard let pulled = self.pulledColumns() else { return nil }
            found.append(pulled)
            guard row.set(false) else { return nil }
        }
        self.driveAll(true)
        // Those that the scan itself has made.
        self.forgetEdges()
        guard let atRest = self.pulledColumns() else { return nil }
        return self.matrix.handle(.scanned(found, atRest: atRest), now: now)
    }

    /// A bit for each, the first one lowest.
    private func pulledColumns() -> UInt16? {
        var mask: UInt16 = 0
        for (index, column) in self.columns.enumerated() {
            guard let isPulled = column.isActive else { return nil }
            if isPulled { mask |= 1 << UInt16(index) }
        }
        return mask
    }

    private func driveAll(_ isDriven: Bool) {
        for row in self.rows { _ = row.set(isDriven) }
    }

    private func forgetEdges() {
        for column in self.columns { _ = column.read(into: self.buffer) }
    }
}
