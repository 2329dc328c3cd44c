// SPDX-License-Identifier: Apache-2.0

import Bytes

/// An `a=rtpmap` line (RFC 8866 section 6.6).
public struct RTPMap: Hashable, Sendable {
    public var payloadType: UInt8
    /// As written; compared without case.
    public var name: ByteString
    /// Hertz.
    public var clockRate: UInt32
    /// 1 where nothing is written.
    public var channels: UInt8

    public init(payloadType: UInt8, name: ByteString, clockRate: UInt32, channels: UInt8 = 1) {
        self.payloadType = payloadType
        self.name = name
        self.clockRate = clockRate
        self.channels = channels
    }

    /// Reads `PT name/rate[/channels]`; nil for a fault or a number out of range.
    public init?(_ value: ByteString) {
        let fields = Fields.split(value)
        guard fields.count == 2, let type = fields[0].decimal(max: 127) else { return nil }
        let parts = fields[1].split(on: ASCII.slash)
        guard parts.count == 2 || parts.count == 3, !parts[0].isEmpty,
            let rate = parts[1].decimal(max: UInt64(UInt32.max)), rate > 0
        else { return nil }
        var channels: UInt64 = 1
        if parts.count == 3 {
            guard let number = parts[2].decimal(max: 255), number > 0 else { return nil }
            channels = number
        }
        self.init(
            payloadType: UInt8(type), name: parts[0], clockRate: UInt32(rate), channels: UInt8(channels))
    }

    /// The static assignments of RFC 3551 section 6 that this product could meet.
    public static func fixed(_ payloadType: UInt8) -> RTPMap? {
        switch payloadType {
        case 0: return RTPMap(payloadType: 0, name: "PCMU", clockRate: 8_000)
        case 3: return RTPMap(payloadType: 3, name: "GSM", clockRate: 8_000)
        case 8: return RTPMap(payloadType: 8, name: "PCMA", clockRate: 8_000)
        case 9: return RTPMap(payloadType: 9, name: "G722", clockRate: 8_000)
        case 13: return RTPMap(payloadType: 13, name: "CN", clockRate: 8_000)
        case 18: return RTPMap(payloadType: 18, name: "G729", clockRate: 8_000)
        case 26: return RTPMap(payloadType: 26, name: "JPEG", clockRate: 90_000)
        case 31: return RTPMap(payloadType: 31, name: "H261", clockRate: 90_000)
        case 34: return RTPMap(payloadType: 34, name: "H263", clockRate: 90_000)
        default: return nil
        }
    }

    public func isNamed(_ name: ByteString) -> Bool { self.name.equalsIgnoringCase(name) }

    public var printed: ByteString {
        var text = ByteString(decimal: self.payloadType) + " " + self.name + "/" + ByteString(decimal: self.clockRate)
        if self.channels != 1 { text += "/" + ByteString(decimal: self.channels) }
        return text
    }
}
