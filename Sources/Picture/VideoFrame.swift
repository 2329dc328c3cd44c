// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV

/// How the samples of a picture lie in memory. All are 8 bits, 4:2:0.
public enum PictureFormat: Equatable, Sendable {
    /// Three planes: Y, U, V.
    case i420
    /// Two planes: Y, then U and V in turns.
    case nv12
}

/// Which matrix makes RGB of Y, U and V (ITU-T H.273, table 4).
public enum ColourMatrix: Equatable, Sendable {
    case bt601
    case bt709
}

/// Memory of a camera that it shares with other devices.
struct CameraMemory {
    /// Open as long as the picture in it lives.
    let dmaBuf: Int32
    /// Bytes of it.
    let length: Int
    let layout: V4L2Layout
}

/// One plane of a picture: where its first visible sample is, and the bytes from one row to the next.
public struct VideoPlane {
    public let bytes: UnsafePointer<UInt8>?
    public let stride: Int
}

/// One picture, from a camera or a decoder. It never changes once made, so any thread may read it.
///
/// The samples stay valid as long as the object lives. They may lie in the camera's own memory, which the camera gets
/// back with the last reference: hold a frame no longer than it takes to show or encode it.
public final class VideoFrame: @unchecked Sendable {
    /// Visible size in samples; cropping is done.
    public let width: Int
    public let height: Int
    public let format: PictureFormat
    /// Width of a sample to its height; 1:1 where the stream says nothing.
    public let sampleAspect: (width: Int, height: Int)
    /// Y from 0 to 255 rather than from 16 to 235.
    public let fullRange: Bool
    /// BT.601 unless the stream says BT.709: cameras and telephones of any size take it so.
    public let matrix: ColourMatrix
    /// When the camera took it, or what the caller gave to the decoder.
    public let captured: Instant
    let frame: UnsafeMutablePointer<AVFrame>
    /// Where it lies, if other devices may read it there.
    let memory: CameraMemory?

    /// Takes over `frame`; nil (and `frame` is freed) where its format or size is not one of ours.
    init?(taking frame: UnsafeMutablePointer<AVFrame>, captured: Instant, memory: CameraMemory? = nil) {
        let picture = frame.pointee
        self.frame = frame
        self.memory = memory
        self.width = Int(picture.width)
        self.height = Int(picture.height)
        self.captured = captured
        self.fullRange = picture.color_range == AVCOL_RANGE_JPEG || picture.format == AV_PIX_FMT_YUVJ420P.rawValue
        self.format = picture.format == AV_PIX_FMT_NV12.rawValue ? .nv12 : .i420
        self.sampleAspect = Self.aspect(picture.sample_aspect_ratio)
        self.matrix = picture.colorspace == AVCOL_SPC_BT709 ? .bt709 : .bt601
        guard PictureLimits.allows(width: self.width, height: self.height), Self.isOurs(picture.format),
            picture.data.0 != nil, picture.data.1 != nil
        else { return nil }
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = self.frame
        av_frame_free(&frame)
    }

    /// The planes in use: three for I420, two for NV12 (the third has no bytes).
    public var planes: (VideoPlane, VideoPlane, VideoPlane) {
        let data = self.frame.pointee.data
        let strides = self.frame.pointee.linesize
        return (
            VideoPlane(bytes: UnsafePointer(data.0), stride: Int(strides.0)),
            VideoPlane(bytes: UnsafePointer(data.1), stride: Int(strides.1)),
            VideoPlane(bytes: UnsafePointer(data.2), stride: Int(strides.2))
        )
    }

    /// Whether samples of this FFmpeg format need no conversion.
    static func isOurs(_ format: Int32) -> Bool {
        format == AV_PIX_FMT_YUV420P.rawValue || format == AV_PIX_FMT_YUVJ420P.rawValue
            || format == AV_PIX_FMT_NV12.rawValue
    }

    /// Nonsense from the wire (zero, negative, or more than 1:16) counts as square.
    private static func aspect(_ ratio: AVRational) -> (width: Int, height: Int) {
        let width = Int(ratio.num)
        let height = Int(ratio.den)
        guard width > 0, height > 0, width / 16 <= height, height / 16 <= width else { return (1, 1) }
        return (width, height)
    }

}

/// The pictures that are let in, from a camera, a file or the network.
public enum PictureLimits {
    public static let widthMax = 4096
    public static let heightMax = 2304
    public static let sideMin = 16
    /// Of one access unit or one JPEG picture.
    public static let compressedBytesMax = 4 << 20

    static func allows(width: Int, height: Int) -> Bool {
        width >= self.sideMin && height >= self.sideMin && width <= self.widthMax && height <= self.heightMax
    }
}
