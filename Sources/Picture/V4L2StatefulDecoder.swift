// SPDX-License-Identifier: Apache-2.0

import Bytes
import CCodec
import CSystem
import CV4L2

/// What a decoder in hardware gives when it is asked.
public enum HardwarePicture {
    case picture(SharedPicture)
    /// One was damaged, and is not shown: a key frame is needed.
    case damaged
    /// All that was put in before `drain` has come out.
    case drained
    /// Nothing yet.
    case nothing
}

/// A decoder in hardware that reads the stream by itself (kernel document "Memory-to-Memory Stateful Video Decoder
/// Interface"). Owned by one thread, and never waits unless told so.
///
/// The thread's turn: `submit` what has arrived, `takePicture` until it gives `.nothing`; then wait until `descriptor`
/// has news (only while `isWaiting`), or something arrives. After an error the decoder is of no more use.
public final class V4L2StatefulDecoder {
    /// What is to be decoded, and into what.
    public struct Wishes: Sendable {
        /// One of V4L2_PIX_FMT_*.
        public var coded: UInt32
        /// Formats that the display takes as they are, the best first; others are taken where the device has none.
        public var formats: [SharedFormat]
        /// The largest pictures that are expected; the device sizes its buffers by it.
        public var width: Int
        public var height: Int

        public init(
            coded: UInt32 = Wishes.h264, formats: [SharedFormat] = [], width: Int = 1920, height: Int = 1088
        ) {
            self.coded = coded
            self.formats = formats
            self.width = min(max(width, PictureLimits.sideMin), PictureLimits.widthMax)
            self.height = min(max(height, PictureLimits.sideMin), PictureLimits.heightMax)
        }

        /// V4L2_PIX_FMT_H264.
        public static let h264 = V4L2RawFormat.code("H264")
    }

    enum State: Equatable {
        /// The device reads the head of the stream: size and format of the pictures are not known.
        case starting
        case decoding
        /// All was put in that shall come out.
        case draining
        case drained
        case stopped
    }

    let device: V4L2Device
    let wishes: Wishes
    var state = State.starting
    var units: V4L2MappedQueue
    var pictures: V4L2PictureQueue?
    /// The device has told of another size or format.
    var sourceChanged = false
    var stamps = UnitStamps()
    /// Units that the driver could not use.
    var damagedUnits = 0
    /// It was drained before anything was put in.
    private var owesEnd = false

    /// Coded buffers: one in work, the others on their way.
    private static let unitBuffers: UInt32 = 6
    /// Changes of the source that one call goes through; a device that tells of more is waited for.
    private static let changesMax = 4

    /// - Throws: where no device decodes this, or it does not begin.
    public init(_ wishes: Wishes) throws(HardwareCodecError) {
        let device = try V4L2Device.find(.decode(wishes.coded))
        var format = callbox_codec_format()
        format.width = UInt32(clamping: wishes.width)
        format.height = UInt32(clamping: wishes.height)
        format.pixelformat = wishes.coded
        format.plane_count = 1
        format.size.at0 = UInt32(clamping: max(wishes.width * wishes.height / 2, 256 << 10))
        let set = callbox_codec_set_format(device.fd, device.output, &format)
        guard set == 0, format.pixelformat == wishes.coded, format.plane_count == 1 else {
            throw HardwareCodecError(.noFormat, "does not take the stream's format", code: set)
        }
        device.preparePrompt()
        self.device = device
        self.wishes = wishes
        self.units = try V4L2MappedQueue(device, device.output, wanted: Self.unitBuffers)
        try self.units.start()
    }

    /// What the driver calls itself.
    public var name: ByteString { self.device.name }
    var largest: (width: Int, height: Int) {
        self.device.sizes(self.wishes.coded).map { ($0.widths.upperBound, $0.heights.upperBound) } ?? (0, 0)
    }

    /// Can be polled for POLLIN, POLLOUT and POLLPRI (EPOLLIN and so on) while `isWaiting`: with nothing in work, the
    /// kernel reports an error of the queues all the time.
    public var descriptor: Int32 { self.device.fd }
    public var isWaiting: Bool {
        switch self.state {
        case .starting: return self.units.inFlight > 0
        // A unit that was read may give its picture later.
        case .decoding: return self.units.inFlight > 0 || self.stamps.count > 0 && self.pictures?.driverHasSome == true
        case .draining: return true
        case .drained, .stopped: return false
        }
    }
    /// Whether `submit` would take a unit.
    public var canTakeUnit: Bool { self.units.hasFree && self.state != .draining && self.state != .stopped }

    /// Waits until the descriptor has news: at most this long, and false where it has none.
    public func wait(limitMs: Int) -> Bool {
        var entry = pollfd(fd: self.device.fd, events: Int16(POLLIN | POLLOUT | POLLPRI), revents: 0)
        guard poll(&entry, 1, Int32(clamping: max(limitMs, 0))) > 0 else { return false }
        if Int32(entry.revents) & (POLLIN | POLLOUT | POLLPRI) != 0 { return true }
        // Queues in fault are ready at once, always: wait here rather than spin.
        _ = poll(nil, 0, Int32(clamping: min(max(limitMs, 0), 5)))
        return false
    }

    /// Puts in one access unit with start codes. `captured` comes back in its picture. False where the device has no
    /// buffer free: take its pictures first.
    public func submit(_ unit: UnsafeRawBufferPointer, captured: Instant) throws(HardwareCodecError) -> Bool {
        try self.reclaim()
        if case .drained = self.state { try self.resume() }
        guard self.canTakeUnit, let index = self.units.next, let room = self.units.bytes(index) else { return false }
        guard unit.count > 0, unit.count <= room.count else {
            throw HardwareCodecError(.tooLarge, "has no room for a picture of this many bytes", code: 0)
        }
        room.copyMemory(from: unit)
        var used = callbox_codec_planes()
        used.at0 = UInt32(unit.count)
        let code = self.units.queue(used: used, stamp: self.stamps.next(captured))
        guard code == 0 else { throw HardwareCodecError(.refused, "refuses what is to be decoded", code: code) }
        return true
    }

    /// What has come out since, one at a time.
    public func takePicture() throws(HardwareCodecError) -> HardwarePicture {
        if self.owesEnd {
            self.owesEnd = false
            return .drained
        }
        for _ in 0..<Self.changesMax {
            try self.readEvents()
            try self.reclaim()
            if self.damagedUnits > 0 {
                self.damagedUnits -= 1
                return .damaged
            }
            if self.pictures == nil {
                if self.sourceChanged { try self.takeSource() } else { return self.withoutSource() }
            }
            guard let queue = self.pictures else { return .nothing }
            if let found = try self.dequeue(queue) { return found }
        }
        return .nothing
    }

    /// Forgets all that was put in and has not come out; the next unit should be a key frame.
    public func flush() throws(HardwareCodecError) {
        guard self.state != .stopped else { return }
        if self.state == .draining || self.state == .drained { try self.restartPictures() }
        self.units.stop()
        self.stamps.forget()
        self.damagedUnits = 0
        try self.units.start()
        self.state = self.pictures == nil ? .starting : .decoding
    }

    /// Lets all come out that was put in: `takePicture` tells when it has. The next unit begins anew.
    public func drain() throws(HardwareCodecError) {
        guard self.state == .starting || self.state == .decoding else { return }
        // A device that has read nothing has nothing to end.
        if self.state == .starting, self.stamps.count == 0 {
            self.owesEnd = true
            return
        }
        let code = callbox_codec_decoder_command(self.device.fd, UInt32(V4L2_DEC_CMD_STOP))
        guard code == 0 else { throw HardwareCodecError(.refused, "does not come to an end", code: code) }
        self.state = .draining
    }

    /// Ends it. Pictures that are held stay whole.
    public func stop() {
        guard self.state != .stopped else { return }
        self.state = .stopped
        self.units.stop()
        self.pictures?.stop()
        self.pictures = nil
    }
}
