// SPDX-License-Identifier: Apache-2.0

import Bytes

/// What a source may send at most (RFC 5104 section 4.2.1.1).
public struct RateBound: Hashable, Sendable {
    /// In a request whom it is asked of, in a notice who asked for it.
    public var source: SSRC
    /// Headers counted.
    public var bitsPerSecond: UInt64
    /// Bytes of headers on each packet, from IP to RTP; at most 511.
    public var overheadBytes: Int

    public init(source: SSRC, bitsPerSecond: UInt64, overheadBytes: Int) {
        self.source = source
        self.bitsPerSecond = bitsPerSecond
        self.overheadBytes = overheadBytes
    }

    private static let mantissaBits: UInt32 = 17
    private static let overheadBits: UInt32 = 9

    /// Exponent, mantissa and overhead share a word.
    static func list(_ reader: inout ByteReader) -> [RateBound] {
        var bounds: [RateBound] = []
        while bounds.count < RTPLimits.rateBoundsMax, let source = reader.uint32(), let word = reader.uint32() {
            let rate = BinaryFloat(
                exponent: word >> 26, mantissa: word >> self.overheadBits & (1 << self.mantissaBits - 1))
            bounds.append(
                RateBound(
                    source: SSRC(source), bitsPerSecond: rate.value,
                    overheadBytes: Int(word & (1 << self.overheadBits - 1))))
        }
        return bounds
    }

    func put(to writer: inout ByteWriter) {
        let rate = BinaryFloat(self.bitsPerSecond, mantissaBits: Self.mantissaBits)
        let overhead = UInt32(clamping: min(max(self.overheadBytes, 0), 1 << Self.overheadBits - 1))
        writer.put(self.source.value)
        writer.put(rate.exponent << 26 | rate.mantissa << Self.overheadBits | overhead)
    }
}

/// The body of a REMB after both sources: a word that names it, a count, the rate, the sources.
enum ReceivableRate {
    private static let name: UInt32 = 0x5245_4D42
    private static let mantissaBits: UInt32 = 18

    /// Nil for what is none, and where there are fewer sources than it says.
    static func parse(_ reader: ByteReader, sender: SSRC) -> RTCPPacket? {
        var reader = reader
        guard reader.uint32() == self.name, let word = reader.uint32() else { return nil }
        var sources: [SSRC] = []
        for _ in 0..<word >> 24 {
            guard let source = reader.uint32() else { return nil }
            sources.append(SSRC(source))
        }
        let rate = BinaryFloat(exponent: word >> 18 & 63, mantissa: word & (1 << self.mantissaBits - 1))
        return .receivableRate(sender: sender, bitsPerSecond: rate.value, sources)
    }

    static func put(_ rate: UInt64, _ sources: [SSRC], to writer: inout ByteWriter) {
        let rate = BinaryFloat(rate, mantissaBits: self.mantissaBits)
        let listed = sources.prefix(255)
        writer.put(self.name)
        writer.put(UInt32(clamping: listed.count) << 24 | rate.exponent << 18 | rate.mantissa)
        for source in listed { writer.put(source.value) }
    }
}

/// mantissa · 2^exponent, the exponent of six bits.
private struct BinaryFloat {
    let exponent: UInt32
    let mantissa: UInt32

    init(exponent: UInt32, mantissa: UInt32) {
        self.exponent = exponent
        self.mantissa = mantissa
    }

    /// What of it fits, rounded down.
    init(_ value: UInt64, mantissaBits: UInt32) {
        let used = UInt32(UInt64.bitWidth - value.leadingZeroBitCount)
        self.exponent = used > mantissaBits ? used - mantissaBits : 0
        self.mantissa = UInt32(truncatingIfNeeded: value >> UInt64(self.exponent))
    }

    /// The largest number for what is larger.
    var value: UInt64 {
        let mantissa = UInt64(self.mantissa)
        guard mantissa > 0, self.exponent <= mantissa.leadingZeroBitCount else { return mantissa == 0 ? 0 : .max }
        return mantissa << UInt64(self.exponent)
    }
}
