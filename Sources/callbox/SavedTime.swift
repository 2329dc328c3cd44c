// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine
import Loop
import Secure

/// The wall clock, and its file in the data directory: a board without a battery starts from there.
final class SavedTime {
    let clock: WallClock
    private let path: ByteString
    private(set) var savesAt: Instant
    private static let period = Duration.seconds(3600)
    private static let fileBytesMax = 32

    init(data: ByteString, now: Instant) {
        self.path = data + "/clock"
        let saved = readFile(self.path, sizeMax: Self.fileBytesMax).flatMap {
            ByteString(trimming: $0[...]).decimal(max: UInt64(Int32.max) * 4)
        }
        self.clock = WallClock(
            system: { callbox_wall_time() }, isSet: { callbox_wall_time_is_set() != 0 }, built: callbox_built(),
            saved: saved.map { Int64($0) }, now: now)
        self.savesAt = now + Self.period
    }

    /// What a clock on the wall shows here; nil while nobody vouches for the time.
    var localTime: LocalTime? {
        guard self.clock.isTimeKnown else { return nil }
        var seconds = time_t(callbox_wall_time())
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return nil }
        let second = (Int(parts.tm_hour) * 60 + Int(parts.tm_min)) * 60 + Int(parts.tm_sec)
        return LocalTime(secondOfDay: second, weekday: (Int(parts.tm_wday) + 6) % 7)
    }

    /// What is to be written, once an hour.
    func due(now: Instant) -> SmallFile? {
        guard now >= self.savesAt else { return nil }
        self.savesAt = now + Self.period
        return self.file
    }

    var file: SmallFile? {
        self.clock.timeToSave.map { SmallFile(path: self.path, bytes: (ByteString(decimal: $0) + "\n").bytes) }
    }
}
