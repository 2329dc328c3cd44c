// SPDX-License-Identifier: Apache-2.0

/// What the kernel writes to a card's descriptor (drm_event in drm.h).
enum FlipEvents {
    /// The cookies of the commits that have reached the screen, oldest first. Other events are passed over.
    static func cookies(in bytes: ArraySlice<UInt8>) -> [UInt64] {
        var cookies: [UInt64] = []
        var rest = bytes
        while rest.count >= self.headerBytes {
            let kind = self.number(rest, at: 0, bytes: 4)
            let length = Int(clamping: self.number(rest, at: 4, bytes: 4))
            guard length >= self.headerBytes, length <= rest.count else { break }
            if kind == self.flipComplete, length >= self.headerBytes + 8 {
                cookies.append(self.number(rest, at: self.headerBytes, bytes: 8))
            }
            rest = rest.dropFirst(length)
        }
        return cookies
    }

    private static let headerBytes = 8
    /// DRM_EVENT_FLIP_COMPLETE.
    private static let flipComplete: UInt64 = 2

    private static func number(_ bytes: ArraySlice<UInt8>, at offset: Int, bytes count: Int) -> UInt64 {
        let start = bytes.startIndex + offset
        return bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
