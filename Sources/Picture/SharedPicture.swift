// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import CCodec
import CSystem

/// How the samples of a shared picture lie, by the numbers of the display's side of the kernel (drm_fourcc.h).
public struct SharedFormat: Hashable, Sendable {
    public let fourCC: UInt32
    /// 0 for rows one after the other; tiles and compression have others.
    public let modifier: UInt64

    public init(fourCC: UInt32, modifier: UInt64 = 0) {
        self.fourCC = fourCC
        self.modifier = modifier
    }
}

/// One plane of a shared picture: the dma-buf that it lies in, where it begins there, and from one row to the next, in
/// bytes. The descriptor is the picture's: it stays open as long as the picture lives.
public struct SharedPlane {
    public let dmaBuf: Int32
    public let offset: UInt32
    public let stride: UInt32
}

/// Which part of the coded picture is to be seen, in samples.
public struct VisiblePart: Equatable, Sendable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int
}

/// How a shared picture came to be; what the codec knows of each one.
struct SharedPictureFacts {
    var captured: Instant
    var isKeyFrame: Bool
}

/// A picture of a codec in hardware, in memory that it shares with the display: nobody copies it.
///
/// It never changes as long as the object lives, so any thread may hold it; its buffer goes back to the codec with the
/// last reference, or with `release`. A codec has few of them: hold one no longer than it takes to show.
public final class SharedPicture: @unchecked Sendable {
    public let format: SharedFormat
    /// As many as the format has.
    public let planes: [SharedPlane]
    /// Of the buffer, in samples.
    public let codedWidth: Int
    public let codedHeight: Int
    public let visible: VisiblePart
    /// Width of a sample to its height: codecs do not tell it.
    public let sampleAspect = (width: 1, height: 1)
    /// Y from 0 to 255 rather than from 16 to 235.
    public let fullRange: Bool
    public let matrix: ColourMatrix
    /// What was given to the codec with what this was decoded from.
    public let captured: Instant
    public let isKeyFrame: Bool
    /// Names the memory, for whoever keeps something by it: no two memories of this process have the same.
    public let bufferID: UInt64
    /// Names the buffers that came with this one, and go with it when size or format change.
    public let poolID: UInt64
    /// Of the buffer in the queue; for codecs that name pictures by it.
    let index: UInt32
    /// Whether the buffer is still ours; guarded by the queue.
    var isHeld = true
    private let queue: V4L2PictureQueue
    let layout: V4L2Layout

    init(_ queue: V4L2PictureQueue, index: UInt32, _ facts: SharedPictureFacts) {
        let layout = queue.layout
        self.queue = queue
        self.layout = layout
        self.index = index
        self.format = layout.format
        self.planes = layout.planes.map { plane in
            SharedPlane(
                dmaBuf: queue.dmaBuf(index, plane.memory), offset: UInt32(plane.offset), stride: UInt32(plane.stride))
        }
        self.codedWidth = layout.width
        self.codedHeight = layout.height
        self.visible = layout.visible
        self.fullRange = layout.isFullRange
        self.matrix = layout.matrix
        self.captured = facts.captured
        self.isKeyFrame = facts.isKeyFrame
        self.bufferID = queue.bufferID(index)
        self.poolID = queue.poolID
    }

    deinit {
        self.release()
    }

    /// Gives the buffer back before the last reference goes; the picture is not to be shown or read afterwards. Does
    /// nothing the second time.
    public func release() {
        self.queue.giveBack(self)
    }

    /// Bytes of one of its memories.
    func length(_ memory: Int) -> Int { self.queue.length(self.index, memory) }

    /// Whether software can read it: tiles and compression it cannot.
    public var isReadable: Bool { self.layout.isLinear }

    /// Lets `body` read the visible part of each plane, in the format's order, while the memory is held for the
    /// processor. nil where the memory cannot be mapped, and where `isReadable` is false.
    public func read<Value>(_ body: ([VideoPlane]) -> Value) -> Value? {
        guard self.isReadable else { return nil }
        var parts: [VideoPlane] = []
        for (plane, shared) in zip(self.layout.planes, self.planes) {
            guard let map = self.queue.map(self.index, plane.memory) else { return nil }
            let skipped = plane.bytes(toColumn: self.visible.x, row: self.visible.y)
            parts.append(
                VideoPlane(
                    bytes: UnsafeRawPointer(map + plane.offset + skipped).assumingMemoryBound(to: UInt8.self),
                    stride: Int(shared.stride)))
        }
        let memories = self.queue.dmaBufs(self.index)
        for memory in memories { _ = callbox_share_read(memory, 1) }
        defer { for memory in memories { _ = callbox_share_read(memory, 0) } }
        return body(parts)
    }

    /// A copy in memory of our own as I420, for formats that nothing else here reads; nil where FFmpeg does not know
    /// the format either, or memory is short.
    public func converted(by converter: SharedPictureConverter) -> VideoFrame? {
        guard let pixels = self.layout.pixels else { return nil }
        return self.read { parts in converter.convert(self, parts, pixels) } ?? nil
    }
}

/// Converts shared pictures; keeps what the last one needed.
public final class SharedPictureConverter {
    private let converter = PictureConverter()

    public init() {}

    fileprivate func convert(_ picture: SharedPicture, _ parts: [VideoPlane], _ pixels: AVPixelFormat) -> VideoFrame? {
        var source = av_frame_alloc()
        defer { av_frame_free(&source) }
        guard let frame = source, let first = parts.first else { return nil }
        let second = parts.count > 1 ? parts[1] : VideoPlane(bytes: nil, stride: 0)
        let third = parts.count > 2 ? parts[2] : VideoPlane(bytes: nil, stride: 0)
        frame.pointee.width = Int32(picture.visible.width)
        frame.pointee.height = Int32(picture.visible.height)
        frame.pointee.format = pixels.rawValue
        frame.pointee.color_range = picture.fullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        frame.pointee.colorspace = picture.matrix == .bt709 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M
        // Read only; FFmpeg's frame has no other kind of pointer.
        frame.pointee.data.0 = UnsafeMutablePointer(mutating: first.bytes)
        frame.pointee.data.1 = UnsafeMutablePointer(mutating: second.bytes)
        frame.pointee.data.2 = UnsafeMutablePointer(mutating: third.bytes)
        frame.pointee.linesize.0 = Int32(first.stride)
        frame.pointee.linesize.1 = Int32(second.stride)
        frame.pointee.linesize.2 = Int32(third.stride)
        let width = picture.visible.width & ~1
        let height = picture.visible.height & ~1
        let copy = self.converter.i420(from: frame, width: width, height: height)
        return copy.flatMap { VideoFrame(taking: $0, captured: picture.captured) }
    }
}
