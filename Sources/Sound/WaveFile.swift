// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// Why a file is not taken as a prompt; the text is for whoever made the file.
public enum WaveFault: Error, Equatable, Sendable {
    case notWave
    case cutShort
    case encoding
    case rate
    case channels
    case tooLong
    case empty

    /// Without a full stop.
    public var text: ByteString {
        switch self {
        case .notWave: return "it is no WAV file"
        case .cutShort: return "it is cut short"
        case .encoding: return "its sound is neither 16-bit PCM nor mu-law nor A-law"
        case .rate: return "its rate is none of 8, 11.025, 12, 16, 22.05, 24, 32, 44.1 and 48 kHz"
        case .channels: return "it has more than two channels"
        case .tooLong: return "it is longer than 30 seconds"
        case .empty: return "there is no sound in it"
        }
    }
}

/// A short RIFF WAVE file (Microsoft, "Multimedia Programming Interface and Data Specifications 1.0", 1991), mixed to
/// one channel. Pure.
///
/// The file may be anybody's and anything: every length is checked against what there is.
public struct WaveFile {
    /// Samples a second, one of `rates`.
    public let rate: Int
    public let samples: [Int16]

    static let rates = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]
    static let secondsMax = 30
    /// The longest sound there may be, and some room for what editors add.
    public static let bytesMax = WaveFile.secondsMax * 48_000 * 4 + 65_536

    private enum Encoding {
        case pcm16
        case law(G711.Law)

        var bytes: Int {
            switch self {
            case .pcm16: return 2
            case .law: return 1
            }
        }
    }

    private struct Format {
        var encoding: Encoding
        var channels: Int
        var rate: Int
    }

    public init(_ bytes: [UInt8]) throws(WaveFault) {
        guard bytes.count <= Self.bytesMax else { throw .tooLong }
        guard Self.name(bytes, at: 0) == "RIFF", Self.name(bytes, at: 8) == "WAVE" else { throw .notWave }
        var format: Format?
        // The length of the whole, at 4, tells nothing that the file's end does not.
        var position = 12
        while position + 8 <= bytes.count {
            let name = Self.name(bytes, at: position)
            let size = Self.number32(bytes, at: position + 4)
            position += 8
            let left = bytes.count - position
            if name == "fmt " {
                guard size <= UInt32(left) else { throw .cutShort }
                format = try Self.format(bytes[position..<position + Int(size)])
            } else if name == "data" {
                guard let format else { throw .notWave }
                guard size <= UInt32(left) else { throw .cutShort }
                self.rate = format.rate
                self.samples = try Self.samples(bytes[position..<position + Int(size)], format)
                return
            }
            // Chunks begin at even places.
            guard size <= UInt32(left) else { throw .cutShort }
            position += Int(size) + Int(size & 1)
        }
        throw format == nil ? .notWave : .empty
    }

    private static func format(_ chunk: ArraySlice<UInt8>) throws(WaveFault) -> Format {
        let bytes = Array(chunk)
        guard bytes.count >= 16 else { throw .cutShort }
        var tag = self.number16(bytes, at: 0)
        // WAVE_FORMAT_EXTENSIBLE: the tag stands at the beginning of the sub-format.
        if tag == 0xFFFE, bytes.count >= 26 { tag = self.number16(bytes, at: 24) }
        let bits = self.number16(bytes, at: 14)
        let encoding: Encoding
        switch (tag, bits) {
        case (1, 16): encoding = .pcm16
        case (6, 8): encoding = .law(.a)
        case (7, 8): encoding = .law(.mu)
        default: throw .encoding
        }
        let channels = Int(self.number16(bytes, at: 2))
        guard channels == 1 || channels == 2 else { throw .channels }
        let rate = self.number32(bytes, at: 4)
        guard rate <= 48_000, self.rates.contains(Int(rate)) else { throw .rate }
        return Format(encoding: encoding, channels: channels, rate: Int(rate))
    }

    private static func samples(_ data: ArraySlice<UInt8>, _ format: Format) throws(WaveFault) -> [Int16] {
        let bytes = Array(data)
        let frames = bytes.count / (format.encoding.bytes * format.channels)
        guard frames > 0 else { throw .empty }
        guard frames <= self.secondsMax * format.rate else { throw .tooLong }
        let interleaved: [Int16]
        switch format.encoding {
        case .law(let law):
            interleaved = G711.decode(bytes, law)
        case .pcm16:
            interleaved = (0..<frames * format.channels).map {
                Int16(bitPattern: self.number16(bytes, at: 2 * $0))
            }
        }
        guard format.channels == 2 else { return Array(interleaved.prefix(frames)) }
        return (0..<frames).map { Int16((Int32(interleaved[2 * $0]) + Int32(interleaved[2 * $0 + 1])) / 2) }
    }

    private static func name(_ bytes: [UInt8], at position: Int) -> ByteString {
        guard position + 4 <= bytes.count else { return ByteString() }
        return ByteString(Array(bytes[position..<position + 4]))
    }

    /// Little-endian; the caller has seen that it is there.
    private static func number16(_ bytes: [UInt8], at position: Int) -> UInt16 {
        UInt16(bytes[position]) | UInt16(bytes[position + 1]) << 8
    }

    private static func number32(_ bytes: [UInt8], at position: Int) -> UInt32 {
        UInt32(self.number16(bytes, at: position)) | UInt32(self.number16(bytes, at: position + 2)) << 16
    }
}

extension WaveFile {
    /// The whole at 48 kHz.
    public func atDeviceRate() -> [Int16] {
        self.rate == SoundFormat.rate ? self.samples : RateConverter.convert(self.samples, from: self.rate)
    }
}
