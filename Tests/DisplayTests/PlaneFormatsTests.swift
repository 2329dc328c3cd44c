// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import Display

final class PlaneFormatsTests: XCTestCase {
    private func bytes(_ words: [UInt32]) -> [UInt8] {
        words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) } }
    }

    /// A blob as the kernel writes it: header, formats, modifiers.
    private func blob(_ formats: [UInt32], _ modifiers: [(mask: UInt64, offset: UInt32, modifier: UInt64)]) -> [UInt8] {
        let header: [UInt32] = [
            1, 0, UInt32(formats.count), 24, UInt32(modifiers.count), UInt32(24 + formats.count * 4),
        ]
        let tail = modifiers.flatMap { entry -> [UInt32] in
            [
                UInt32(truncatingIfNeeded: entry.mask), UInt32(entry.mask >> 32), entry.offset, 0,
                UInt32(truncatingIfNeeded: entry.modifier), UInt32(entry.modifier >> 32),
            ]
        }
        return self.bytes(header + formats + tail)
    }

    private let afbc: UInt64 = 0x0800_0000_0000_0001

    func testOnlyFormatsWithALinearModifierCount() {
        let rgb565: UInt32 = 0x3631_4752
        let formats = [PixelFormat.xrgb8888.rawValue, rgb565, PixelFormat.nv12.rawValue, PixelFormat.yuyv.rawValue]
        let blob = self.blob(formats, [(0b0111, 0, 0), (0b1001, 0, self.afbc)])
        XCTAssertEqual(PlaneFormats.linear(inFormats: blob), PixelFormats([.xrgb8888, .nv12]))
    }

    func testAWindowBeyondTheFirst64FormatsIsRead() {
        let formats = [UInt32](repeating: 1, count: 70) + [PixelFormat.argb8888.rawValue]
        XCTAssertEqual(
            PlaneFormats.linear(inFormats: self.blob(formats, [(1 << 6, 64, 0)])), PixelFormats([.argb8888]))
        XCTAssertEqual(
            PlaneFormats.linear(inFormats: self.blob(formats, [(1 << 63, 7, 0)])), PixelFormats([.argb8888]))
    }

    func testAClusterWindowOfVOP2HasNone() {
        let blob = self.blob([PixelFormat.xrgb8888.rawValue], [(1, 0, self.afbc)])
        XCTAssertEqual(PlaneFormats.linear(inFormats: blob), [])
    }

    func testBlobsThatMakeNoSenseAreNotBelieved() {
        let whole = self.blob([PixelFormat.xrgb8888.rawValue], [(1, 0, 0)])
        for length in 0..<whole.count {
            XCTAssertNil(PlaneFormats.linear(inFormats: Array(whole.prefix(length))), "\(length) bytes")
        }
        for index in 0..<whole.count {
            for value in [UInt8(0x00), 0x7F, 0xFF] {
                var broken = whole
                broken[index] = value
                _ = PlaneFormats.linear(inFormats: broken)
            }
        }
    }
}

final class BufferLayoutTests: XCTestCase {
    func testPlanesFollowEachOtherAndFitIntoTheDumbBuffer() {
        for format in PixelFormat.all {
            for size in [PixelSize(2, 2), PixelSize(320, 240), PixelSize(1366, 768), PixelSize(801, 481)] {
                let layout = BufferLayout(format: format, size: size)
                let dumb = layout.dumb
                let pitch = dumb.width * dumb.bitsPerUnit / 8
                let planes = layout.planes(pitch: pitch)
                var end = 0
                for (index, plane) in planes.enumerated() {
                    XCTAssertEqual(plane.offset, end)
                    // imx6 wants multiples of 8 bytes.
                    XCTAssertEqual(plane.offset % 8, 0)
                    end = plane.offset + plane.pitch * plane.rows
                    let (x, y) = ((size.width - 1) & ~1, (size.height - 1) & ~1)
                    let last = layout.byteOffset(plane: index, x: x, y: y, pitch: plane.pitch)
                    XCTAssertLessThan(last, plane.pitch * plane.rows)
                    XCTAssertEqual(layout.byteOffset(plane: index, x: 0, y: 0, pitch: plane.pitch), 0)
                }
                XCTAssertLessThanOrEqual(end, pitch * dumb.height)
            }
        }
    }
}
