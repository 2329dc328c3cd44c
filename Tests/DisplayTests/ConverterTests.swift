// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import Display

final class ConverterTests: XCTestCase {
    /// A picture of one colour in tight memory; `memory` keeps it alive.
    private struct Flat {
        let held: HeldPicture

        init(
            _ format: PixelFormat, _ size: PixelSize, y: UInt8, u: UInt8, v: UInt8,
            _ colours: PictureColours = PictureColours()
        ) {
            let rows = PictureRows(format, size)
            let buffers = (0..<3).map { index -> [UInt8] in
                let count = rows.bytes(index) * rows.count(index)
                switch (format, index) {
                case (.yuyv, 0): return (0..<count).map { [y, u, y, v][$0 % 4] }
                case (_, 0): return Array(repeating: y, count: count)
                case (.nv12, 1): return (0..<count).map { $0 % 2 == 0 ? u : v }
                default: return Array(repeating: index == 1 ? u : v, count: count)
                }
            }
            self.held = buffers[0].withUnsafeBufferPointer { first in
                buffers[1].withUnsafeBufferPointer { second in
                    buffers[2].withUnsafeBufferPointer { third in
                        HeldPicture(
                            PictureView(
                                size, format: format,
                                planes: (
                                    PicturePlane(first.baseAddress, stride: rows.bytes(0)),
                                    PicturePlane(second.baseAddress, stride: rows.bytes(1)),
                                    PicturePlane(third.baseAddress, stride: rows.bytes(2))
                                ), colours: colours))
                    }
                }
            }
        }
    }

    private func rgb(_ flat: Flat, _ size: PixelSize) -> UInt32 {
        let image = PixelImage(size)
        let view = flat.held.view
        let isDone = Converter().convert(
            view, Rectangle(view.size), to: .xrgb8888, size, TargetPlanes(image), isFullRange: true)
        XCTAssertTrue(isDone)
        return image.row(size.height / 2)[size.width / 2]
    }

    private func assertNear(_ pixel: UInt32, _ expected: UInt32, _ text: String) {
        for shift in [UInt32(0), 8, 16, 24] {
            let difference = Int(pixel >> shift & 0xFF) - Int(expected >> shift & 0xFF)
            XCTAssertLessThanOrEqual(abs(difference), 3, "\(text): \(String(pixel, radix: 16))")
        }
    }

    func testColoursAreThoseOfTheMatrixAndRange() {
        // Red, in limited BT.601, in limited BT.709, and in full BT.601.
        for format in [PixelFormat.yuv420, .nv12, .yuyv] {
            for size in [PixelSize(64, 48), PixelSize(100, 76), PixelSize(32, 24)] {
                let name = "\(format) to \(size.width)"
                let source = PixelSize(64, 48)
                self.assertNear(self.rgb(Flat(format, source, y: 81, u: 90, v: 240), size), 0xFFFF_0000, name)
                self.assertNear(
                    self.rgb(Flat(format, source, y: 63, u: 102, v: 240, PictureColours(.bt709)), size), 0xFFFF_0000,
                    name)
                self.assertNear(
                    self.rgb(Flat(format, source, y: 76, u: 85, v: 255, PictureColours(isFullRange: true)), size),
                    0xFFFF_0000, name)
                self.assertNear(self.rgb(Flat(format, source, y: 16, u: 128, v: 128), size), 0xFF00_0000, name)
                self.assertNear(self.rgb(Flat(format, source, y: 235, u: 128, v: 128), size), 0xFFFF_FFFF, name)
            }
        }
    }

    func testColoursReachPlanesOfTheirOwn() {
        let source = PixelSize(64, 48)
        for format in [PixelFormat.yuv420, .nv12, .yuyv] {
            for wanted in [PixelFormat.yuv420, .nv12] {
                for size in [source, PixelSize(96, 72)] {
                    let rows = PictureRows(wanted, size)
                    // One after the other in one memory, with room behind.
                    let starts = (0...3).map { end in (0..<end).reduce(0) { $0 + rows.bytes($1) * rows.count($1) } }
                    var memory = [UInt8](repeating: 7, count: starts[3] + 64)
                    let isDone = memory.withUnsafeMutableBufferPointer { buffer in
                        guard let start = buffer.baseAddress else { return false }
                        var planes = TargetPlanes()
                        for index in 0..<(wanted == .nv12 ? 2 : 3) {
                            planes.set(index, start + starts[index], stride: rows.bytes(index))
                        }
                        let view = Flat(format, source, y: 81, u: 90, v: 240).held
                        return Converter().convert(
                            view.view, Rectangle(source), to: wanted, size, planes, isFullRange: false)
                    }
                    let name = "\(format) to \(wanted) of \(size.width)"
                    XCTAssertTrue(isDone, name)
                    let u = starts[1] + rows.bytes(1) * 5 + 4
                    let v = wanted == .nv12 ? u + 1 : starts[2] + rows.bytes(2) * 5 + 4
                    XCTAssertEqual([rows.bytes(0) * 9 + 9, u, v].map { memory[$0] }, [81, 90, 240], name)
                }
            }
        }
    }

    func testNothingOutsideTheTargetIsWritten() {
        let canvas = PixelSize(400, 300)
        for source in [PixelSize(64, 48), PixelSize(90, 66), PixelSize(320, 180)] {
            for width in [2, 34, 62, 90, 150, 202] {
                for format in [PixelFormat.xrgb8888, .nv12, .yuv420] {
                    self.assertKeepsInside(source, PixelSize(width, 100), format, canvas)
                }
            }
        }
    }

    /// Bars beside a picture stay black only if libswscale writes no more than it is asked for.
    private func assertKeepsInside(_ source: PixelSize, _ size: PixelSize, _ format: PixelFormat, _ canvas: PixelSize) {
        let layout = BufferLayout(format: format, size: canvas)
        let pitch = layout.dumb.width * layout.dumb.bitsPerUnit / 8
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: pitch * layout.dumb.height)
        defer { memory.deallocate() }
        memory.initialize(repeating: 7, count: pitch * layout.dumb.height)
        let (x, y) = (100, 50)
        var planes = TargetPlanes()
        for (index, plane) in layout.planes(pitch: pitch).enumerated() {
            let offset = plane.offset + layout.byteOffset(plane: index, x: x, y: y, pitch: plane.pitch)
            planes.set(index, memory + offset, stride: plane.pitch)
        }
        let flat = Flat(.yuv420, source, y: 81, u: 90, v: 240)
        XCTAssertTrue(
            Converter().convert(
                flat.held.view, Rectangle(source), to: format, size, planes, isFullRange: false, keepsInside: true))
        for (index, plane) in layout.planes(pitch: pitch).enumerated() {
            let half = index == 0 ? 1 : 2
            let samples = format == .xrgb8888 ? 4 : format == .nv12 && index == 1 ? 2 : 1
            let left = x / half * samples
            let right = left + size.width / half * samples
            for row in 0..<plane.rows {
                let isRow = row >= y / half && row < (y + size.height) / half
                for column in 0..<canvas.width / half * samples where !isRow || column < left || column >= right {
                    if memory[plane.offset + row * plane.pitch + column] != 7 {
                        return XCTFail("\(format) \(source) to \(size): plane \(index), row \(row), byte \(column)")
                    }
                }
            }
        }
    }

    func testOnlyTheSourceRectangleIsTaken() {
        let size = PixelSize(64, 48)
        var luma = [UInt8](repeating: 16, count: 64 * 48)
        for y in 12..<36 { for x in 16..<48 { luma[y * 64 + x] = 235 } }
        let chroma = [UInt8](repeating: 128, count: 32 * 24)
        let image = PixelImage(PixelSize(80, 60))
        luma.withUnsafeBufferPointer { luma in
            chroma.withUnsafeBufferPointer { chroma in
                let view = PictureView(
                    size, format: .yuv420,
                    planes: (
                        PicturePlane(luma.baseAddress, stride: 64), PicturePlane(chroma.baseAddress, stride: 32),
                        PicturePlane(chroma.baseAddress, stride: 32)
                    ))
                XCTAssertTrue(
                    Converter().convert(
                        view, Rectangle(16, 12, 32, 24), to: .xrgb8888, image.size, TargetPlanes(image),
                        isFullRange: true))
            }
        }
        var darkest: UInt32 = 255
        for y in 0..<60 { for x in 0..<80 { darkest = min(darkest, image.row(y)[x] & 0xFF) } }
        XCTAssertGreaterThan(darkest, 250)
    }

    func testFullRangeBecomesLimitedWhereThePlaneWantsThat() {
        let flat = Flat(.yuv420, PixelSize(64, 48), y: 255, u: 128, v: 128, PictureColours(isFullRange: true))
        for (isFullRange, expected) in [(true, 255), (false, 235)] {
            for size in [PixelSize(64, 48), PixelSize(100, 76)] {
                let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 128 * 152)
                defer { memory.deallocate() }
                var planes = TargetPlanes()
                planes.set(0, memory, stride: 128)
                planes.set(1, memory + 128 * 76, stride: 64)
                planes.set(2, memory + 128 * 114, stride: 64)
                XCTAssertTrue(
                    Converter().convert(
                        flat.held.view, Rectangle(0, 0, 64, 48), to: .yuv420, size, planes, isFullRange: isFullRange))
                XCTAssertEqual(Int(memory[128 * 20 + 20]), expected, accuracy: 1)
            }
        }
    }
}
