// SPDX-License-Identifier: Apache-2.0

import Bytes
import CCodec
import CStateless
import CSystem
import CV4L2
import H264

/// A decoder in hardware that has to be told of each picture what it refers to (kernel documents "Memory-to-memory
/// Stateless Video Decoder Interface" and "Request API"): H.264 only. Owned by one thread, with the same turn as
/// `V4L2StatefulDecoder`.
public final class V4L2StatelessDecoder {
    /// What is to be decoded.
    public struct Wishes: Sendable {
        /// Formats that the display takes as they are, the best first.
        public var formats: [SharedFormat]
        /// For streams that no call has: pictures may be shown in another order than they come in.
        public var allowsReordering: Bool
        /// One slice at a time even where the device takes whole pictures.
        public var prefersSlices: Bool

        public init(
            formats: [SharedFormat] = [], allowsReordering: Bool = false, prefersSlices: Bool = false
        ) {
            self.formats = formats
            self.allowsReordering = allowsReordering
            self.prefersSlices = prefersSlices
        }
    }

    private enum State {
        case decoding
        case draining
        case stopped
    }

    /// A picture, or what is left of it, that waits for buffers.
    struct Waiting {
        var picture: CodedPicture
        var units: [[UInt8]]
        var stamp: UInt64
        /// The slice that is next.
        var slice = 0
    }

    /// V4L2_PIX_FMT_H264_SLICE.
    static let coded = V4L2RawFormat.code("S264")

    private let device: V4L2Device
    private let wishes: Wishes
    private let driver: H264RequestDriver
    private var state = State.decoding
    private var sequencer: PictureSequencer
    private var session: V4L2StatelessSession?
    private var waiting: Waiting?
    private var stamps = UnitStamps()
    /// Units that could not be decoded, and have not been told of.
    private var damaged = 0
    private var owesEnd = false

    /// - Throws: where no device decodes H.264 in this way.
    public init(_ wishes: Wishes) throws(HardwareCodecError) {
        let device = try V4L2Device.find(.decodeSlices(Self.coded))
        self.device = device
        self.wishes = wishes
        self.driver = try H264RequestDriver(device, prefersSlices: wishes.prefersSlices)
        self.sequencer = PictureSequencer(
            accepting: device.acceptance(Self.coded, allowsReordering: wishes.allowsReordering))
    }

    /// What the driver calls itself.
    public var name: ByteString { self.device.name }
    public var decodesSlices: Bool { self.driver.decodesSlices }
    var largest: (width: Int, height: Int) {
        self.device.sizes(Self.coded).map { ($0.widths.upperBound, $0.heights.upperBound) } ?? (0, 0)
    }
    /// Can be polled for POLLIN and POLLOUT while `isWaiting`.
    public var descriptor: Int32 { self.device.fd }
    public var isWaiting: Bool { self.state != .stopped && (self.session?.isBusy ?? false) }
    /// Whether `submit` would take a unit.
    public var canTakeUnit: Bool { self.state == .decoding && self.waiting == nil }

    /// Waits until the descriptor has news: at most this long, and false where it has none.
    public func wait(limitMs: Int) -> Bool {
        var entry = pollfd(fd: self.device.fd, events: Int16(POLLIN | POLLOUT), revents: 0)
        return poll(&entry, 1, Int32(clamping: max(limitMs, 0))) > 0
    }

    /// Puts in one access unit with start codes. `captured` comes back in its picture. False where one waits already:
    /// take its pictures first.
    ///
    /// - Throws: also where the stream is of a kind that the device does not take; one picture that cannot be decoded
    ///   is told by `takePicture`.
    public func submit(_ unit: UnsafeRawBufferPointer, captured: Instant) throws(HardwareCodecError) -> Bool {
        if case .draining = self.state, self.isEmpty { self.state = .decoding }
        guard self.canTakeUnit else { return false }
        let units = AnnexB.nalUnits(in: unit.bindMemory(to: UInt8.self))
        let stamp = self.stamps.next(captured)
        do throws(H264Refusal) {
            guard let picture = try self.sequencer.take(units, id: stamp) else {
                _ = self.stamps.take(stamp)
                return true
            }
            self.waiting = Waiting(picture: picture, units: units, stamp: stamp)
        } catch {
            _ = self.stamps.take(stamp)
            guard !error.isLasting else {
                throw HardwareCodecError(.notTaken, "H.264 is not decoded by hardware: " + error.text + ".")
            }
            self.damaged += 1
            return true
        }
        try self.advance()
        return true
    }

    /// What has come out since, one at a time.
    public func takePicture() throws(HardwareCodecError) -> HardwarePicture {
        guard self.state != .stopped else { return .nothing }
        try self.session?.reclaim()
        try self.advance()
        if self.damaged > 0 {
            self.damaged -= 1
            return .damaged
        }
        if let found = try self.session?.dequeue(&self.stamps) {
            if case .damaged = found { self.sequencer.restart() }
            return found
        }
        if self.owesEnd, self.isEmpty {
            self.owesEnd = false
            return .drained
        }
        return .nothing
    }

    /// Forgets all that was put in and has not come out; the next unit has to be a key frame.
    public func flush() throws(HardwareCodecError) {
        guard self.state != .stopped else { return }
        self.waiting = nil
        self.stamps.forget()
        self.damaged = 0
        self.owesEnd = false
        self.sequencer.restart()
        self.state = .decoding
        try self.session?.flush()
    }

    /// Lets all come out that was put in: `takePicture` tells when it has.
    public func drain() throws(HardwareCodecError) {
        guard self.state == .decoding else { return }
        self.state = .draining
        self.owesEnd = true
    }

    /// Ends it. Pictures that are held stay whole.
    public func stop() {
        self.state = .stopped
        self.waiting = nil
        self.session?.stop()
        self.session = nil
    }

    private var isEmpty: Bool { self.waiting == nil && !(self.session?.isBusy ?? false) }

    /// Gives the device as much of the picture that waits as it has buffers for.
    private func advance() throws(HardwareCodecError) {
        guard var next = self.waiting else { return }
        if self.session?.sequence != next.picture.sequence {
            // What was put in before comes out first.
            guard !(self.session?.isBusy ?? false) else { return }
            self.session?.stop()
            self.session = nil
            self.session = try V4L2StatelessSession(
                self.device, self.driver, next.picture, formats: self.wishes.formats)
        }
        let isWhole = try self.session?.put(&next) ?? false
        self.waiting = isWhole ? nil : next
    }
}
