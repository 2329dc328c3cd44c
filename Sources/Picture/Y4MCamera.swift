// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import CSystem

/// A YUV4MPEG2 file in place of a camera: played at its own rate, over and over. For tests and trials without a camera.
final class Y4MCamera {
    let mode: CameraMode
    private let clock: () -> Instant
    private let file: UnsafeMutablePointer<FILE>
    private let header: Y4MHeader
    private let pool: FramePool
    private let firstFrame: Int
    private var path: ByteString
    /// When frame 0 was due, and the number of the next.
    private var start: Instant
    private var number = 0

    init(path: ByteString, clock: @escaping () -> Instant) throws(CameraError) {
        guard let file = path.withCString({ fopen($0, "re") }) else {
            throw CameraError(.missing, "The picture file \"" + path + "\" cannot be opened.")
        }
        do {
            let line = Self.line(file)
            self.header = try Y4MHeader(line: line ?? "")
            self.firstFrame = (line?.count ?? 0) + 1
        } catch {
            fclose(file)
            throw CameraError(error.kind, "The picture file \"" + path + "\" cannot be used: " + error.text + ".")
        }
        self.file = file
        self.path = path
        self.clock = clock
        self.start = clock()
        self.pool = FramePool(width: self.header.width, height: self.header.height)
        self.mode = CameraMode(
            format: .nv12, width: self.header.width & ~1, height: self.header.height & ~1, rate: self.header.rate)
    }

    deinit {
        fclose(self.file)
    }

    /// Waits for the next frame's time; where that time is long past, frames are left out.
    func next(timeLimitMs: Int) throws(CameraError) -> VideoFrame? {
        let interval = self.header.rate.interval
        let now = self.clock()
        if now - self.due > interval * 2 {
            self.start = now
            self.number = 0
        }
        let wait = (self.due - now).milliseconds
        if wait > timeLimitMs {
            _ = poll(nil, 0, Int32(clamping: max(timeLimitMs, 0)))
            return nil
        }
        if wait > 0 { _ = poll(nil, 0, Int32(clamping: wait)) }
        let captured = self.due < self.clock() ? self.due : self.clock()
        self.number += 1
        return try self.read(captured: captured)
    }

    private var due: Instant {
        let nanoseconds = Int64(self.number) * self.header.rate.interval.nanoseconds
        return self.start + Duration(nanoseconds: nanoseconds)
    }

    /// The next frame, or the first where the file ends.
    private func read(captured: Instant) throws(CameraError) -> VideoFrame? {
        if let frame = self.readOne() { return VideoFrame(taking: frame, captured: captured) }
        guard fseek(self.file, self.firstFrame, SEEK_SET) == 0, let frame = self.readOne() else {
            throw CameraError(.lost, "The picture file \"" + self.path + "\" holds no whole frame.")
        }
        return VideoFrame(taking: frame, captured: captured)
    }

    private func readOne() -> UnsafeMutablePointer<AVFrame>? {
        guard let line = Self.line(self.file), line.hasPrefix("FRAME") else { return nil }
        var frame = self.pool.take()
        guard let picture = frame, self.fill(picture) else {
            av_frame_free(&frame)
            return nil
        }
        picture.pointee.color_range = self.header.fullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        picture.pointee.colorspace = AVCOL_SPC_SMPTE170M
        picture.pointee.width = Int32(self.mode.width)
        picture.pointee.height = Int32(self.mode.height)
        return picture
    }

    private func fill(_ picture: UnsafeMutablePointer<AVFrame>) -> Bool {
        let data = picture.pointee.data
        let strides = picture.pointee.linesize
        let halfWidth = (self.header.width + 1) / 2
        let halfHeight = (self.header.height + 1) / 2
        return self.fill(data.0, strides.0, self.header.width, self.header.height)
            && self.fill(data.1, strides.1, halfWidth, halfHeight)
            && self.fill(data.2, strides.2, halfWidth, halfHeight)
    }

    private func fill(_ plane: UnsafeMutablePointer<UInt8>?, _ stride: Int32, _ width: Int, _ height: Int) -> Bool {
        guard let plane else { return false }
        for row in 0..<height where fread(plane + row * Int(stride), 1, width, self.file) != width { return false }
        return true
    }

    /// Bytes up to a line feed, which is passed over; nil at the end of the file or where the line is too long.
    private static func line(_ file: UnsafeMutablePointer<FILE>) -> ByteString? {
        var line = ByteString()
        while line.count < Y4MHeader.lineBytesMax {
            let byte = getc(file)
            guard byte >= 0 else { return nil }
            if byte == 0x0A { return line }
            line.append(byte: UInt8(truncatingIfNeeded: byte))
        }
        return nil
    }
}
