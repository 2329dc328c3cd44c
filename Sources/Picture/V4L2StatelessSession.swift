// SPDX-License-Identifier: Apache-2.0

import Bytes
import CCodec
import CStateless
import CSystem
import CV4L2
import H264

/// A stateless decoder's buffers and requests for one sequence parameter set.
final class V4L2StatelessSession {
    /// A picture that the device has, by its stamp, and those that it refers to.
    private struct Work {
        var stamp: UInt64
        var needs: [UInt64]
    }

    let sequence: SequenceParameterSet
    private let device: V4L2Device
    private let driver: H264RequestDriver
    private let units: V4L2MappedQueue
    private let pictures: V4L2PictureQueue
    /// One for each buffer of units.
    private var requests: [Int32] = []
    /// Requests that were queued once, and have to be made fit before they are used again.
    private var used: [Bool] = []
    private var inWork: [Work] = []
    /// What the newest picture and those after it may refer to.
    private var needed: [UInt64] = []
    /// Buffers that are kept for it.
    private var kept: [(stamp: UInt64, index: UInt32)] = []
    private var isRunning = true

    private static let unitBuffers: UInt32 = 8
    /// One on the screen, one on its way there, one that waits, one being taken, and two in work.
    private static let heldElsewhere: UInt32 = 6
    /// A request whose buffer came back is done at once.
    private static let requestLimitMs: Int32 = 100

    init(
        _ device: V4L2Device, _ driver: H264RequestDriver, _ picture: CodedPicture, formats: [SharedFormat]
    ) throws(HardwareCodecError) {
        let sequence = picture.sequence
        self.device = device
        self.driver = driver
        self.sequence = sequence
        var format = callbox_codec_format()
        format.width = UInt32(clamping: sequence.codedWidth)
        format.height = UInt32(clamping: sequence.codedHeight)
        format.pixelformat = V4L2StatelessDecoder.coded
        format.plane_count = 1
        format.size.at0 = UInt32(clamping: max(sequence.codedWidth * sequence.codedHeight, 256 << 10))
        let set = callbox_codec_set_format(device.fd, device.output, &format)
        guard set == 0, format.pixelformat == V4L2StatelessDecoder.coded, format.plane_count == 1 else {
            throw HardwareCodecError(.noFormat, "does not take the stream's format", code: set)
        }
        // What pictures come out in may depend on it.
        var controls = callbox_h264_controls(picture)
        let told = callbox_h264_set(device.fd, -1, &controls, Int32(CALLBOX_H264_SPS))
        guard told == 0 else { throw HardwareCodecError(.refused, "does not take the stream", code: told) }
        var layout = try device.pictureLayout(formats)
        // No device tells of the rectangle: it stands in the stream.
        layout.show(
            v4l2_rect(
                left: Int32(clamping: sequence.left), top: Int32(clamping: sequence.top),
                width: UInt32(clamping: sequence.width), height: UInt32(clamping: sequence.height)))
        self.units = try V4L2MappedQueue(device, device.output, wanted: Self.unitBuffers)
        self.pictures = try V4L2PictureQueue(
            device, layout, wanted: UInt32(sequence.referenceFrames) + 1 + Self.heldElsewhere)
        for _ in 0..<self.units.count {
            self.requests.append(try driver.request())
            self.used.append(false)
        }
        try self.units.start()
        try self.pictures.start()
    }

    deinit {
        for request in self.requests { close(request) }
    }

    /// Pictures are in work.
    var isBusy: Bool { self.isRunning && !self.inWork.isEmpty }
}

// MARK: - What goes in

extension V4L2StatelessSession {
    /// Puts in as much of a picture as there are buffers for.
    ///
    /// - Returns: whether that was all.
    func put(_ waiting: inout V4L2StatelessDecoder.Waiting) throws(HardwareCodecError) -> Bool {
        let picture = waiting.picture
        var controls = callbox_h264_controls(picture)
        while waiting.slice < picture.slices.count {
            guard let index = self.units.next else { return false }
            let slice = picture.slices[waiting.slice]
            let count = self.driver.decodesSlices ? 1 : picture.slices.count
            let units = picture.slices[waiting.slice..<waiting.slice + count].map { waiting.units[$0.unit] }
            guard let room = self.units.bytes(index), let bytes = self.driver.write(units, to: room) else {
                throw HardwareCodecError(.tooLarge, "has no room for a picture of this many bytes", code: 0)
            }
            if self.driver.decodesSlices { controls.take(slice) }
            let isLast = waiting.slice + count == picture.slices.count
            try self.queue(
                Int(index), bytes, waiting.stamp, isLast: isLast, &controls, which: self.driver.which(slice))
            if waiting.slice == 0 { self.note(picture, stamp: waiting.stamp) }
            waiting.slice += count
        }
        return true
    }

    private func queue(
        _ index: Int, _ bytes: Int, _ stamp: UInt64, isLast: Bool, _ controls: inout callbox_h264_controls,
        which: Int32
    ) throws(HardwareCodecError) {
        let request = self.requests[index]
        if self.used[index] {
            let code = callbox_stateless_reuse_request(request, Self.requestLimitMs)
            guard code == 0 else { throw HardwareCodecError(.stuck, "does not end a request", code: code) }
            self.used[index] = false
        }
        let told = callbox_h264_set(self.device.fd, request, &controls, which)
        guard told == 0 else { throw HardwareCodecError(.refused, "does not take what a picture is", code: told) }
        var used = callbox_codec_planes()
        used.at0 = UInt32(clamping: bytes)
        let queued = self.units.queue(used: used, stamp: stamp, request: request, holdsPicture: !isLast)
        guard queued == 0 else { throw HardwareCodecError(.refused, "refuses what is to be decoded", code: queued) }
        self.used[index] = true
        let begun = callbox_stateless_queue_request(request)
        guard begun == 0 else { throw HardwareCodecError(.refused, "refuses a request", code: begun) }
    }

    private func note(_ picture: CodedPicture, stamp: UInt64) {
        self.inWork.append(Work(stamp: stamp, needs: picture.references.map { $0.id }))
        self.needed = picture.references.map { $0.id } + (picture.header.isReference ? [stamp] : [])
    }
}

// MARK: - What comes out

extension V4L2StatelessSession {
    /// Takes back the buffers of units that were read.
    func reclaim() throws(HardwareCodecError) {
        guard self.isRunning else { return }
        for _ in 0..<self.units.count {
            var done = callbox_codec_buffer()
            let code = self.units.dequeue(&done)
            if code == callbox_codec_nothing { return }
            guard code == 0 else { throw HardwareCodecError(.failed, "failed while it read a stream", code: code) }
        }
    }

    /// The next picture that is done, if any.
    func dequeue(_ stamps: inout UnitStamps) throws(HardwareCodecError) -> HardwarePicture? {
        guard self.isRunning, !self.inWork.isEmpty else { return nil }
        var filled = V4L2PictureQueue.Filled()
        let code = self.pictures.dequeue(&filled)
        if code == callbox_codec_nothing { return nil }
        guard code == 0 else { throw HardwareCodecError(.failed, "failed while it decoded", code: code) }
        let origin = stamps.take(filled.stamp_us)
        self.inWork.removeAll { $0.stamp == filled.stamp_us }
        defer { self.letGo() }
        guard case .unit(let captured) = origin else {
            self.pictures.recycle(filled)
            guard origin == .forgotten else {
                throw HardwareCodecError(.wrongStamp, "gives a picture that belongs to nothing", code: 0)
            }
            return .nothing
        }
        guard filled.flags & UInt32(V4L2_BUF_FLAG_ERROR) == 0 else {
            self.pictures.recycle(filled)
            return .damaged
        }
        guard self.pictures.isWhole(filled) else {
            throw HardwareCodecError(.shortPicture, "gives pictures that are not whole", code: 0)
        }
        self.kept.append((filled.stamp_us, filled.index))
        self.pictures.keep(filled.index)
        let facts = SharedPictureFacts(
            captured: captured, isKeyFrame: filled.flags & UInt32(V4L2_BUF_FLAG_KEYFRAME) != 0)
        return .picture(SharedPicture(self.pictures, index: filled.index, facts))
    }

    /// Buffers that nothing in work and nothing to come refers to.
    private func letGo() {
        let needs = self.needed + self.inWork.flatMap { $0.needs }
        for (stamp, index) in self.kept where !needs.contains(stamp) { self.pictures.unkeep(index) }
        self.kept.removeAll { !needs.contains($0.stamp) }
    }

    /// Forgets what is in work; pictures that are done come out as forgotten ones.
    func flush() throws(HardwareCodecError) {
        self.units.stop()
        self.inWork = []
        self.needed = []
        self.letGo()
        try self.units.start()
    }

    func stop() {
        guard self.isRunning else { return }
        self.isRunning = false
        self.units.stop()
        self.pictures.stop()
    }
}
