// SPDX-License-Identifier: Apache-2.0

import Bytes
import CCodec
import CSystem
import CV4L2

/// A codec's queue whose buffers the processor fills or reads: coded bytes, and raw pictures that come from elsewhere.
/// Owned by one thread.
final class V4L2MappedQueue {
    private struct Map {
        var start: UnsafeMutableRawPointer
        var length: Int
    }

    private let device: V4L2Device
    private let type: UInt32
    private let memory: UInt32
    /// By buffer, then by plane; none where the memory is another device's.
    private var maps: [[Map]] = []
    private let planeCount: Int
    /// Those that the driver does not have.
    private var free: [UInt32] = []
    private(set) var count = 0

    private static let most: UInt32 = 32

    /// - Parameter isImporting: the buffers are dma-bufs that come with each picture.
    init(
        _ device: V4L2Device, _ type: UInt32, wanted: UInt32, planeCount: Int = 1, isImporting: Bool = false
    ) throws(HardwareCodecError) {
        self.device = device
        self.type = type
        self.planeCount = planeCount
        self.memory = isImporting ? V4L2_MEMORY_DMABUF.rawValue : V4L2_MEMORY_MMAP.rawValue
        var count = min(wanted, Self.most)
        let requested = callbox_codec_request(device.fd, type, self.memory, &count)
        guard requested == 0, count >= 1, count <= Self.most else {
            throw HardwareCodecError(.noBuffers, "gives no buffers", code: requested)
        }
        self.count = Int(count)
        self.free = Array((0..<count).reversed())
        guard !isImporting else { return }
        for index in 0..<count { try self.map(index) }
    }

    deinit {
        self.stop()
        var none: UInt32 = 0
        for map in self.maps.joined() { munmap(map.start, map.length) }
        _ = callbox_codec_request(self.device.fd, self.type, self.memory, &none)
    }

    private func map(_ index: UInt32) throws(HardwareCodecError) {
        var found = callbox_codec_buffer()
        found.index = index
        let queried = callbox_codec_query(self.device.fd, self.type, &found)
        let places = [found.place.at0, found.place.at1, found.place.at2]
        let lengths = [found.length.at0, found.length.at1, found.length.at2].map { Int(clamping: $0) }
        guard queried == 0, Int(found.plane_count) == self.planeCount, self.planeCount <= places.count else {
            throw HardwareCodecError(.noBuffers, "gives other buffers than it said", code: queried)
        }
        self.maps.append([])
        for plane in 0..<self.planeCount {
            let access = PROT_READ | PROT_WRITE
            let start = mmap(nil, lengths[plane], access, MAP_SHARED, self.device.fd, off_t(places[plane]))
            guard let start, start != UnsafeMutableRawPointer(bitPattern: -1) else {
                throw HardwareCodecError(.noBuffers, "gives buffers that cannot be read", code: -callbox_errno())
            }
            self.maps[Int(index)].append(Map(start: start, length: lengths[plane]))
        }
    }

    // MARK: - Stream

    func start() throws(HardwareCodecError) {
        let code = callbox_v4l2_stream(self.device.fd, self.type, 1)
        guard code == 0 else { throw HardwareCodecError(.refused, "does not begin", code: code) }
    }

    /// What was queued is forgotten, and every buffer is free.
    func stop() {
        _ = callbox_v4l2_stream(self.device.fd, self.type, 0)
        self.free = Array((0..<UInt32(self.count)).reversed())
    }

    // MARK: - Buffers

    /// Buffers that the driver has.
    var inFlight: Int { self.count - self.free.count }
    var hasFree: Bool { !self.free.isEmpty }
    /// The buffer that is queued next.
    var next: UInt32? { self.free.last }

    func bytes(_ index: UInt32, plane: Int = 0) -> UnsafeMutableRawBufferPointer? {
        guard Int(index) < self.maps.count, plane < self.planeCount else { return nil }
        let map = self.maps[Int(index)][plane]
        return UnsafeMutableRawBufferPointer(start: map.start, count: map.length)
    }

    /// Gives the driver the buffer `next`, of which `used` bytes a plane are filled; 0 or a negative errno. `places`
    /// are dma-bufs with their lengths, for a queue that imports; `request` is what it goes with, and `holdsPicture`
    /// says that more belongs to the same picture.
    func queue(
        used: callbox_codec_planes = callbox_codec_planes(), stamp: UInt64 = 0,
        places: callbox_codec_planes = callbox_codec_planes(), lengths: callbox_codec_planes = callbox_codec_planes(),
        request: Int32 = 0, holdsPicture: Bool = false
    ) -> Int32 {
        guard let index = self.free.last else { return callbox_codec_nothing }
        var buffer = callbox_codec_buffer()
        buffer.index = index
        buffer.plane_count = UInt32(self.planeCount)
        buffer.used = used
        buffer.place = places
        buffer.length = lengths
        buffer.stamp_us = stamp
        buffer.request = request
        buffer.holds_picture = holdsPicture ? 1 : 0
        let code = callbox_codec_queue(self.device.fd, self.type, self.memory, &buffer)
        if code == 0 { self.free.removeLast() }
        return code
    }

    /// Takes back one buffer that the driver is done with: 0, -EAGAIN, -EPIPE after the last, or another errno.
    func dequeue(_ done: inout callbox_codec_buffer) -> Int32 {
        let code = callbox_codec_dequeue(self.device.fd, self.type, self.memory, &done)
        guard code == 0 else { return code }
        guard Int(done.index) < self.count, !self.free.contains(done.index) else { return -EIO }
        self.free.append(done.index)
        return 0
    }
}
