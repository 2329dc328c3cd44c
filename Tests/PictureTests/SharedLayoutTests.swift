// SPDX-License-Identifier: Apache-2.0

import Bytes
import CCodec
import XCTest

@testable import Picture

final class V4L2LayoutTests: XCTestCase {
    private func format(
        _ name: StaticString, _ width: UInt32, _ height: UInt32, stride: UInt32, size: UInt32, planes: UInt32 = 1
    ) -> callbox_codec_format {
        var format = callbox_codec_format()
        format.pixelformat = V4L2RawFormat.code(name)
        (format.width, format.height, format.plane_count) = (width, height, planes)
        (format.stride.at0, format.size.at0) = (stride, size)
        return format
    }

    func testOneMemoryHoldsLumaThenChroma() throws {
        let layout = try XCTUnwrap(
            V4L2Layout(self.format("NV12", 640, 368, stride: 704, size: 704 * 368 * 3 / 2)))
        XCTAssertEqual(layout.planes.map { $0.offset }, [0, 704 * 368])
        XCTAssertEqual(layout.planes.map { $0.stride }, [704, 704])
        XCTAssertEqual(layout.needed, [704 * 368 * 3 / 2])
        XCTAssertEqual(layout.planes[1].bytes(toColumn: 4, row: 6), 3 * 704 + 4)
    }

    func testThreePlanesOfHalfTheStride() throws {
        let layout = try XCTUnwrap(
            V4L2Layout(self.format("YU12", 640, 360, stride: 640, size: 640 * 360 * 3 / 2)))
        XCTAssertEqual(layout.planes.map { $0.offset }, [0, 640 * 360, 640 * 360 * 5 / 4])
        XCTAssertEqual(layout.planes.map { $0.stride }, [640, 320, 320])
    }

    func testMemoriesOfTheirOwn() throws {
        var split = self.format("NM12", 640, 360, stride: 640, size: 640 * 360, planes: 2)
        (split.stride.at1, split.size.at1) = (640, 640 * 180)
        let layout = try XCTUnwrap(V4L2Layout(split))
        XCTAssertEqual(layout.planes.map { $0.memory }, [0, 1])
        XCTAssertEqual(layout.planes.map { $0.offset }, [0, 0])
        split.size.at1 -= 1
        XCTAssertNil(V4L2Layout(split), "a memory too short for its plane")
    }

    func testNumbersThatContradictEachOtherAreRefused() {
        let size: UInt32 = 640 * 360 * 3 / 2
        XCTAssertNil(V4L2Layout(self.format("NV12", 640, 360, stride: 640, size: size - 1)))
        XCTAssertNil(V4L2Layout(self.format("NV12", 640, 360, stride: 639, size: size)))
        XCTAssertNil(V4L2Layout(self.format("NV12", 640, 360, stride: .max, size: .max)))
        XCTAssertNil(V4L2Layout(self.format("NV12", .max, .max, stride: 640, size: .max)))
        XCTAssertNil(V4L2Layout(self.format("NV12", 640, 360, stride: 640, size: size, planes: 2)))
        XCTAssertNil(V4L2Layout(self.format("HSV3", 640, 360, stride: 1920, size: 640 * 360 * 3)))
        XCTAssertNil(V4L2Layout(self.format("NV12", 0, 0, stride: 0, size: 0)))
    }

    func testOnlyAPartInsideIsShown() throws {
        var layout = try XCTUnwrap(
            V4L2Layout(self.format("NV12", 640, 368, stride: 640, size: 640 * 368 * 3 / 2)))
        let all = VisiblePart(x: 0, y: 0, width: 640, height: 368)
        for (left, top, width, height) in [
            (Int32(-2), Int32(0), UInt32(640), UInt32(360)), (0, 10, 640, 360), (0, 0, .max, .max), (1, 0, 320, 240),
            (0, 0, 0, 0), (.max, .max, 16, 16),
        ] {
            layout.show(v4l2_rect(left: left, top: top, width: width, height: height))
            XCTAssertEqual(layout.visible, all, "\(left) \(top) \(width) \(height)")
        }
        layout.show(v4l2_rect(left: 0, top: 8, width: 640, height: 360))
        XCTAssertEqual(layout.visible, VisiblePart(x: 0, y: 8, width: 640, height: 360))
    }

    func testColumnsCarryTheirHeightInTheModifier() throws {
        let layout = try XCTUnwrap(
            V4L2Layout(self.format("NC12", 1920, 1088, stride: 1632, size: 128 * 1632 * 15)))
        XCTAssertEqual(layout.format.modifier, 7 << 56 | 1632 << 8 | 4)
        XCTAssertEqual(layout.planes.map { $0.offset }, [0, 128 * 1088])
        XCTAssertFalse(layout.isLinear)
        XCTAssertNil(V4L2Layout(self.format("NC12", 1920, 1088, stride: 0, size: 128 * 1632 * 15)))
    }
}

final class UnitStampsTests: XCTestCase {
    func testAPictureFindsItsUnitInAnyOrder() {
        var stamps = UnitStamps()
        let given = (1...3).map { stamps.next(Instant(nanoseconds: $0)) }
        XCTAssertEqual(stamps.take(given[1]), .unit(Instant(nanoseconds: 2)))
        XCTAssertEqual(stamps.take(given[0]), .unit(Instant(nanoseconds: 1)))
        XCTAssertEqual(stamps.count, 1)
    }

    func testWhatWasNeverGivenOutIsUnknown() {
        var stamps = UnitStamps()
        let given = stamps.next(.zero)
        for stamp in [0, given + 1, .max] { XCTAssertEqual(stamps.take(stamp), .unknown) }
    }

    func testWhatWasForgottenStaysSo() {
        var stamps = UnitStamps()
        let before = stamps.next(.zero)
        stamps.forget()
        let after = stamps.next(Instant(nanoseconds: 9))
        XCTAssertEqual(stamps.take(before), .forgotten)
        XCTAssertEqual(stamps.take(after), .unit(Instant(nanoseconds: 9)))
    }

    func testItIsBounded() {
        var stamps = UnitStamps()
        for number in 0..<1000 { _ = stamps.next(Instant(nanoseconds: UInt64(number))) }
        XCTAssertEqual(stamps.count, 64)
    }
}

final class ParameterSetsTests: XCTestCase {
    private let sequence: [UInt8] = [0x67, 1]
    private let picture: [UInt8] = [0x68, 2]
    private let key: [UInt8] = [0x65, 3]
    private let other: [UInt8] = [0x41, 4]

    func testEachKeyFrameBringsThem() {
        var sets = ParameterSets()
        let whole = [self.sequence, self.picture, self.key]
        XCTAssertEqual(sets.complete(whole), whole)
        XCTAssertEqual(sets.complete([self.other]), [self.other])
        XCTAssertEqual(sets.complete([self.key]), [self.sequence, self.picture, self.key])
    }

    func testAloneTheyAreKept() {
        var sets = ParameterSets()
        XCTAssertEqual(sets.complete([self.sequence, self.picture]), [])
        XCTAssertEqual(sets.complete([self.key]), [self.sequence, self.picture, self.key])
    }

    func testWithoutAnyThereIsNothingToAdd() {
        var sets = ParameterSets()
        XCTAssertEqual(sets.complete([self.key]), [self.key])
        XCTAssertEqual(sets.complete([]), [])
    }
}
