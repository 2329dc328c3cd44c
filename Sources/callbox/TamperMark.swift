// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import Loop

/// The mark in the data directory that the housing was opened.
struct TamperMark {
    private let path: ByteString
    private static let fileBytesMax = 64

    init(data: ByteString) {
        self.path = data + "/tampered"
    }

    var isSet: Bool { readFile(self.path, sizeMax: Self.fileBytesMax) != nil }

    func set(_ isTampered: Bool) {
        if isTampered {
            guard !replaceFile(self.path, with: [ASCII.lineFeed], mode: 0o600) else { return }
            Log.write("callbox: " + self.path + " cannot be written; the next start does not know of the open housing")
        } else {
            _ = self.path.withCString { unlink($0) }
        }
    }
}
