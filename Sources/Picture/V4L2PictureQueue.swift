// SPDX-License-Identifier: Apache-2.0

import Bytes
import CCodec
import CSystem
import CV4L2

/// The pictures of a codec's CAPTURE queue: buffers of the driver's, shared as dma-bufs (kernel document "Streaming I/O
/// (DMA buffer importing)", VIDIOC_EXPBUF).
///
/// One thread owns the queue; pictures may be let go of by any. When the queue stops, the kernel keeps the memory of
/// pictures that somebody still holds ("orphaned buffers", Linux 4.20), and these come back no more.
final class V4L2PictureQueue {
    /// What the driver said of a buffer that it is done with.
    typealias Filled = callbox_codec_buffer

    private struct Buffer {
        var dmaBufs: [Int32] = []
        var lengths: [Int] = []
        var maps: [UnsafeMutableRawPointer?] = []
        var id: UInt64 = 0
        /// Others are decoded from it: it stays even when nobody shows it any more.
        var isKept = false
        /// Nobody shows it any more, and it is kept.
        var isWaiting = false
    }

    let layout: V4L2Layout
    private let device: V4L2Device
    private var buffers: [Buffer] = []
    private var isRunning = false
    /// Buffers that the driver has.
    private var inDriver = 0
    /// Guards `isRunning`, `inDriver`, what is mapped, and which pictures have been given back.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// As many as the driver may insist on.
    private static let most: UInt32 = 32

    /// - Parameter wanted: buffers to ask for; the driver may give more.
    init(_ device: V4L2Device, _ layout: V4L2Layout, wanted: UInt32) throws(HardwareCodecError) {
        self.device = device
        self.layout = layout
        self.mutex = UnsafeMutablePointer.allocate(capacity: 1)
        callbox_init_mutex(self.mutex)
        var count = min(wanted, Self.most)
        let requested = callbox_codec_request(device.fd, device.capture, V4L2_MEMORY_MMAP.rawValue, &count)
        guard requested == 0, count >= 2, count <= Self.most else {
            throw HardwareCodecError(.noBuffers, "gives no buffers for pictures", code: requested)
        }
        for index in 0..<count { try self.share(index) }
    }

    deinit {
        self.stop()
        for buffer in self.buffers {
            for (map, length) in zip(buffer.maps, buffer.lengths) {
                if let map { munmap(map, length) }
            }
            for dmaBuf in buffer.dmaBufs { close(dmaBuf) }
        }
        pthread_mutex_destroy(self.mutex)
        self.mutex.deallocate()
    }

    private func share(_ index: UInt32) throws(HardwareCodecError) {
        var found = callbox_codec_buffer()
        found.index = index
        let queried = callbox_codec_query(self.device.fd, self.device.capture, &found)
        let lengths = [found.length.at0, found.length.at1, found.length.at2].map { Int(clamping: $0) }
        let memories = self.layout.needed.count
        guard queried == 0, Int(found.plane_count) == memories,
            zip(self.layout.needed, lengths).allSatisfy({ $0 <= $1 })
        else { throw HardwareCodecError(.noBuffers, "gives buffers that hold no picture", code: queried) }
        self.buffers.append(Buffer())
        for memory in 0..<memories {
            let dmaBuf = callbox_codec_export(self.device.fd, self.device.capture, index, UInt32(memory))
            guard dmaBuf >= 0 else {
                throw HardwareCodecError(.noSharing, "does not share its pictures", code: dmaBuf)
            }
            self.buffers[Int(index)].dmaBufs.append(dmaBuf)
            self.buffers[Int(index)].lengths.append(lengths[memory])
            self.buffers[Int(index)].maps.append(nil)
        }
        var status = stat()
        // The kernel numbers dma-bufs, and gives a number once.
        guard fstat(self.buffers[Int(index)].dmaBufs[0], &status) == 0 else {
            throw HardwareCodecError(.noSharing, "shares pictures that have no number", code: -callbox_errno())
        }
        self.buffers[Int(index)].id = UInt64(status.st_ino)
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        return body()
    }
}

// MARK: - The driver's side

extension V4L2PictureQueue {
    /// Gives the driver all buffers and starts it.
    func start() throws(HardwareCodecError) {
        let code = self.locked { () -> Int32 in
            self.isRunning = true
            for index in self.buffers.indices {
                let queued = self.queue(UInt32(index))
                if queued != 0 { return queued }
            }
            return callbox_v4l2_stream(self.device.fd, self.device.capture, 1)
        }
        guard code == 0 else { throw HardwareCodecError(.refused, "does not begin to give pictures", code: code) }
    }

    /// Takes a filled buffer: 0, -EAGAIN when there is none, -EPIPE after the last, or another negative errno.
    func dequeue(_ filled: inout Filled) -> Int32 {
        let code = callbox_codec_dequeue(self.device.fd, self.device.capture, V4L2_MEMORY_MMAP.rawValue, &filled)
        guard code == 0 else { return code }
        guard Int(filled.index) < self.buffers.count else { return -EIO }
        self.locked { self.inDriver -= 1 }
        return 0
    }

    /// Whether there is a buffer for the next picture.
    var driverHasSome: Bool { self.locked { self.inDriver > 0 } }

    /// Gives a buffer that nobody has seen back to the driver.
    func recycle(_ filled: Filled) {
        _ = self.locked { self.isRunning ? self.queue(filled.index) : 0 }
    }

    /// Whether the driver has filled all of a picture; of tiles nobody here knows how many that are.
    func isWhole(_ filled: Filled) -> Bool {
        let used = [filled.used.at0, filled.used.at1, filled.used.at2].map { Int(clamping: $0) }
        return zip(self.layout.needed, used).allSatisfy { (self.layout.isLinear ? $0 : 1) <= $1 }
    }

    /// Ends it. Pictures that are held stay whole, and their buffers do not come back.
    func stop() {
        self.locked {
            guard self.isRunning else { return }
            self.isRunning = false
            self.inDriver = 0
            _ = callbox_v4l2_stream(self.device.fd, self.device.capture, 0)
            var none: UInt32 = 0
            _ = callbox_codec_request(self.device.fd, self.device.capture, V4L2_MEMORY_MMAP.rawValue, &none)
        }
    }

    private func queue(_ index: UInt32) -> Int32 {
        var buffer = callbox_codec_buffer()
        buffer.index = index
        buffer.plane_count = UInt32(self.layout.needed.count)
        let code = callbox_codec_queue(self.device.fd, self.device.capture, V4L2_MEMORY_MMAP.rawValue, &buffer)
        if code == 0 { self.inDriver += 1 }
        return code
    }
}

// MARK: - The pictures' side

extension V4L2PictureQueue {
    /// Of the first buffer: those of a queue come and go together.
    var poolID: UInt64 { self.buffers.first?.id ?? 0 }

    func bufferID(_ index: UInt32) -> UInt64 { self.buffers[Int(index)].id }

    func dmaBuf(_ index: UInt32, _ memory: Int) -> Int32 { self.buffers[Int(index)].dmaBufs[memory] }

    func dmaBufs(_ index: UInt32) -> [Int32] { self.buffers[Int(index)].dmaBufs }

    func length(_ index: UInt32, _ memory: Int) -> Int { self.buffers[Int(index)].lengths[memory] }

    /// Where the processor can read a buffer, mapped once; nil where that is refused.
    func map(_ index: UInt32, _ memory: Int) -> UnsafeMutableRawPointer? {
        self.locked {
            let buffer = self.buffers[Int(index)]
            if let map = buffer.maps[memory] { return map }
            let start = mmap(nil, buffer.lengths[memory], PROT_READ, MAP_SHARED, buffer.dmaBufs[memory], 0)
            guard let start, start != UnsafeMutableRawPointer(bitPattern: -1) else { return nil }
            self.buffers[Int(index)].maps[memory] = start
            return start
        }
    }

    /// Once for each picture: a picture that was released early must not give back what another one has by then.
    func giveBack(_ picture: SharedPicture) {
        self.locked {
            guard picture.isHeld else { return }
            picture.isHeld = false
            // A device that went away refuses; nothing is lost by that.
            if self.buffers[Int(picture.index)].isKept {
                self.buffers[Int(picture.index)].isWaiting = true
            } else if self.isRunning {
                _ = self.queue(picture.index)
            }
        }
    }

    /// Sees to it that a buffer that has come out stays as it is, whoever lets go of its picture.
    func keep(_ index: UInt32) {
        self.locked { self.buffers[Int(index)].isKept = true }
    }

    /// Ends `keep`: the buffer goes back with its picture, or now.
    func unkeep(_ index: UInt32) {
        self.locked {
            let isWaiting = self.buffers[Int(index)].isWaiting
            self.buffers[Int(index)].isKept = false
            self.buffers[Int(index)].isWaiting = false
            if isWaiting, self.isRunning { _ = self.queue(index) }
        }
    }
}
