// SPDX-License-Identifier: Apache-2.0

import Bytes
import CCodec
import CSystem
import CV4L2

/// What the driver is done with.
extension V4L2StatefulDecoder {
    /// Takes back the buffers of units that were read.
    func reclaim() throws(HardwareCodecError) {
        guard self.state != .stopped else { return }
        for _ in 0..<self.units.count {
            var done = callbox_codec_buffer()
            let code = self.units.dequeue(&done)
            if code == callbox_codec_nothing || code == callbox_codec_ended { return }
            guard code == 0 else { throw HardwareCodecError(.failed, "failed while it read a stream", code: code) }
            // With a picture, that one is marked as well; without, nothing else tells.
            if done.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0, self.pictures == nil { self.damagedUnits += 1 }
        }
    }

    /// nil where the source has changed, so that there may be more after it.
    func dequeue(_ queue: V4L2PictureQueue) throws(HardwareCodecError) -> HardwarePicture? {
        guard self.state != .stopped, self.state != .drained else { return .nothing }
        var filled = V4L2PictureQueue.Filled()
        let code = queue.dequeue(&filled)
        if code == callbox_codec_nothing { return .nothing }
        if code == callbox_codec_ended { return try self.passLast() }
        guard code == 0 else { throw HardwareCodecError(.failed, "failed while it decoded", code: code) }
        let isLast = filled.flags & UInt32(V4L2_BUF_FLAG_LAST) != 0
        if filled.used.at0 == 0, filled.flags & UInt32(V4L2_BUF_FLAG_ERROR) == 0 {
            guard isLast else {
                queue.recycle(filled)
                return .nothing
            }
            return try self.passLast()
        }
        let picture = try self.judge(filled, queue)
        // What comes of the last one is told by the next call: the kernel then says -EPIPE.
        return picture
    }

    private func judge(
        _ filled: V4L2PictureQueue.Filled, _ queue: V4L2PictureQueue
    ) throws(HardwareCodecError) -> HardwarePicture {
        let origin = self.stamps.take(filled.stamp_us)
        guard filled.flags & UInt32(V4L2_BUF_FLAG_ERROR) == 0 else {
            queue.recycle(filled)
            return origin == .forgotten ? .nothing : .damaged
        }
        switch origin {
        case .forgotten:
            queue.recycle(filled)
            return .nothing
        case .unknown:
            throw HardwareCodecError(.wrongStamp, "gives a picture that belongs to nothing", code: 0)
        case .unit(let captured):
            guard queue.isWhole(filled) else {
                throw HardwareCodecError(.shortPicture, "gives pictures that are not whole", code: 0)
            }
            let isKeyFrame = filled.flags & UInt32(V4L2_BUF_FLAG_KEYFRAME) != 0
            return .picture(
                SharedPicture(
                    queue, index: filled.index, SharedPictureFacts(captured: captured, isKeyFrame: isKeyFrame)))
        }
    }

    /// The last picture before a change or an end is out.
    private func passLast() throws(HardwareCodecError) -> HardwarePicture? {
        // The event is there before the last picture, but perhaps not yet when events were read.
        try self.readEvents()
        if self.sourceChanged {
            try self.takeSource()
            return nil
        }
        guard self.state == .draining else {
            try self.resume()
            return .nothing
        }
        self.state = .drained
        return .drained
    }

    func readEvents() throws(HardwareCodecError) {
        // As many as the kernel keeps for a reader, and more.
        for _ in 0..<16 {
            var (event, changes): (UInt32, UInt32) = (0, 0)
            let code = callbox_codec_next_event(self.device.fd, &event, &changes)
            if code == -ENODEV { throw HardwareCodecError(.vanished, "is gone", code: code) }
            guard code == 0 else { return }
            if event == UInt32(V4L2_EVENT_SOURCE_CHANGE), changes & UInt32(V4L2_EVENT_SRC_CH_RESOLUTION) != 0 {
                self.sourceChanged = true
            }
        }
    }

    /// Nothing is known of the stream: at its end nothing will come.
    func withoutSource() -> HardwarePicture {
        guard self.state == .draining, self.units.inFlight == 0 else { return .nothing }
        self.state = .drained
        return .drained
    }
}
