// SPDX-License-Identifier: Apache-2.0

import Bytes
import Loop

/// What a trial of the board found out, kept until the kernel or the program is another one: trials take a second of a
/// small board.
struct TrialRecord {
    private let path: ByteString
    /// What a verdict is about.
    private let subject: ByteString
    private static let fileBytesMax = 1024

    init(data: ByteString, name: ByteString) {
        self.path = data + "/" + name
        let release = readFile("/proc/sys/kernel/osrelease", sizeMax: 256) ?? []
        self.subject = ByteString(trimming: release[...]) + " callbox " + version
    }

    /// The lines of a former start; nil where there are none of this kernel and program.
    var lines: [ByteString]? {
        guard let bytes = readFile(self.path, sizeMax: Self.fileBytesMax), bytes.count <= Self.fileBytesMax else {
            return nil
        }
        let lines = ByteString(bytes).split(on: ASCII.lineFeed)
        guard let first = lines.first, first == self.subject else { return nil }
        return Array(lines.dropFirst())
    }

    func file(_ lines: [ByteString]) -> SmallFile {
        let text = ([self.subject] + lines).reduce(ByteString()) { $0 + $1 + "\n" }
        return SmallFile(path: self.path, bytes: text.bytes)
    }
}
