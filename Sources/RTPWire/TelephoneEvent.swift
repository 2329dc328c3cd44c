// SPDX-License-Identifier: Apache-2.0

import Bytes

/// One telephone-event payload (RFC 4733 section 2.3).
public struct TelephoneEvent: Hashable, Sendable {
    /// 0–9 digits, 10 `*`, 11 `#`, 12–15 A–D, 16 flash; others are kept as they are.
    public var event: UInt8
    public var isEnd: Bool
    /// Power below 0 dBm0, 0–63.
    public var volume: UInt8
    /// Since the event's start, in clock units.
    public var duration: UInt16

    public init(event: UInt8, isEnd: Bool, volume: UInt8, duration: UInt16) {
        self.event = event
        self.isEnd = isEnd
        self.volume = volume & 0x3F
        self.duration = duration
    }

    /// Nil below four bytes; bytes after the first event are ignored.
    public static func parse(_ payload: ArraySlice<UInt8>) -> TelephoneEvent? {
        var reader = ByteReader(payload)
        guard let event = reader.uint8(), let flags = reader.uint8(), let duration = reader.uint16() else { return nil }
        return TelephoneEvent(event: event, isEnd: flags & 0x80 != 0, volume: flags, duration: duration)
    }

    public func printed() -> [UInt8] {
        var writer = ByteWriter(reserving: 4)
        writer.put(self.event)
        writer.put(UInt8((self.isEnd ? 0x80 : 0) | self.volume))
        writer.put(self.duration)
        return writer.bytes
    }

    /// The event of a key: digits, `*`, `#`, `A`–`D` of either case.
    public static func event(ofKey key: UInt8) -> UInt8? {
        if ASCII.isDigit(key) { return key - ASCII.zero }
        if key == ASCII.star { return 10 }
        if key == ASCII.hash { return 11 }
        let folded = ASCII.lowercased(key)
        return folded >= 0x61 && folded <= 0x64 ? folded - 0x61 + 12 : nil
    }

    /// The key of an event 0–15.
    public static func key(ofEvent event: UInt8) -> UInt8? {
        switch event {
        case 0...9: return ASCII.zero + event
        case 10: return ASCII.star
        case 11: return ASCII.hash
        case 12...15: return 0x41 + event - 12
        default: return nil
        }
    }
}
