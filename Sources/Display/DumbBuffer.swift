// SPDX-License-Identifier: Apache-2.0

import CDRM
import CSystem

/// Memory that a plane scans out and that we draw into (KMS documentation, "Dumb Buffer Objects").
final class DumbBuffer {
    let layout: BufferLayout
    /// The kernel's id of the framebuffer.
    let framebuffer: UInt32
    /// Of the first plane, in bytes.
    let pitch: Int
    /// Held so that it is closed after its last buffer.
    private let card: Card
    private let handle: UInt32
    private let map: UnsafeMutableRawPointer
    private let byteCount: Int

    /// nil where the controller has no such buffers, or no memory for one.
    init?(_ card: Card, _ layout: BufferLayout) {
        let dumb = layout.dumb
        let descriptor = card.descriptor
        var handle: UInt32 = 0
        var pitch: UInt32 = 0
        var size: UInt64 = 0
        guard
            drmModeCreateDumbBuffer(
                descriptor, UInt32(dumb.width), UInt32(dumb.height), UInt32(dumb.bitsPerUnit), 0, &handle, &pitch, &size
            ) == 0
        else { return nil }
        var offset: UInt64 = 0
        guard drmModeMapDumbBuffer(descriptor, handle, &offset) == 0,
            let map = callbox_map_dumb(descriptor, offset, Int(clamping: size))
        else {
            _ = drmModeDestroyDumbBuffer(descriptor, handle)
            return nil
        }
        guard let framebuffer = Self.register(descriptor, layout, handle, pitch: Int(pitch)) else {
            munmap(map, Int(clamping: size))
            _ = drmModeDestroyDumbBuffer(descriptor, handle)
            return nil
        }
        self.layout = layout
        self.framebuffer = framebuffer
        self.pitch = Int(pitch)
        self.card = card
        self.handle = handle
        self.map = map
        self.byteCount = Int(clamping: size)
    }

    deinit {
        _ = drmModeRmFB(self.card.descriptor, self.framebuffer)
        munmap(self.map, self.byteCount)
        _ = drmModeDestroyDumbBuffer(self.card.descriptor, self.handle)
    }

    private static func register(_ card: Int32, _ layout: BufferLayout, _ handle: UInt32, pitch: Int) -> UInt32? {
        var handles = [UInt32](repeating: 0, count: 4)
        var pitches = [UInt32](repeating: 0, count: 4)
        var offsets = [UInt32](repeating: 0, count: 4)
        for (index, plane) in layout.planes(pitch: pitch).enumerated() {
            handles[index] = handle
            pitches[index] = UInt32(plane.pitch)
            offsets[index] = UInt32(plane.offset)
        }
        var framebuffer: UInt32 = 0
        let failure = drmModeAddFB2(
            card, UInt32(layout.size.width), UInt32(layout.size.height), layout.format.rawValue, handles, pitches,
            offsets, &framebuffer, 0)
        return failure == 0 ? framebuffer : nil
    }

    /// Where the part of the picture planes that begins at (`x`, `y`), both even, is to be written.
    func planes(x: Int, y: Int) -> TargetPlanes {
        var planes = TargetPlanes()
        for (index, plane) in self.layout.planes(pitch: self.pitch).enumerated() {
            let offset = plane.offset + self.layout.byteOffset(plane: index, x: x, y: y, pitch: plane.pitch)
            planes.set(index, self.map.assumingMemoryBound(to: UInt8.self) + offset, stride: plane.pitch)
        }
        return planes
    }

    /// For formats of one word a pixel.
    var pixels: PixelTarget {
        PixelTarget(pixels: self.map.assumingMemoryBound(to: UInt32.self), rowPixels: self.pitch / 4)
    }

    /// Makes all of it black: transparent in ARGB8888 unless `isOpaque`.
    func clear(_ colours: PictureColours, isOpaque: Bool) {
        let planes = self.layout.planes(pitch: self.pitch)
        switch self.layout.format {
        case .xrgb8888, .argb8888:
            let count = planes[0].pitch * planes[0].rows / 4
            self.pixels.pixels.update(repeating: isOpaque ? 0xFF00_0000 : 0, count: count)
        case .yuyv:
            let black: UInt32 = colours.isFullRange ? 0x8000_8000 : 0x8010_8010
            self.pixels.pixels.update(repeating: black, count: planes[0].pitch * planes[0].rows / 4)
        case .nv12, .yuv420:
            for (index, plane) in planes.enumerated() {
                let value: Int32 = index > 0 ? 128 : colours.isFullRange ? 0 : 16
                memset(self.map + plane.offset, value, plane.pitch * plane.rows)
            }
        }
    }
}

/// Buffers that are not on the screen, for use again.
final class BufferPool {
    /// What a call needs beside the words: three of the far end's picture, three of the own, two composed.
    private static let idleMax = 8

    private let card: Card
    private var idle: [DumbBuffer] = []
    /// Buffers that exist, in use and idle.
    private(set) var count = 0

    init(_ card: Card) {
        self.card = card
    }

    func take(_ layout: BufferLayout) -> DumbBuffer? {
        if let index = self.idle.lastIndex(where: { $0.layout == layout }) { return self.idle.remove(at: index) }
        guard let buffer = DumbBuffer(self.card, layout) else { return nil }
        self.count += 1
        return buffer
    }

    /// Takes back a buffer that no plane scans out any more. The one that waited longest goes when there are too many.
    func give(_ buffer: DumbBuffer) {
        self.idle.append(buffer)
        if self.idle.count > Self.idleMax {
            self.idle.removeFirst()
            self.count -= 1
        }
    }
}
