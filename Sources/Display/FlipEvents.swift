// SPDX-License-Identifier: Apache-2.0

import Bytes

/// What the kernel writes to a card's descriptor (drm_event in drm.h).
enum FlipEvents {
    /// A commit that has reached the screen, by its cookie, and when, by CLOCK_MONOTONIC.
    struct Flip: Equatable {
        var cookie: UInt64
        var time: Instant
    }

    /// Oldest first. Other events are passed over.
    static func flips(in bytes: ArraySlice<UInt8>) -> [Flip] {
        var flips: [Flip] = []
        var rest = bytes
        while rest.count >= self.headerBytes {
            let kind = self.number(rest, at: 0, bytes: 4)
            let length = Int(clamping: self.number(rest, at: 4, bytes: 4))
            guard length >= self.headerBytes, length <= rest.count else { break }
            if kind == self.flipComplete, length >= self.flipBytes {
                let seconds = self.number(rest, at: 16, bytes: 4)
                let microseconds = self.number(rest, at: 20, bytes: 4)
                flips.append(
                    Flip(
                        cookie: self.number(rest, at: self.headerBytes, bytes: 8),
                        time: Instant(nanoseconds: seconds * 1_000_000_000 + microseconds * 1000)))
            }
            rest = rest.dropFirst(length)
        }
        return flips
    }

    private static let headerBytes = 8
    /// Of drm_event_vblank.
    private static let flipBytes = 32
    /// DRM_EVENT_FLIP_COMPLETE.
    private static let flipComplete: UInt64 = 2

    private static func number(_ bytes: ArraySlice<UInt8>, at offset: Int, bytes count: Int) -> UInt64 {
        let start = bytes.startIndex + offset
        return bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
