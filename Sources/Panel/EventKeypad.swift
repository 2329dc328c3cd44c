// SPDX-License-Identifier: Apache-2.0

import Bytes
import CInput
import PanelEngine

/// A keypad that the kernel knows as a keyboard.
public final class EventKeypad {
    public let descriptor: Int32
    private static let devicesMax = 64
    private static let eventsMax = 64
    private static let nameBytesMax = 256
    /// EV_KEY, and the value of a key that goes down; 2 repeats one that is held.
    private static let keyType: UInt16 = 1
    private static let downValue: Int32 = 1

    /// `name` is a path that does not change from start to start, or `evdev:` and the name that the device says.
    public init(_ name: ByteString) throws(PanelError) {
        guard let descriptor = name.hasPrefix("evdev:") ? Self.find(name.slice(6..<name.count)) : Self.open(name) else {
            throw .noSuchKeypad
        }
        // Where another program has it, the keys come to both.
        _ = callbox_grab_keypad(descriptor)
        self.descriptor = descriptor
    }

    deinit {
        close(self.descriptor)
    }

    private static func open(_ path: ByteString) -> Int32? {
        let descriptor = path.withCString { callbox_open_keypad($0) }
        return descriptor >= 0 ? descriptor : nil
    }

    private static func find(_ name: ByteString) -> Int32? {
        for number in 0..<self.devicesMax {
            guard let descriptor = self.open("/dev/input/event" + ByteString(decimal: number)) else { continue }
            var bytes = [CChar](repeating: 0, count: self.nameBytesMax)
            if callbox_keypad_name(descriptor, &bytes, self.nameBytesMax) == 0,
                ByteString(bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }) == name
            {
                return descriptor
            }
            close(descriptor)
        }
        return nil
    }

    /// Keys that went down, as ASCII characters; nil where the keypad is gone.
    public func read() -> [UInt8]? {
        var events = [callbox_key_event](repeating: callbox_key_event(), count: Self.eventsMax)
        let count = callbox_read_keypad(self.descriptor, &events, Int32(Self.eventsMax))
        guard count >= 0 else { return nil }
        return events.prefix(Int(count)).compactMap { event in
            guard event.type == Self.keyType, event.value == Self.downValue else { return nil }
            return EventCodes.key(of: event.code)
        }
    }
}
