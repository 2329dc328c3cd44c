// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// A line for whoever started this program.
func say(_ line: ByteString) {
    var bytes = line.bytes
    bytes.append(ASCII.lineFeed)
    _ = bytes.withUnsafeBufferPointer { write(1, $0.baseAddress, $0.count) }
}

func word(_ number: Int) -> ByteString { ByteString(decimal: number) }

/// What this process holds of the kernel's.
enum Holdings {
    static var descriptors: Int { Int("/proc/self/fd".withCString { callbox_count_entries($0) }) }

    /// Pages of memory in use, of all kinds.
    static var pages: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return 0 }
        let text = ByteString(cString: line).bytes
        let second = text.drop { $0 != ASCII.space }.dropFirst().prefix { $0 != ASCII.space }
        return second.reduce(0) { $0 * 10 + Int($1 &- 0x30) }
    }
}

/// Checksums of what the CRTC gives to the display, one a picture that it scans out (kernel document
/// "DRM debugfs: CRC capture").
final class Checksums {
    private let file: Int32

    /// - Parameter path: of a CRTC's `crc/data` in debugfs.
    init?(_ path: ByteString) {
        self.file = path.withCString { callbox_open_read($0) }
        guard self.file >= 0 else { return nil }
    }

    deinit {
        close(self.file)
    }

    /// The one of what stands on the screen: as soon as several scans have the same. On a busy machine the test display
    /// is some scans late.
    func next() -> ByteString {
        var (last, times) = (ByteString(), 0)
        // What waits is of pictures before.
        var entry = pollfd(fd: self.file, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, 0) > 0, self.line() != nil {}
        for number in 0..<Self.scansMax {
            let line = self.line() ?? []
            let sum = ByteString(line.drop { $0 != ASCII.space }.dropFirst().filter { $0 > ASCII.space })
            times = sum == last ? times + 1 : 1
            last = sum
            if number >= Self.scansLate, times >= Self.scansAlike { break }
        }
        return last
    }

    private static let (scansLate, scansAlike, scansMax) = (8, 4, 60)

    private func line() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(self.file, &bytes, bytes.count)
        return count > 0 ? Array(bytes[..<count]) : nil
    }
}
