// SPDX-License-Identifier: Apache-2.0

/// The payload type of an RTP packet, 0–127 (RFC 3550 section 5.1, static values in RFC 3551 section 6).
public struct PayloadType: Hashable, Sendable {
    public let value: UInt8

    /// The low seven bits of `value`: also the second byte of an RTP packet, its marker cut off.
    public init(_ value: UInt8) {
        self.value = value & 0x7F
    }

    /// A number from text (SDP); nil above 127.
    public init?(checked value: UInt64) {
        guard value <= 127 else { return nil }
        self.value = UInt8(value)
    }

    public static let pcmu = PayloadType(0)
    public static let pcma = PayloadType(8)

    /// Free for rtpmap on a port that carries RTCP too: 64–95 would be mistaken for RTCP (RFC 5761 section 4).
    public var isSafeWithRTCPMux: Bool { self.value < 64 || self.value > 95 }
}

/// A synchronisation source: one stream of one sender (RFC 3550 section 3).
public struct SSRC: Hashable, Sendable {
    public let value: UInt32

    public init(_ value: UInt32) {
        self.value = value
    }
}

/// An RTP sequence number, which wraps; compared as RFC 1982 says.
public struct SequenceNumber: Hashable, Sendable {
    public let value: UInt16

    public init(_ value: UInt16) {
        self.value = value
    }

    /// How far `self` is ahead of `other`: −32768…32767.
    public func distance(from other: SequenceNumber) -> Int {
        Int(Int16(bitPattern: self.value &- other.value))
    }

    public func isAhead(of other: SequenceNumber) -> Bool {
        self.distance(from: other) > 0
    }

    public func advanced(by count: Int) -> SequenceNumber {
        SequenceNumber(self.value &+ UInt16(truncatingIfNeeded: count))
    }

    public var next: SequenceNumber { self.advanced(by: 1) }
}

/// An RTP timestamp in units of the payload's clock, which wraps.
public struct RTPTimestamp: Hashable, Sendable {
    public let value: UInt32

    public init(_ value: UInt32) {
        self.value = value
    }

    /// How far `self` is ahead of `other`, in clock units: −2³¹…2³¹−1.
    public func distance(from other: RTPTimestamp) -> Int32 {
        Int32(bitPattern: self.value &- other.value)
    }

    public func advanced(by units: UInt32) -> RTPTimestamp {
        RTPTimestamp(self.value &+ units)
    }

    public func moved(back units: UInt32) -> RTPTimestamp {
        RTPTimestamp(self.value &- units)
    }
}

/// Seconds since 1900 in 32.32 fixed point (RFC 5905 section 6), as sender reports carry it.
public struct NTPTime: Hashable, Sendable {
    public let value: UInt64

    public init(_ value: UInt64) {
        self.value = value
    }

    /// The middle 32 bits: seconds in 16.16 fixed point, as in LSR and DLSR (RFC 3550 section 6.4.1).
    public var compact: UInt32 { UInt32(truncatingIfNeeded: self.value >> 16) }

    /// Later by `nanoseconds`.
    public func advanced(byNanoseconds nanoseconds: UInt64) -> NTPTime {
        let seconds = nanoseconds / 1_000_000_000
        let fraction = ((nanoseconds % 1_000_000_000) << 32) / 1_000_000_000
        return NTPTime(self.value &+ (seconds << 32) &+ fraction)
    }
}
