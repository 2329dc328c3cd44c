// SPDX-License-Identifier: Apache-2.0

import Bytes
import CCodec
import CSystem
import CV4L2
import H264

/// What an encoder in hardware has made of one picture.
public struct HardwareUnit {
    /// As the device gave them; for H.264 with start codes.
    public let bytes: [UInt8]
    public let isKeyFrame: Bool
    public let captured: Instant
}

/// An encoder in hardware (kernel document "Memory-to-Memory Stateful Video Encoder Interface"). Owned by one thread,
/// and never waits unless told so.
///
/// Pictures that devices share are read where they lie, if the encoder can do with their layout; all others are copied
/// once, and counted. After an error the encoder is of no more use.
public final class V4L2StatefulEncoder {
    public private(set) var settings: HardwareEncoderSettings
    let device: V4L2Device
    /// How raw pictures lie in the buffers of the OUTPUT queue.
    let layout: V4L2Layout
    /// Pictures are read where they lie; else they are copied.
    public let isImporting: Bool
    /// Raw pictures that were copied to get here.
    public internal(set) var copies: UInt64 = 0
    var raw: V4L2MappedQueue
    var coded: V4L2MappedQueue
    var stamps = UnitStamps()
    /// By buffer: what the device reads.
    var held: [UInt32: Held] = [:]
    var owesKeyFrame = false
    let converter = PictureConverter()
    private var parameterSets = ParameterSets()
    private let hasKeyFrameOrder: Bool
    private var isStopped = false

    enum Held {
        case shared(SharedPicture)
        case frame(VideoFrame)
    }

    private static let rawBuffers: UInt32 = 4
    private static let codedBuffers: UInt32 = 4

    /// - Parameter source: one of the shared pictures that are to be encoded; nil where they will be of our own memory.
    /// - Throws: where no device encodes this, or it does not begin.
    public convenience init(
        _ settings: HardwareEncoderSettings, source: SharedPicture? = nil
    ) throws(HardwareCodecError) {
        try self.init(settings, lying: source?.layout)
    }

    /// - Parameter source: one of the camera's pictures that are to be encoded.
    convenience init(_ settings: HardwareEncoderSettings, camera: VideoFrame) throws(HardwareCodecError) {
        try self.init(settings, lying: camera.fullRange ? nil : camera.memory?.layout)
    }

    private init(_ settings: HardwareEncoderSettings, lying source: V4L2Layout?) throws(HardwareCodecError) {
        guard PictureLimits.allows(width: settings.width, height: settings.height), settings.bitrateKbps > 0 else {
            throw HardwareCodecError(.noFormat, "is not asked for pictures of this size or bit rate", code: 0)
        }
        let device = try V4L2Device.find(.encode(settings.coded))
        var format = callbox_codec_format()
        format.width = UInt32(settings.width)
        format.height = UInt32(settings.height)
        format.pixelformat = settings.coded
        format.plane_count = 1
        let set = callbox_codec_set_format(device.fd, device.capture, &format)
        guard set == 0, format.pixelformat == settings.coded, format.plane_count == 1 else {
            throw HardwareCodecError(.noFormat, "does not make this format", code: set)
        }
        let imported = source.flatMap { Self.settle(device, settings, taking: $0) }
        let layout: V4L2Layout
        if let imported { layout = imported } else { layout = try Self.settle(device, settings) }
        _ = callbox_codec_set_rate(
            device.fd, device.output, UInt32(clamping: settings.rate.numerator),
            UInt32(clamping: settings.rate.denominator))
        device.apply(settings)
        self.device = device
        self.settings = settings
        self.layout = layout
        self.isImporting = imported != nil
        self.hasKeyFrameOrder =
            callbox_codec_has_control(device.fd, UInt32(V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME)) != 0
        self.raw = try V4L2MappedQueue(
            device, device.output, wanted: Self.rawBuffers, planeCount: layout.needed.count,
            isImporting: self.isImporting)
        self.coded = try V4L2MappedQueue(device, device.capture, wanted: Self.codedBuffers)
        try self.begin()
    }

    public var name: ByteString { self.device.name }
    /// As of the decoder.
    public var descriptor: Int32 { self.device.fd }
    public var isWaiting: Bool { !self.isStopped && self.raw.inFlight > 0 }

    /// Waits until something may be done: at most this long, and false where nothing is.
    public func wait(limitMs: Int) -> Bool {
        guard self.isWaiting else { return false }
        var entry = pollfd(fd: self.device.fd, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, Int32(clamping: max(limitMs, 0))) > 0
    }

    /// The encoder takes it with the next picture; false where the device has no choice.
    @discardableResult
    public func setBitrate(kbps: Int) -> Bool {
        guard kbps > 0 else { return false }
        self.settings.bitrateKbps = kbps
        return self.device.setBitrate(kbps: kbps)
    }

    /// What has been made since, one at a time; nil where there is nothing.
    public func takeUnit() throws(HardwareCodecError) -> HardwareUnit? {
        guard !self.isStopped else { return nil }
        try self.reclaim()
        var done = callbox_codec_buffer()
        let code = self.coded.dequeue(&done)
        if code == callbox_codec_nothing || code == callbox_codec_ended { return nil }
        guard code == 0 else { throw HardwareCodecError(.failed, "failed while it encoded", code: code) }
        let unit = try self.read(done)
        let queued = self.coded.queue()
        guard queued == 0 else { throw HardwareCodecError(.refused, "does not take its buffer back", code: queued) }
        return unit
    }

    /// The same for H.264, its NAL units apart and each key frame with its parameter sets; nil also for a buffer that
    /// holds no picture.
    public func takePicture() throws(HardwareCodecError) -> EncodedPicture? {
        guard let unit = try self.takeUnit() else { return nil }
        let found = AnnexB.nalUnits(in: unit.bytes).filter { NALUnitType.isWorthSending($0) }
        let units = self.parameterSets.complete(found)
        let isKey = units.contains { NALUnitType.of($0) == NALUnitType.idrSlice }
        return units.isEmpty ? nil : EncodedPicture(nalUnits: units, isKeyFrame: isKey, captured: unit.captured)
    }

    public func stop() {
        self.isStopped = true
        self.raw.stop()
        self.coded.stop()
        self.held = [:]
    }

    /// A damaged one counts as not made.
    private func read(_ done: callbox_codec_buffer) throws(HardwareCodecError) -> HardwareUnit? {
        let used = Int(clamping: done.used.at0)
        let origin = self.stamps.take(done.stamp_us)
        guard done.flags & UInt32(V4L2_BUF_FLAG_ERROR) == 0, used > 0 else { return nil }
        guard let bytes = self.coded.bytes(done.index), used <= bytes.count else {
            throw HardwareCodecError(.failed, "tells of more bytes than it has", code: 0)
        }
        guard case .unit(let captured) = origin else {
            throw HardwareCodecError(.wrongStamp, "gives a picture that belongs to nothing", code: 0)
        }
        return HardwareUnit(
            bytes: Array(bytes[0..<used]), isKeyFrame: done.flags & UInt32(V4L2_BUF_FLAG_KEYFRAME) != 0,
            captured: captured)
    }
}

// MARK: - Beginning

extension V4L2StatefulEncoder {
    private func begin() throws(HardwareCodecError) {
        for _ in 0..<self.coded.count {
            let code = self.coded.queue()
            guard code == 0 else { throw HardwareCodecError(.refused, "does not take its buffers", code: code) }
        }
        try self.raw.start()
        try self.coded.start()
    }

    /// The next picture is to be a key frame. A device without an order for that begins its stream anew, once nothing
    /// is in work: each stream begins with one.
    func orderKeyFrame() throws(HardwareCodecError) {
        guard self.owesKeyFrame else { return }
        if self.hasKeyFrameOrder {
            self.owesKeyFrame = !self.device.set(Int(V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME), 1)
            return
        }
        guard self.stamps.count == 0 else { return }
        self.raw.stop()
        self.coded.stop()
        self.stamps.forget()
        try self.begin()
        self.owesKeyFrame = false
    }

    /// Sets the OUTPUT queue to one of our formats, best first.
    private static func settle(
        _ device: V4L2Device, _ settings: HardwareEncoderSettings
    ) throws(HardwareCodecError) -> V4L2Layout {
        let offered = device.rawFormats(device.output)
        for known in V4L2RawFormat.copied where offered.contains(where: { $0.v4l2 == known.v4l2 }) {
            if let layout = self.set(device, known, settings.width, settings.height, settings) { return layout }
        }
        throw HardwareCodecError(.noFormat, "takes no pictures of ours", code: 0)
    }

    /// The layout of pictures of others, where the encoder takes it just so; nil where they have to be copied.
    private static func settle(
        _ device: V4L2Device, _ settings: HardwareEncoderSettings, taking source: V4L2Layout
    ) -> V4L2Layout? {
        let isSplit = source.needed.count > 1
        let known = device.rawFormats(device.output).first {
            $0.fourCC == source.format.fourCC && $0.fits(source.format.modifier) && $0.isSplit == isSplit
        }
        let whole = VisiblePart(x: 0, y: 0, width: settings.width, height: settings.height)
        guard let known, source.visible == whole,
            let layout = self.set(device, known, source.width, source.height, settings)
        else { return nil }
        return layout.isAlike(source) ? layout : nil
    }

    private static func set(
        _ device: V4L2Device, _ known: V4L2RawFormat, _ width: Int, _ height: Int, _ settings: HardwareEncoderSettings
    ) -> V4L2Layout? {
        var wish = callbox_codec_format()
        wish.width = UInt32(width)
        wish.height = UInt32(height)
        wish.pixelformat = known.v4l2
        wish.plane_count = known.memoryCount
        guard callbox_codec_set_format(device.fd, device.output, &wish) == 0, wish.pixelformat == known.v4l2,
            let layout = V4L2Layout(wish), layout.width >= settings.width, layout.height >= settings.height
        else { return nil }
        guard layout.width != settings.width || layout.height != settings.height else { return layout }
        var part = v4l2_rect(left: 0, top: 0, width: UInt32(settings.width), height: UInt32(settings.height))
        guard callbox_codec_set_visible(device.fd, device.output, &part) == 0,
            Int(part.width) == settings.width, Int(part.height) == settings.height
        else { return nil }
        return layout
    }
}
