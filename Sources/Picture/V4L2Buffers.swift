// SPDX-License-Identifier: Apache-2.0

import CAV
import CCodec
import CSystem
import CV4L2

/// An open camera and its buffers in kernel memory, mapped for reading.
///
/// Frames given out hold a reference, so the memory stays mapped and the device open until the last of them is gone.
final class V4L2Buffers {
    let fd: Int32
    let bufferType: UInt32
    private var maps: [(start: UnsafeMutableRawPointer, length: Int, dmaBuf: Int32)] = []

    /// One with the driver, one being filled, two read by the display, two by an encoder, one to spare.
    private static let wanted: UInt32 = 7
    /// As many as the driver may insist on.
    private static let most: UInt32 = 32

    init(fd: Int32, bufferType: UInt32) {
        self.fd = fd
        self.bufferType = bufferType
    }

    deinit {
        for map in self.maps {
            munmap(map.start, map.length)
            if map.dmaBuf >= 0 { close(map.dmaBuf) }
        }
        close(self.fd)
    }

    /// Gets, maps and queues the buffers, and starts the stream. 0, or a negative errno.
    func start() -> Int32 {
        var count = Self.wanted
        let requested = callbox_v4l2_request_buffers(self.fd, self.bufferType, &count)
        guard requested == 0 else { return requested }
        guard count >= 2, count <= Self.most else { return -ENOMEM }
        for index in 0..<count {
            let mapped = self.map(index)
            guard mapped == 0 else { return mapped }
            let queued = self.queue(index)
            guard queued == 0 else { return queued }
        }
        return callbox_v4l2_stream(self.fd, self.bufferType, 1)
    }

    /// Ends the stream and lets others have the camera, also while frames are still read: their memory stays until it
    /// is unmapped ("orphaned buffers", Linux 4.20).
    func stop() {
        _ = callbox_v4l2_stream(self.fd, self.bufferType, 0)
        var none: UInt32 = 0
        _ = callbox_v4l2_request_buffers(self.fd, self.bufferType, &none)
    }

    /// Gives a buffer back to the driver.
    func queue(_ index: UInt32) -> Int32 {
        callbox_v4l2_queue(self.fd, self.bufferType, index)
    }

    /// The bytes of a filled buffer; nil where the driver names one that is not there.
    func bytes(_ index: UInt32) -> UnsafeMutableRawBufferPointer? {
        guard Int(index) < self.maps.count else { return nil }
        let map = self.maps[Int(index)]
        return UnsafeMutableRawBufferPointer(start: map.start, count: map.length)
    }

    /// The same as other devices reach it, and its length; nil where the driver does not share its memory.
    func shared(_ index: UInt32) -> (dmaBuf: Int32, length: Int)? {
        guard Int(index) < self.maps.count, self.maps[Int(index)].dmaBuf >= 0 else { return nil }
        return (self.maps[Int(index)].dmaBuf, self.maps[Int(index)].length)
    }

    private func map(_ index: UInt32) -> Int32 {
        var offset: UInt32 = 0
        var length: UInt32 = 0
        let found = callbox_v4l2_query_buffer(self.fd, self.bufferType, index, &offset, &length)
        guard found == 0 else { return found }
        let start = mmap(nil, Int(length), PROT_READ | PROT_WRITE, MAP_SHARED, self.fd, off_t(offset))
        guard let start, start != UnsafeMutableRawPointer(bitPattern: -1) else { return -callbox_errno() }
        let dmaBuf = callbox_codec_export(self.fd, self.bufferType, index, 0)
        self.maps.append((start, Int(length), dmaBuf))
        return 0
    }
}

/// A filled buffer that somebody reads; with its last reference the driver gets it back.
final class V4L2Lease {
    private let buffers: V4L2Buffers
    private let index: UInt32

    init(_ buffers: V4L2Buffers, _ index: UInt32) {
        self.buffers = buffers
        self.index = index
    }

    deinit {
        // A camera that went away refuses; nothing is lost by that.
        _ = self.buffers.queue(self.index)
    }

    /// A reference that FFmpeg counts, over `bytes` of the leased buffer; nil where memory is short.
    func avBuffer(_ bytes: UnsafeMutableRawBufferPointer) -> UnsafeMutablePointer<AVBufferRef>? {
        let held = Unmanaged.passRetained(self)
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let reference = av_buffer_create(
            start, bytes.count,
            { opaque, _ in
                if let opaque { Unmanaged<V4L2Lease>.fromOpaque(opaque).release() }
            }, held.toOpaque(), AV_BUFFER_FLAG_READONLY)
        if reference == nil { held.release() }
        return reference
    }
}
