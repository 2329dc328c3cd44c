// SPDX-License-Identifier: Apache-2.0

/// What the table-of-contents byte of an Opus packet says (RFC 6716 section 3.1).
public enum OpusPacket {
    /// RTP clock of Opus, whatever it was sampled at (RFC 7587 section 4.1).
    public static let clockRate: UInt32 = 48_000
    /// 120 ms, the longest packet.
    private static let samplesMax: UInt32 = 5760

    /// Samples at 48 kHz; nil where the packet is empty, holds no frame, or lasts longer than 120 ms.
    public static func samples(_ payload: ArraySlice<UInt8>) -> UInt32? {
        guard let toc = payload.first else { return nil }
        let frames: UInt32
        switch toc & 0x03 {
        case 0: frames = 1
        case 1, 2: frames = 2
        default:
            guard let second = payload.dropFirst().first else { return nil }
            frames = UInt32(second & 0x3F)
        }
        let total = frames * self.frameSamples(configuration: toc >> 3)
        return total > 0 && total <= self.samplesMax ? total : nil
    }

    /// Samples of one frame, by RFC 6716 table 2.
    private static func frameSamples(configuration: UInt8) -> UInt32 {
        switch configuration {
        case 0..<12: return [480, 960, 1920, 2880][Int(configuration & 3)]
        case 12..<16: return configuration & 1 == 0 ? 480 : 960
        default: return UInt32(120) << UInt32(configuration & 3)
        }
    }
}
