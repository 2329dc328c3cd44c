// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The first line of a YUV4MPEG2 file: `YUV4MPEG2 W640 H360 F30:1 Ip A1:1 C420jpeg`. Pure.
public struct Y4MHeader: Equatable {
    public let width: Int
    public let height: Int
    public let rate: FrameRate
    public let fullRange: Bool

    /// The longest first line, and the longest line before a frame.
    public static let lineBytesMax = 256

    /// One frame of I420: rows and columns of chroma rounded up.
    public var frameBytes: Int {
        let chroma = ((self.width + 1) / 2) * ((self.height + 1) / 2)
        return self.width * self.height + 2 * chroma
    }

    /// Reads a header line, given without its line feed.
    ///
    /// - Throws: a sentence where it is none, or of a kind that is not read (other than 8 bits, 4:2:0).
    public init(line: ByteString) throws(CameraError) {
        let words = line.slice(0..<Self.lineBytesMax).split(on: ASCII.space)
        guard words[0] == "YUV4MPEG2" else { throw CameraError(.unusable, "not a YUV4MPEG2 file") }
        var width = 0
        var height = 0
        var rate = FrameRate(25)
        var fullRange = false
        for word in words.dropFirst() where word.count > 1 {
            let value = word.slice(1..<word.count)
            switch word.bytes[0] {
            case UInt8(ascii: "W"): width = Int(value.decimal(max: 65_535) ?? 0)
            case UInt8(ascii: "H"): height = Int(value.decimal(max: 65_535) ?? 0)
            case UInt8(ascii: "F"): rate = try Self.rate(value)
            case UInt8(ascii: "C"): try Self.checkColour(value)
            case UInt8(ascii: "X"): fullRange = fullRange || value == "COLORRANGE=FULL"
            default: break
            }
        }
        guard PictureLimits.allows(width: width, height: height) else {
            throw CameraError(.unusable, "no picture size, or one that is out of range")
        }
        self.width = width
        self.height = height
        self.rate = rate
        self.fullRange = fullRange
    }

    private static func rate(_ text: ByteString) throws(CameraError) -> FrameRate {
        let parts = text.split(on: ASCII.colon)
        guard parts.count == 2, let numerator = parts[0].decimal(max: 1_000_000), numerator > 0,
            let denominator = parts[1].decimal(max: 1_000_000), denominator > 0,
            numerator <= denominator * 240, denominator <= numerator * 10
        else { throw CameraError(.unusable, "a frame rate that is not between 1 in 10 seconds and 240 a second") }
        return FrameRate(Int(numerator), over: Int(denominator))
    }

    /// The variants of 8-bit 4:2:0 differ in where chroma lies, by less than can be seen here.
    private static func checkColour(_ name: ByteString) throws(CameraError) {
        for known: ByteString in ["420", "420jpeg", "420mpeg2", "420paldv"] where name == known { return }
        throw CameraError(.unusable, "a colour format that is not 8-bit 4:2:0")
    }
}
