// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDRM
import CSystem
import CText

extension Screen {
    /// How long the controller may take to compose one picture: a frame on a board, a second on a busy virtual one.
    private static let fenceLimitMs: Int32 = 5000

    /// Has the controller compose what is on the screen now into memory (KMS documentation, "Writeback Connectors") and
    /// saves that as a PNG file. Blocks for a few frames. Not to be called while busy.
    func save(to path: ByteString) throws(DisplayError) {
        guard let writeback = self.card.pipeline.writeback else { throw .noWriteback }
        guard let buffer = self.pool.take(BufferLayout(format: .xrgb8888, size: self.size)) else {
            throw .refused("give memory for pictures", code: ENOMEM)
        }
        defer { self.pool.give(buffer) }
        try self.compose(writeback, into: buffer)
        try PNG.write(buffer.pixels, self.size, to: path)
    }

    private func compose(_ writeback: WritebackHandle, into buffer: DumbBuffer) throws(DisplayError) {
        var fence: Int32 = -1
        let failure = withUnsafeMutablePointer(to: &fence) { pointer -> Int32 in
            var request = AtomicRequest()
            request.set(writeback.connector, writeback.crtc, UInt64(self.card.pipeline.crtc))
            request.set(writeback.connector, writeback.framebuffer, UInt64(buffer.framebuffer))
            request.set(writeback.connector, writeback.fence, UInt64(UInt(bitPattern: pointer)))
            return request.commit(self.card.descriptor, flags: UInt32(DRM_MODE_ATOMIC_ALLOW_MODESET))
        }
        guard failure == 0 else { throw .refused("be read back", code: failure) }
        let isDone = Self.wait(for: fence)
        close(fence)
        // Attached, the connector would cost memory bandwidth with every frame.
        var request = AtomicRequest()
        request.set(writeback.connector, writeback.crtc, 0)
        _ = request.commit(self.card.descriptor, flags: UInt32(DRM_MODE_ATOMIC_ALLOW_MODESET))
        guard isDone else { throw .refused("be read back in time", code: ETIMEDOUT) }
    }

    private static func wait(for fence: Int32) -> Bool {
        var entry = pollfd(fd: fence, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, self.fenceLimitMs) == 1 && entry.revents & Int16(POLLIN) != 0
    }
}

/// PNG files by cairo.
enum PNG {
    /// Written whole or not at all: somebody may be looking at the file.
    static func write(_ pixels: PixelTarget, _ size: PixelSize, to path: ByteString) throws(DisplayError) {
        let surface = pixels.pixels.withMemoryRebound(to: UInt8.self, capacity: pixels.rowPixels * size.height * 4) {
            cairo_image_surface_create_for_data(
                $0, CAIRO_FORMAT_RGB24, Int32(size.width), Int32(size.height), Int32(pixels.rowPixels * 4))
        }
        defer { cairo_surface_destroy(surface) }
        let part = path + ".part"
        let isWritten = part.withCString { cairo_surface_write_to_png(surface, $0) == CAIRO_STATUS_SUCCESS }
        let isSaved = isWritten && part.withCString { from in path.withCString { rename(from, $0) == 0 } }
        guard isSaved else {
            _ = part.withCString { unlink($0) }
            throw .notSaved(path)
        }
    }
}
