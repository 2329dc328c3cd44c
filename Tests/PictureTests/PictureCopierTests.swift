// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import XCTest

@testable import Picture

final class PictureCopierTests: XCTestCase {
    private let size = (width: 34, height: 18)

    private func frame(_ format: AVPixelFormat) throws -> VideoFrame {
        let pool = FramePool(width: self.size.width, height: self.size.height, format: format)
        let taken = try XCTUnwrap(pool.take())
        let planes = [taken.pointee.data.0, taken.pointee.data.1, taken.pointee.data.2]
        let strides = [taken.pointee.linesize.0, taken.pointee.linesize.1, taken.pointee.linesize.2].map { Int($0) }
        for (plane, start) in planes.enumerated() {
            guard let start else { continue }
            let isPaired = format == AV_PIX_FMT_NV12 && plane == 1
            for row in 0..<(plane == 0 ? 18 : 9) {
                for column in 0..<(plane == 0 || isPaired ? 34 : 17) {
                    let value =
                        isPaired
                        ? self.chroma(column % 2, column / 2, row)
                        : plane == 0 ? UInt8(row * 7 + column) : self.chroma(plane - 1, column, row)
                    start[row * strides[plane] + column] = value
                }
            }
        }
        return try XCTUnwrap(VideoFrame(taking: taken, captured: .zero))
    }

    private func chroma(_ which: Int, _ column: Int, _ row: Int) -> UInt8 { UInt8(which * 100 + row * 5 + column) }

    func testEveryFormatComesOutInBoth() throws {
        for format in [AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P] {
            let frame = try self.frame(format)
            for count in [2, 3] {
                let (stride, room) = (48, 48 * 18)
                let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 3 * room)
                defer { memory.deallocate() }
                let targets = (0..<count).map {
                    PictureCopier.Target(bytes: memory + $0 * room, stride: stride, room: room)
                }
                XCTAssertTrue(PictureCopier.copy(frame, to: targets))
                XCTAssertEqual(memory[17 * stride + 33], UInt8(17 * 7 + 33))
                for which in 0..<2 {
                    let at =
                        count == 2 ? room + 8 * stride + 2 * 16 + which : (1 + which) * room + 8 * stride + 16
                    XCTAssertEqual(memory[at], self.chroma(which, 16, 8), "\(format.rawValue) \(count) \(which)")
                }
            }
        }
    }

    func testATargetTooSmallIsRefused() throws {
        let frame = try self.frame(AV_PIX_FMT_NV12)
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 4096)
        defer { memory.deallocate() }
        func target(_ stride: Int, _ room: Int) -> PictureCopier.Target {
            PictureCopier.Target(bytes: memory, stride: stride, room: room)
        }
        XCTAssertFalse(PictureCopier.copy(frame, to: [target(33, 4096), target(48, 4096)]))
        XCTAssertFalse(PictureCopier.copy(frame, to: [target(34, 34 * 18 - 1), target(48, 4096)]))
        XCTAssertFalse(PictureCopier.copy(frame, to: [target(34, 4096), target(34, 34 * 9 - 1)]))
        XCTAssertFalse(PictureCopier.copy(frame, to: []))
    }
}
