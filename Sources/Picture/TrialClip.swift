// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import RTPWire

/// What a decoder is tried with before it is trusted: a clip that is drawn and encoded here, and how it looks when
/// libavcodec decodes it.
///
/// The syntax is that of calls (constrained baseline, one reference, no reordering), and every picture moves, so that a
/// decoder which repeats, mixes up or shifts pictures is found out.
public struct TrialClip {
    public static let width = 1280
    public static let height = 720
    public static let count = 10

    public let units: [AccessUnit]
    /// Of each picture as libavcodec decodes it.
    public let checksums: [UInt32]
    /// The shortest time in which libavcodec decoded one of them: a busy processor only makes others longer.
    public let softwareTime: Duration

    /// - Parameter clock: the monotonic clock.
    public init(clock: () -> Instant) throws(CodecError) {
        let encoder = try H264Encoder(
            H264EncoderSettings(width: Self.width, height: Self.height, bitrateKbps: 4000, effort: .ultrafast))
        let decoder = try H264Decoder(threads: 1)
        var (units, checksums): ([AccessUnit], [UInt32]) = ([], [])
        var best = Duration.seconds(1)
        for index in 0..<Self.count {
            guard let picture = Self.drawn(index),
                let encoded = try encoder.encode(picture, forceKeyFrame: index == 0)
            else { throw CodecError("trial clip: a picture cannot be encoded") }
            let unit = AccessUnit(
                nalUnits: encoded.nalUnits, timestamp: RTPTimestamp(UInt32(index) * 3000),
                isKeyFrame: encoded.isKeyFrame)
            let before = clock()
            guard case .picture(let decoded, _) = decoder.decode(unit, captured: picture.captured) else {
                throw CodecError("trial clip: libavcodec gives no picture")
            }
            best = min(best, clock() - before)
            units.append(unit)
            checksums.append(PictureChecksum.of(decoded))
        }
        self.units = units
        self.checksums = checksums
        self.softwareTime = best
    }

    /// Slopes, edges and noise, of which all but the noise moves.
    static func drawn(_ index: Int) -> VideoFrame? {
        guard let picture = FramePool(width: self.width, height: self.height).take(),
            let luma = picture.pointee.data.0, let u = picture.pointee.data.1, let v = picture.pointee.data.2
        else { return nil }
        var noise: UInt32 = 1
        for y in 0..<self.height {
            let row = luma + y * Int(picture.pointee.linesize.0)
            for x in 0..<self.width {
                noise = noise &* 1_664_525 &+ 1_013_904_223
                let slope = UInt8(truncatingIfNeeded: (x + 3 * index) / 8 + y / 8)
                let isEdge = (x + 8 * index) & 64 == 0 && y & 32 == 0
                row[x] = 40 &+ (isEdge ? 90 : slope & 127) &+ UInt8(truncatingIfNeeded: noise >> 29)
            }
        }
        for y in 0..<self.height / 2 {
            for x in 0..<self.width / 2 {
                u[y * Int(picture.pointee.linesize.1) + x] = UInt8(truncatingIfNeeded: 64 + (x + index) / 8)
                v[y * Int(picture.pointee.linesize.2) + x] = UInt8(truncatingIfNeeded: 64 + (y + 2 * index) / 4)
            }
        }
        picture.pointee.color_range = AVCOL_RANGE_MPEG
        picture.pointee.colorspace = AVCOL_SPC_SMPTE170M
        return VideoFrame(taking: picture, captured: .zero + .milliseconds(index * 1000 / 30 + 1))
    }
}

/// CRC-32 (IEEE 802.3) of a picture's visible samples: Y, then U, then V, each by rows, however they lie in memory.
public enum PictureChecksum {
    public static func of(_ frame: VideoFrame) -> UInt32 {
        self.of(frame.planes, frame.format, width: frame.width, height: frame.height)
    }

    static func of(
        _ planes: (VideoPlane, VideoPlane, VideoPlane), _ format: PictureFormat, width: Int, height: Int
    ) -> UInt32 {
        let (columns, rows) = ((width + 1) / 2, (height + 1) / 2)
        let sum = self.add(planes.0, width, height, step: 1, at: 0, to: 0)
        switch format {
        case .i420:
            let half = self.add(planes.1, columns, rows, step: 1, at: 0, to: sum)
            return self.add(planes.2, columns, rows, step: 1, at: 0, to: half)
        case .nv12:
            let half = self.add(planes.1, columns, rows, step: 2, at: 0, to: sum)
            return self.add(planes.1, columns, rows, step: 2, at: 1, to: half)
        }
    }

    /// `columns` samples of each row, `step` bytes apart.
    private static func add(
        _ plane: VideoPlane, _ columns: Int, _ rows: Int, step: Int, at first: Int, to sum: UInt32
    ) -> UInt32 {
        guard let bytes = plane.bytes, plane.stride >= columns * step else { return sum }
        let table = av_crc_get_table(AV_CRC_32_IEEE_LE)
        var gathered = [UInt8](repeating: 0, count: step == 1 ? 0 : columns)
        var sum = sum
        for row in 0..<rows {
            let start = bytes + row * plane.stride
            if step == 1 {
                sum = av_crc(table, sum, start, columns)
            } else {
                for column in 0..<columns { gathered[column] = start[column * step + first] }
                sum = av_crc(table, sum, gathered, columns)
            }
        }
        return sum
    }
}
