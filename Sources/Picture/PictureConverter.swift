// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV

/// Pictures of one size and format whose memory is used again when the last reference goes.
final class FramePool {
    private let width: Int32
    private let height: Int32
    private let format: AVPixelFormat
    private var pool: OpaquePointer?

    init(width: Int, height: Int, format: AVPixelFormat = AV_PIX_FMT_YUV420P) {
        self.width = Int32(width)
        self.height = Int32(height)
        self.format = format
        let size = av_image_get_buffer_size(format, self.width, self.height, Self.alignment)
        self.pool = size > 0 ? av_buffer_pool_init(Int(size) + Self.padding, nil) : nil
    }

    deinit {
        av_buffer_pool_uninit(&self.pool)
    }

    func matches(width: Int, height: Int) -> Bool {
        Int(self.width) == width && Int(self.height) == height
    }

    /// An AVFrame with samples of unknown content; nil where memory is short.
    func take() -> UnsafeMutablePointer<AVFrame>? {
        var frame = av_frame_alloc()
        guard let taken = frame, let buffer = av_buffer_pool_get(self.pool) else {
            av_frame_free(&frame)
            return nil
        }
        taken.pointee.buf.0 = buffer
        taken.pointee.width = self.width
        taken.pointee.height = self.height
        taken.pointee.format = self.format.rawValue
        withUnsafeMutablePointer(to: &taken.pointee.data) { data in
            withUnsafeMutablePointer(to: &taken.pointee.linesize) { strides in
                data.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 4) { data in
                    strides.withMemoryRebound(to: Int32.self, capacity: 4) { strides in
                        _ = av_image_fill_arrays(
                            data, strides, buffer.pointee.data, self.format, self.width, self.height, Self.alignment)
                    }
                }
            }
        }
        return taken
    }

    /// Rows begin where the vector units like it; they may also read and write a little past the last one.
    private static let alignment: Int32 = 64
    private static let padding = 64
}

/// Turns any picture that FFmpeg knows into I420 of limited range, of the same or another size.
final class PictureConverter {
    /// What a scaler is made for.
    private struct Shape: Equatable {
        let width: Int32
        let height: Int32
        let format: Int32
        let fullRange: Bool
        let targetWidth: Int32
        let targetHeight: Int32
    }

    private var shape: Shape?
    private var scaler: OpaquePointer?
    private var pool: FramePool?

    init() {}

    deinit {
        sws_freeContext(self.scaler)
    }

    /// A converted copy of `source`, which stays the caller's; nil where libswscale refuses or memory is short.
    func i420(from source: UnsafePointer<AVFrame>, width: Int, height: Int) -> UnsafeMutablePointer<AVFrame>? {
        guard let pool = self.pool(width: width, height: height), self.prepare(source.pointee, width, height) else {
            return nil
        }
        var target = pool.take()
        guard let copy = target else { return nil }
        copy.pointee.color_range = AVCOL_RANGE_MPEG
        copy.pointee.colorspace = source.pointee.colorspace
        copy.pointee.sample_aspect_ratio = source.pointee.sample_aspect_ratio
        guard self.scale(source, to: copy) else {
            av_frame_free(&target)
            return nil
        }
        return copy
    }

    private func pool(width: Int, height: Int) -> FramePool? {
        guard PictureLimits.allows(width: width, height: height) else { return nil }
        if let pool = self.pool, pool.matches(width: width, height: height) { return pool }
        let fresh = FramePool(width: width, height: height)
        self.pool = fresh
        return fresh
    }

    /// Makes the scaler fit; it is kept as long as sizes, format and range stay.
    private func prepare(_ source: AVFrame, _ width: Int, _ height: Int) -> Bool {
        let shape = Shape(
            width: source.width, height: source.height, format: source.format,
            fullRange: source.color_range == AVCOL_RANGE_JPEG, targetWidth: Int32(width), targetHeight: Int32(height))
        if shape == self.shape { return self.scaler != nil }
        sws_freeContext(self.scaler)
        self.scaler = Self.scaler(shape)
        self.shape = shape
        return self.scaler != nil
    }

    /// The ranges have to be known before the start, or libswscale settles on a plain copy.
    private static func scaler(_ shape: Shape) -> OpaquePointer? {
        guard shape.width > 0, shape.height > 0, let scaler = sws_alloc_context() else { return nil }
        let same = shape.width == shape.targetWidth && shape.height == shape.targetHeight
        let object = UnsafeMutableRawPointer(scaler)
        av_opt_set_int(object, "srcw", Int64(shape.width), 0)
        av_opt_set_int(object, "srch", Int64(shape.height), 0)
        av_opt_set_int(object, "src_format", Int64(shape.format), 0)
        av_opt_set_int(object, "src_range", shape.fullRange ? 1 : 0, 0)
        av_opt_set_int(object, "dstw", Int64(shape.targetWidth), 0)
        av_opt_set_int(object, "dsth", Int64(shape.targetHeight), 0)
        av_opt_set_int(object, "dst_format", Int64(AV_PIX_FMT_YUV420P.rawValue), 0)
        av_opt_set_int(object, "dst_range", 0, 0)
        av_opt_set_int(object, "sws_flags", Int64(same ? SWS_POINT : SWS_BILINEAR), 0)
        guard sws_init_context(scaler, nil, nil) >= 0 else {
            sws_freeContext(scaler)
            return nil
        }
        return scaler
    }

    private func scale(_ source: UnsafePointer<AVFrame>, to target: UnsafeMutablePointer<AVFrame>) -> Bool {
        let from = source.pointee
        let to = target.pointee
        // The C function takes arrays of four; the frames hold the same pointers as tuples.
        let sourceData: [UnsafePointer<UInt8>?] = [
            UnsafePointer(from.data.0), UnsafePointer(from.data.1), UnsafePointer(from.data.2),
            UnsafePointer(from.data.3),
        ]
        let sourceStrides = [from.linesize.0, from.linesize.1, from.linesize.2, from.linesize.3]
        let targetData = [to.data.0, to.data.1, to.data.2, to.data.3]
        let targetStrides = [to.linesize.0, to.linesize.1, to.linesize.2, to.linesize.3]
        let rows = sws_scale(
            self.scaler, sourceData, sourceStrides, 0, from.height, targetData, targetStrides)
        return rows == to.height
    }
}
