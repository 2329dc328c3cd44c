// SPDX-License-Identifier: Apache-2.0

import Bytes
import Loop

/// The mark in the data directory that the housing was opened.
struct TamperMark {
    private let path: ByteString
    private let wires: Wires
    private static let fileBytesMax = 64

    init(data: ByteString, wires: Wires) {
        self.path = data + "/tampered"
        self.wires = wires
    }

    var isSet: Bool { readFile(self.path, sizeMax: Self.fileBytesMax) != nil }

    func set(_ isTampered: Bool) {
        guard isTampered else { return self.wires.records.order(.remove(self.path)) }
        let failed = self.path + " cannot be written; the next start does not know of the open housing"
        self.wires.records.order(.files([SmallFile(path: self.path, bytes: [ASCII.lineFeed], failed: failed)]))
    }
}
