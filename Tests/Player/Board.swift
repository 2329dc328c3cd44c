// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDRM
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

    /// The one of what the card shows now. On a busy machine the test display is some scans late, and tells of those
    /// before the flip after it: each line has the number of its scan.
    func next(_ card: Int32) -> ByteString {
        var clock = drmVBlank()
        clock.request.type = DRM_VBLANK_RELATIVE
        guard drmWaitVBlank(card, &clock) == 0 else { return "no clock" }
        let now = clock.reply.sequence
        for _ in 0..<Self.scansMax {
            let parts = ByteString(self.line() ?? []).split(on: ASCII.space)
            // Numbers go round: later is what is less than half of them ahead.
            guard parts.count >= 2, (Self.number(parts[0]) &- now &- 1) < 1 << 31 else { continue }
            return ByteString(parts[1].bytes.filter { $0 > ASCII.space })
        }
        return "no scan"
    }

    private static let scansMax = 1000

    /// Of hexadecimal digits after `0x`.
    private static func number(_ text: ByteString) -> UInt32 {
        text.bytes.dropFirst(2).reduce(0) { $0 << 4 | UInt32($1 >= 0x61 ? $1 - 0x57 : $1 & 0xF) }
    }

    private func line() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(self.file, &bytes, bytes.count)
        return count > 0 ? Array(bytes[..<count]) : nil
    }
}
