// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// What a trial of the board's encoder came to.
public struct EncoderTrial {
    public let name: ByteString
    /// From one picture to the next.
    public let time: Duration

    /// No encoder needs longer for the whole clip, its beginning included.
    private static let limit = Duration.seconds(3)
    /// What the other side sees is like what was put in; libx264 reaches more.
    private static let decibelsMin = 28
    private static let bitrateKbps = 4000

    /// Has the board encode the pictures of the trial clip, and compares what libavcodec decodes with them.
    ///
    /// - Parameter clock: the monotonic clock.
    /// - Throws: why the board's encoder is not to be used.
    public static func run(clock: () -> Instant) throws(HardwareCodecError) -> EncoderTrial {
        guard let first = TrialClip.drawn(0), let decoder = try? H264Decoder(threads: 1) else {
            throw HardwareCodecError(.failed, "The video codec cannot be tried: there is no memory or no decoder.")
        }
        let board = try BoardEncoder(
            HardwareEncoderSettings(
                width: TrialClip.width, height: TrialClip.height, bitrateKbps: self.bitrateKbps), first: first)
        let began = clock()
        var judged = 0
        for index in 0..<TrialClip.count {
            guard let picture = TrialClip.drawn(index) else { throw self.isWrong }
            for unit in try board.encode(picture, forceKeyFrame: index == 0, clock: clock) {
                try self.judge(unit, &judged, decoder)
            }
        }
        while judged < TrialClip.count {
            guard clock() - began < self.limit else { throw .stuck(afterMs: self.limit.milliseconds) }
            for unit in try board.rest() { try self.judge(unit, &judged, decoder) }
        }
        let span = clock() - began
        return EncoderTrial(name: board.name, time: Duration(nanoseconds: span.nanoseconds / Int64(TrialClip.count)))
    }

    private static func judge(
        _ encoded: EncodedPicture, _ judged: inout Int, _ decoder: H264Decoder
    ) throws(HardwareCodecError) {
        let unit = AccessUnit(
            nalUnits: encoded.nalUnits, timestamp: RTPTimestamp(UInt32(judged) * 3000),
            isKeyFrame: encoded.isKeyFrame)
        guard encoded.isKeyFrame == (judged == 0), let drawn = TrialClip.drawn(judged),
            drawn.captured == encoded.captured,
            case .picture(let decoded, _) = decoder.decode(unit, captured: encoded.captured),
            PictureLikeness.isWithin(decibels: self.decibelsMin, drawn, decoded)
        else { throw self.isWrong }
        judged += 1
    }

    private static let isWrong = HardwareCodecError(
        .failed, "The video codec encodes the trial clip to something else.")
}

/// How much two pictures differ.
enum PictureLikeness {
    /// Whether the brightness of two pictures of one size differs by no more than so much noise (PSNR, of 8 bits).
    static func isWithin(decibels: Int, _ one: VideoFrame, _ other: VideoFrame) -> Bool {
        guard one.width == other.width, one.height == other.height, one.width > 0, one.height > 0 else { return false }
        let (left, right) = (one.planes.0, other.planes.0)
        guard let first = left.bytes, let second = right.bytes, left.stride >= one.width, right.stride >= one.width
        else { return false }
        var squares: UInt64 = 0
        for y in 0..<one.height {
            for x in 0..<one.width {
                let difference = Int32(first[y * left.stride + x]) - Int32(second[y * right.stride + x])
                squares += UInt64(difference * difference)
            }
        }
        return squares <= UInt64(one.width * one.height) * self.meanSquareMax(decibels)
    }

    /// 255² / 10^(decibels / 10): each decibel leaves 0.7943 of it.
    private static func meanSquareMax(_ decibels: Int) -> UInt64 {
        var mean: UInt64 = 65_025 * 1000
        for _ in 0..<max(decibels, 0) { mean = mean * 7943 / 10_000 }
        return max(mean / 1000, 1)
    }
}
