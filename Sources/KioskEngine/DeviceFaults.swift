// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Faults of devices that stand, and the moment in which lamp and tone tell of a new one. The banner tells of it as
/// long as it stands.
struct DeviceFaults {
    /// Long enough to be noticed, short enough not to frighten whoever is in a call.
    static let alarmMs = 2_000
    /// A device that comes and goes is not told of again by lamp and tone before that.
    static let quietMs = 60_000

    private var texts = [ByteString?](repeating: nil, count: DeviceFamily.all.count)
    private var alarmedAt = [Instant?](repeating: nil, count: DeviceFamily.all.count)
    /// Lamp and tone tell of a fault until then.
    private(set) var alarmUntil: Instant?

    /// The sentence of the fault that stands.
    subscript(family: DeviceFamily) -> ByteString? { self.texts[Int(family.rawValue)] }

    mutating func failed(_ family: DeviceFamily, _ text: ByteString, now: Instant) {
        let index = Int(family.rawValue)
        let isNew = self.texts[index] == nil
        self.texts[index] = text
        if let last = self.alarmedAt[index], now - last < .milliseconds(Self.quietMs) { return }
        guard isNew else { return }
        self.alarmedAt[index] = now
        self.alarmUntil = now + .milliseconds(Self.alarmMs)
    }

    /// False where it was not known to be away.
    mutating func restored(_ family: DeviceFamily) -> Bool {
        defer { self.texts[Int(family.rawValue)] = nil }
        return self.texts[Int(family.rawValue)] != nil
    }

    /// Something else that whoever stands there is to notice.
    mutating func alarm(now: Instant) {
        self.alarmUntil = now + .milliseconds(Self.alarmMs)
    }

    mutating func timePassed(now: Instant) {
        if let until = self.alarmUntil, now >= until { self.alarmUntil = nil }
    }
}
