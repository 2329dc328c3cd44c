// SPDX-License-Identifier: Apache-2.0

import Bytes
import CCodec
import CSystem
import CV4L2

/// Setting up what pictures come out in, at the beginning and whenever the stream changes (kernel document
/// "Memory-to-Memory Stateful Video Decoder Interface", "Capture Setup", "Dynamic Resolution Change", "Seek").
extension V4L2StatefulDecoder {
    /// Beside what the decoder itself needs: one on the screen, one on its way there, one that waits, one being taken.
    private static let heldElsewhere: UInt32 = 4

    /// Takes over the size and format that the device has found in the stream.
    func takeSource() throws(HardwareCodecError) {
        self.sourceChanged = false
        self.pictures?.stop()
        self.pictures = nil
        var layout = try self.device.pictureLayout(self.wishes.formats)
        var visible = v4l2_rect()
        if callbox_codec_get_visible(self.device.fd, self.device.capture, &visible) == 0 { layout.show(visible) }
        try self.begin(layout)
        switch self.state {
        case .starting: self.state = .decoding
        // Drivers forget the end of what was put in with the pictures before. Those that do not are busy with it.
        case .draining: _ = callbox_codec_decoder_command(self.device.fd, UInt32(V4L2_DEC_CMD_STOP))
        case .decoding, .drained, .stopped: break
        }
    }

    /// Goes on after a last picture that no change followed, or after a drain.
    func resume() throws(HardwareCodecError) {
        let code = callbox_codec_decoder_command(self.device.fd, UInt32(V4L2_DEC_CMD_START))
        guard code == 0 else { throw HardwareCodecError(.refused, "does not go on", code: code) }
        self.state = self.pictures == nil ? .starting : .decoding
    }

    /// Ends a drain at once: pictures that wait in the queue are lost.
    func restartPictures() throws(HardwareCodecError) {
        guard let layout = self.pictures?.layout else { return }
        self.pictures?.stop()
        self.pictures = nil
        try self.begin(layout)
    }

    private func begin(_ layout: V4L2Layout) throws(HardwareCodecError) {
        let least = UInt32(clamping: self.device.control(Int(V4L2_CID_MIN_BUFFERS_FOR_CAPTURE)) ?? 2)
        let queue = try V4L2PictureQueue(
            self.device, layout, wanted: min(max(least, 1), 16) + Self.heldElsewhere)
        try queue.start()
        self.pictures = queue
    }
}

extension V4L2RawFormat {
    var isPlanar: Bool {
        if case .planar = self.shape { return true }
        return false
    }
}

extension V4L2Device {
    /// A picture comes out as soon as it is decoded, not when its turn in a film would be: ours are sent in the order
    /// in which they are shown. Devices without the control keep the order that the stream tells them.
    func preparePrompt() {
        self.set(Int(V4L2_CID_MPEG_VIDEO_DEC_DISPLAY_DELAY_ENABLE), 1)
        self.set(Int(V4L2_CID_MPEG_VIDEO_DEC_DISPLAY_DELAY), 0)
    }
}
