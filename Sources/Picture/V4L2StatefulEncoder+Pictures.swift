// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import CCodec
import CSystem
import CV4L2

/// Putting pictures into an encoder.
extension V4L2StatefulEncoder {
    /// Copies a picture in; one of another size or of full range is converted first. Or has the device read it in the
    /// camera's memory, where the encoder was made for such. False where the device has no buffer free, or the picture
    /// is of another kind than the first. A key frame that was asked for with a picture that is
    /// not taken comes with the next.
    public func submit(_ frame: VideoFrame, forceKeyFrame: Bool) throws(HardwareCodecError) -> Bool {
        self.owesKeyFrame = self.owesKeyFrame || forceKeyFrame
        guard try self.isReady(), let index = self.raw.next else { return false }
        guard !self.isImporting else { return try self.take(frame, index) }
        let fits = frame.width == self.settings.width && frame.height == self.settings.height
        guard let picture = fits && !frame.fullRange ? frame : self.converted(frame) else {
            throw HardwareCodecError(.noFormat, "is given a picture that cannot be converted", code: 0)
        }
        guard PictureCopier.copy(picture, to: self.targets(index)) else {
            throw HardwareCodecError(.noFormat, "has no room for a picture", code: 0)
        }
        self.copies &+= 1
        try self.queue(captured: frame.captured)
        return true
    }

    /// Has the device read a shared picture where it lies, which is held until then; or copies it where the encoder was
    /// not made for such. False where the device has no buffer free, or the picture is of another kind than the first.
    public func submit(_ picture: SharedPicture, forceKeyFrame: Bool) throws(HardwareCodecError) -> Bool {
        self.owesKeyFrame = self.owesKeyFrame || forceKeyFrame
        guard try self.isReady(), let index = self.raw.next else { return false }
        guard self.isImporting else { return try self.copy(picture, index) }
        guard self.layout.isAlike(picture.layout) else { return false }
        var (places, lengths) = (callbox_codec_planes(), callbox_codec_planes())
        for memory in self.layout.needed.indices {
            guard let plane = zip(self.layout.planes, picture.planes).first(where: { $0.0.memory == memory }) else {
                return false
            }
            callbox_codec_set_plane(&places, UInt32(memory), UInt32(bitPattern: plane.1.dmaBuf))
            callbox_codec_set_plane(&lengths, UInt32(memory), UInt32(picture.length(memory)))
        }
        try self.queue(captured: picture.captured, places: places, lengths: lengths)
        self.held[index] = .shared(picture)
        return true
    }

    /// Whether `submit` needs no other encoder for it.
    func lies(_ frame: VideoFrame) -> Bool {
        guard self.isImporting else { return true }
        return !frame.fullRange && frame.memory.map { self.layout.isAlike($0.layout) } ?? false
    }

    private func take(_ frame: VideoFrame, _ index: UInt32) throws(HardwareCodecError) -> Bool {
        guard self.lies(frame), let memory = frame.memory else { return false }
        var (places, lengths) = (callbox_codec_planes(), callbox_codec_planes())
        callbox_codec_set_plane(&places, 0, UInt32(bitPattern: memory.dmaBuf))
        callbox_codec_set_plane(&lengths, 0, UInt32(clamping: memory.length))
        try self.queue(captured: frame.captured, places: places, lengths: lengths)
        self.held[index] = .frame(frame)
        return true
    }

    /// Takes back the buffers of pictures that were read.
    func reclaim() throws(HardwareCodecError) {
        for _ in 0..<self.raw.count {
            var done = callbox_codec_buffer()
            let code = self.raw.dequeue(&done)
            if code == callbox_codec_nothing || code == callbox_codec_ended { return }
            guard code == 0 else { throw HardwareCodecError(.failed, "failed while it read a picture", code: code) }
            self.held[done.index] = nil
        }
    }

    private func isReady() throws(HardwareCodecError) -> Bool {
        try self.reclaim()
        try self.orderKeyFrame()
        return self.raw.hasFree
    }

    private func copy(_ picture: SharedPicture, _ index: UInt32) throws(HardwareCodecError) -> Bool {
        let targets = self.targets(index)
        guard picture.format == self.layout.format, picture.visible.width == self.settings.width,
            picture.visible.height == self.settings.height, targets.count == picture.planes.count
        else { return false }
        let isCopied = picture.read { parts in
            for (part, (target, plane)) in zip(parts, zip(targets, self.layout.planes)) {
                guard let bytes = part.bytes else { return false }
                let across = (self.settings.width + plane.step.columns - 1) / plane.step.columns * plane.step.bytes
                let rows = (self.settings.height + plane.step.rows - 1) / plane.step.rows
                guard part.stride >= across, target.stride >= across else { return false }
                PictureCopier.copyRows(bytes, part.stride, to: target, across, rows)
            }
            return true
        }
        guard isCopied == true else {
            throw HardwareCodecError(.noFormat, "is given a picture that cannot be read", code: 0)
        }
        self.copies &+= 1
        try self.queue(captured: picture.captured)
        return true
    }

    private func queue(
        captured: Instant, places: callbox_codec_planes = callbox_codec_planes(),
        lengths: callbox_codec_planes = callbox_codec_planes()
    ) throws(HardwareCodecError) {
        var used = callbox_codec_planes()
        for (memory, needed) in self.layout.needed.enumerated() {
            callbox_codec_set_plane(&used, UInt32(memory), UInt32(needed))
        }
        let stamp = self.stamps.next(captured)
        let code = self.raw.queue(used: used, stamp: stamp, places: places, lengths: lengths)
        guard code == 0 else { throw HardwareCodecError(.refused, "refuses a picture", code: code) }
    }

    /// Where the planes of the next picture go.
    private func targets(_ index: UInt32) -> [PictureCopier.Target] {
        self.layout.planes.compactMap { plane in
            guard let memory = self.raw.bytes(index, plane: plane.memory), let start = memory.baseAddress,
                plane.offset < memory.count
            else { return nil }
            return PictureCopier.Target(
                bytes: (start + plane.offset).assumingMemoryBound(to: UInt8.self), stride: plane.stride,
                room: memory.count - plane.offset)
        }
    }

    private func converted(_ frame: VideoFrame) -> VideoFrame? {
        let copy = self.converter.i420(from: frame.frame, width: self.settings.width, height: self.settings.height)
        return copy.flatMap { VideoFrame(taking: $0, captured: frame.captured) }
    }
}

extension V4L2Layout {
    /// Whether pictures of another queue lie just so.
    func isAlike(_ other: V4L2Layout) -> Bool {
        self.format == other.format && self.width == other.width && self.height == other.height
            && self.planes.count == other.planes.count
            && zip(self.planes, other.planes).allSatisfy {
                $0.memory == $1.memory && $0.offset == $1.offset && $0.stride == $1.stride
            }
    }
}

extension V4L2RawFormat {
    /// Formats that pictures of our own memory can be copied into, the likeliest first.
    static var copied: [V4L2RawFormat] {
        self.all.filter { known in
            known.modifier == .linear
                && (known.fourCC == Self.code("NV12") || known.fourCC == Self.code("YU12"))
        }
    }

    /// Memories of a buffer.
    var memoryCount: UInt32 {
        guard self.isSplit else { return 1 }
        return self.isPlanar ? 3 : 2
    }
}
