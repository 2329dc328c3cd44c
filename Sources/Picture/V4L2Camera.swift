// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import CCodec
import CSystem
import CV4L2

/// A camera by Video4Linux 2 with buffers in kernel memory. Owned by one thread.
final class V4L2Camera {
    let name: ByteString
    private(set) var mode: CameraMode
    private let clock: () -> Instant
    private let buffers: V4L2Buffers
    private let picture: callbox_v4l2_picture
    /// How pictures lie that other devices can do with; nil for formats that nobody else takes.
    private let layout: V4L2Layout?
    private let converter = PictureConverter()
    private let jpeg: CameraJPEGDecoder?
    private var newestAt: Instant
    /// Pictures that the driver or the JPEG decoder found damaged.
    private(set) var damaged: UInt64 = 0

    /// A camera that sends nothing for this long counts as lost.
    private static let silenceMs = 3000

    init(_ name: ByteString, wish: CameraWish, clock: @escaping () -> Instant) throws(CameraError) {
        let device = try V4L2Names.open(name)
        let type =
            V4L2Names.isMultiplanar(device.capability)
            ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE.rawValue : V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        self.name = name
        self.clock = clock
        self.buffers = V4L2Buffers(fd: device.fd, bufferType: type)
        self.newestAt = clock()
        guard V4L2Names.canCapture(device.capability) else {
            throw CameraError(.unusable, "\"" + name + "\" is a video device, but not a camera.")
        }
        let modes = V4L2Modes(fd: device.fd, bufferType: type, wish: wish).all()
        guard let choice = CameraChoice.best(of: modes, for: wish) else {
            throw CameraError(
                .unusable, "The camera \"" + name + "\" has no picture format of ours (NV12, YUYV, MJPEG).")
        }
        let settled = try Self.settle(name, device.fd, type, choice, wish)
        self.mode = settled.mode
        self.picture = settled.picture
        self.layout = settled.mode.format == .nv12 ? Self.layout(device.fd, type) : nil
        do {
            self.jpeg =
                settled.mode.format == .mjpeg
                ? try CameraJPEGDecoder(width: settled.mode.width, height: settled.mode.height, clock: clock) : nil
        } catch {
            throw CameraError(.unusable, error.text)
        }
        let started = self.buffers.start()
        guard started == 0 else { throw Self.startFault(name, started) }
        self.newestAt = clock()
    }

    deinit {
        self.buffers.stop()
    }

    /// Who decodes what it sends, in words; nil for pictures that are not coded.
    var decoding: ByteString? { self.jpeg?.words }

    /// The newest picture, where one comes within the limit; older ones that wait are passed over.
    func next(timeLimitMs: Int) throws(CameraError) -> VideoFrame? {
        var descriptor = pollfd(fd: self.buffers.fd, events: Int16(POLLIN), revents: 0)
        _ = poll(&descriptor, 1, Int32(clamping: max(timeLimitMs, 0)))
        guard let filled = try self.newest() else {
            // A queue in fault is ready at once, always: wait here rather than spin.
            if Int32(descriptor.revents) & POLLERR != 0 { _ = poll(nil, 0, 5) }
            guard self.clock() - self.newestAt < .milliseconds(Self.silenceMs) else {
                throw CameraError(.lost, "The camera \"" + self.name + "\" sends no pictures.")
            }
            return nil
        }
        let now = self.clock()
        self.newestAt = now
        let stamp = Instant(nanoseconds: filled.monotonic_ns)
        let captured = filled.monotonic_ns != 0 && stamp < now ? stamp : now
        let lease = V4L2Lease(self.buffers, filled.index)
        guard filled.damaged == 0, let frame = self.frame(filled, lease, captured) else {
            self.damaged &+= 1
            return nil
        }
        return frame
    }

    /// Takes all filled buffers and gives back all but the last.
    private func newest() throws(CameraError) -> callbox_v4l2_filled? {
        var newest: callbox_v4l2_filled?
        while true {
            var filled = callbox_v4l2_filled()
            let result = callbox_v4l2_dequeue(self.buffers.fd, self.buffers.bufferType, &filled)
            if result == -EAGAIN { return newest }
            guard result == 0 else {
                throw CameraError(.lost, "The camera \"" + self.name + "\" went away.")
            }
            if let older = newest { _ = self.buffers.queue(older.index) }
            newest = filled
        }
    }

    private static func startFault(_ name: ByteString, _ code: Int32) -> CameraError {
        switch -code {
        case EBUSY: return CameraError(.busy, "The camera \"" + name + "\" is used by another program.")
        case ENOSPC:
            return CameraError(.unusable, "The USB bus has no room for the pictures of camera \"" + name + "\".")
        case let other:
            return CameraError(
                .unusable, "The camera \"" + name + "\" does not start (errno " + ByteString(decimal: other) + ").")
        }
    }
}

// MARK: - Format

extension V4L2Camera {
    private struct Settled {
        let mode: CameraMode
        let picture: callbox_v4l2_picture
    }

    /// Sets format and rate, and checks what the driver made of them.
    private static func settle(
        _ name: ByteString, _ fd: Int32, _ type: UInt32, _ choice: CameraMode, _ wish: CameraWish
    ) throws(CameraError) -> Settled {
        var picture = callbox_v4l2_picture()
        picture.width = UInt32(choice.width)
        picture.height = UInt32(choice.height)
        picture.pixelformat = choice.format.fourCC
        let result = callbox_v4l2_set_format(fd, type, &picture)
        guard result != -EBUSY else {
            throw CameraError(.busy, "The camera \"" + name + "\" is used by another program.")
        }
        let width = Int(clamping: picture.width)
        let height = Int(clamping: picture.height)
        guard result == 0, picture.pixelformat == choice.format.fourCC,
            PictureLimits.allows(width: width, height: height), Self.fits(&picture, choice.format)
        else { throw CameraError(.unusable, "The camera \"" + name + "\" does not take its own picture format.") }
        let wanted = choice.rate ?? wish.rate
        var numerator = UInt32(wanted.numerator)
        var denominator = UInt32(wanted.denominator)
        let hasRate = callbox_v4l2_set_rate(fd, type, &numerator, &denominator) == 0 && numerator > 0 && denominator > 0
        let rate = hasRate ? FrameRate(Int(clamping: numerator), over: Int(clamping: denominator)) : choice.rate
        return Settled(
            mode: CameraMode(format: choice.format, width: width, height: height, rate: rate), picture: picture)
    }

    /// Whether rows and size hold the picture; a stride of 0 is filled in.
    private static func fits(_ picture: inout callbox_v4l2_picture, _ format: CameraFormat) -> Bool {
        let tight: UInt32
        switch format {
        case .nv12: tight = picture.width
        case .yuyv: tight = picture.width * 2
        case .mjpeg: return picture.size > 0
        }
        if picture.stride == 0 { picture.stride = tight }
        return picture.stride >= tight && picture.stride <= 65_536
    }

    /// Bytes that a whole picture takes at least.
    private var bytesNeeded: Int {
        let area = Int(self.picture.stride) * Int(self.picture.height)
        switch self.mode.format {
        case .nv12: return area + Int(self.picture.stride) * ((Int(self.picture.height) + 1) / 2)
        case .yuyv: return area
        case .mjpeg: return 4
        }
    }
}

// MARK: - Frames

extension V4L2Camera {
    /// NV12 as it lies in the driver's memory; anything else converted, so that the driver has its buffer back at once.
    private func frame(_ filled: callbox_v4l2_filled, _ lease: V4L2Lease, _ captured: Instant) -> VideoFrame? {
        guard let bytes = self.buffers.bytes(filled.index), bytes.count >= self.bytesNeeded,
            Int(filled.bytes_used) <= bytes.count
        else { return nil }
        if let jpeg = self.jpeg {
            let used = UnsafeMutableRawBufferPointer(rebasing: bytes[0..<Int(filled.bytes_used)])
            return jpeg.decode(UnsafeRawBufferPointer(used), captured: captured)
        }
        guard Int(filled.bytes_used) >= self.bytesNeeded else { return nil }
        let mapped = self.mapped(bytes, lease)
        guard self.mode.format == .nv12 else { return self.converted(mapped, captured) }
        var memory: CameraMemory?
        if let layout = self.layout, let (dmaBuf, length) = self.buffers.shared(filled.index) {
            memory = CameraMemory(dmaBuf: dmaBuf, length: length, layout: layout)
        }
        return mapped.flatMap { VideoFrame(taking: $0, captured: captured, memory: memory) }
    }

    private static func layout(_ fd: Int32, _ type: UInt32) -> V4L2Layout? {
        var format = callbox_codec_format()
        return callbox_codec_get_format(fd, type, &format) == 0 ? V4L2Layout(format) : nil
    }

    /// An AVFrame over the buffer, of even size.
    private func mapped(
        _ bytes: UnsafeMutableRawBufferPointer, _ lease: V4L2Lease
    ) -> UnsafeMutablePointer<AVFrame>? {
        var frame = av_frame_alloc()
        guard let mapped = frame, let reference = lease.avBuffer(bytes) else {
            av_frame_free(&frame)
            return nil
        }
        let isNV12 = self.mode.format == .nv12
        let stride = Int32(self.picture.stride)
        mapped.pointee.buf.0 = reference
        mapped.pointee.width = Int32(self.picture.width & ~1)
        mapped.pointee.height = Int32(self.picture.height & ~1)
        mapped.pointee.format = isNV12 ? AV_PIX_FMT_NV12.rawValue : AV_PIX_FMT_YUYV422.rawValue
        mapped.pointee.color_range = self.picture.full_range != 0 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        mapped.pointee.colorspace = AVCOL_SPC_SMPTE170M
        mapped.pointee.data.0 = reference.pointee.data
        mapped.pointee.linesize.0 = stride
        if isNV12 {
            mapped.pointee.data.1 = reference.pointee.data + Int(stride) * Int(self.picture.height)
            mapped.pointee.linesize.1 = stride
        }
        return mapped
    }

    /// As I420 of the same size; frees `source`.
    private func converted(_ source: UnsafeMutablePointer<AVFrame>?, _ captured: Instant) -> VideoFrame? {
        var source = source
        defer { av_frame_free(&source) }
        guard let picture = source else { return nil }
        let width = Int(picture.pointee.width) & ~1
        let height = Int(picture.pointee.height) & ~1
        guard let copy = self.converter.i420(from: picture, width: width, height: height) else { return nil }
        return VideoFrame(taking: copy, captured: captured)
    }
}
