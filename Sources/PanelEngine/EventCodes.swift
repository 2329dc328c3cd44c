// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Key codes of the kernel's event interface (linux/input-event-codes.h) as keys of a telephone.
public enum EventCodes {
    /// The ASCII character; nil for keys that no telephone has. Enter, which keypads have beside their digits, is `#`,
    /// which ends what is typed as Enter does.
    public static func key(of code: UInt16) -> UInt8? {
        switch code {
        // KEY_1 … KEY_9, KEY_0
        case 2...10: return ASCII.zero + UInt8(code - 1)
        case 11: return ASCII.zero
        // KEY_NUMERIC_0 … KEY_NUMERIC_9, KEY_NUMERIC_STAR, KEY_NUMERIC_POUND
        case 0x200...0x209: return ASCII.zero + UInt8(code - 0x200)
        case 0x20A: return ASCII.star
        case 0x20B: return ASCII.hash
        // KEY_NUMERIC_A … KEY_NUMERIC_D
        case 0x20C...0x20F: return 0x41 + UInt8(code - 0x20C)
        default: return self.padKeys.first { $0.code == code }?.key
        }
    }

    /// KEY_KP0 … KEY_KP9 in the order of the pad, KEY_KPASTERISK, KEY_KPENTER, KEY_ENTER, KEY_A … KEY_D.
    private static let padKeys: [(code: UInt16, key: UInt8)] = [
        (82, 0x30), (79, 0x31), (80, 0x32), (81, 0x33), (75, 0x34), (76, 0x35), (77, 0x36), (71, 0x37), (72, 0x38),
        (73, 0x39), (55, ASCII.star), (96, ASCII.hash), (28, ASCII.hash), (30, 0x41), (48, 0x42), (46, 0x43),
        (32, 0x44),
    ]
}
