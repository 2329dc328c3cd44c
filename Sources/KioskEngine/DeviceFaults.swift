// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Faults of devices that stand, and the moment in which lamp and tone tell of a new one. The banner tells of it as
/// long as it stands.
struct DeviceFaults {
    /// Long enough to be noticed, short enough not to frighten whoever is in a call.
    static let alarmMs = 2_000
    /// A device that comes and goes is not told of again by lamp and tone before that.
    static let quietMs = 10_000

    private var texts = [ByteString?](repeating: nil, count: DeviceFamily.all.count)
    private var alarmedAt = [Instant?](repeating: nil, count: DeviceFamily.all.count)
    /// Whether whoever stands there heard that it is away, and is to hear that it is back.
    private var isTold = [Bool](repeating: false, count: DeviceFamily.all.count)
    /// The lamp tells of a fault until then.
    private(set) var alarmUntil: Instant?
    /// So does a tone: of what is no device's fault, for a device has a chime.
    private(set) var soundsAlarm = false

    /// The sentence of the fault that stands.
    subscript(family: DeviceFamily) -> ByteString? { self.texts[Int(family.rawValue)] }

    /// Whether whoever stands there is to hear of it.
    mutating func failed(_ family: DeviceFamily, _ text: ByteString, now: Instant) -> Bool {
        let index = Int(family.rawValue)
        let isNew = self.texts[index] == nil
        self.texts[index] = text
        if isNew { self.isTold[index] = false }
        if let last = self.alarmedAt[index], now - last < .milliseconds(Self.quietMs) { return false }
        guard isNew else { return false }
        self.alarmedAt[index] = now
        self.isTold[index] = true
        self.tell(now: now)
        return true
    }

    /// Whether it was heard that this device is away.
    func wasTold(_ family: DeviceFamily) -> Bool { self.isTold[Int(family.rawValue)] }

    /// False where it was not known to be away.
    mutating func restored(_ family: DeviceFamily) -> Bool {
        defer { self.texts[Int(family.rawValue)] = nil }
        return self.texts[Int(family.rawValue)] != nil
    }

    /// The lamp tells that something is wrong.
    mutating func tell(now: Instant) {
        self.alarmUntil = now + .milliseconds(Self.alarmMs)
    }

    /// Somebody wants what cannot be had now.
    mutating func alarm(now: Instant) {
        self.tell(now: now)
        self.soundsAlarm = true
    }

    mutating func timePassed(now: Instant) {
        guard let until = self.alarmUntil, now >= until else { return }
        self.alarmUntil = nil
        self.soundsAlarm = false
    }
}
