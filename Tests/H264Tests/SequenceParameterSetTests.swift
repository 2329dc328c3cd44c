// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import H264

final class SequenceParameterSetTests: XCTestCase {
    func testRealSetsAreReadAsTheirEncodersMeantThem() {
        // The example of RFC 6184 section 8.2.1 ("Z0IACpZTBYmI").
        let small = SequenceParameterSet.parse([0x67, 0x42, 0x00, 0x0A, 0x96, 0x53, 0x05, 0x89, 0x88])
        XCTAssertEqual(small?.profile, 66)
        XCTAssertEqual(small?.level, 10)
        XCTAssertEqual(small?.width, 176)
        XCTAssertEqual(small?.height, 144)
        // x264, High profile, 1920 × 1080 coded as 1088, with emulation prevention.
        let large = SequenceParameterSet.parse([
            0x67, 0x64, 0x00, 0x28, 0xAC, 0xD9, 0x40, 0x78, 0x02, 0x27, 0xE5, 0xC0, 0x44, 0x00, 0x00, 0x03, 0x00, 0x04,
            0x00, 0x00, 0x03, 0x00, 0xF0, 0x3C, 0x60, 0xC6, 0x58,
        ])
        XCTAssertEqual(large?.profile, 100)
        XCTAssertEqual(large?.level, 40)
        XCTAssertEqual(large?.width, 1920)
        XCTAssertEqual(large?.height, 1080)
    }

    func testCroppingOnAllFourSides() {
        var bits = BitWriter()
        for value in [66, 0, 40] as [UInt32] { bits.u(value, 8) }
        for value in [3, 0, 1] as [UInt32] { bits.ue(value) }
        bits.u(0, 1)
        bits.se(-5)
        bits.se(9)
        bits.ue(2)
        bits.se(1)
        bits.se(-1)
        bits.ue(4)
        bits.u(0, 1)
        for value in [119, 33] as [UInt32] { bits.ue(value) }
        bits.u(0, 1)  // fields: the height counts twice
        bits.u(0, 1)
        bits.u(1, 1)
        bits.u(1, 1)
        for value in [1, 2, 3, 1] as [UInt32] { bits.ue(value) }
        let set = SequenceParameterSet.parse(bits.nalUnit(header: 0x67))
        XCTAssertEqual(set?.id, 3)
        XCTAssertEqual(set?.width, 1920 - 6)
        XCTAssertEqual(set?.height, 1088 - 16)
    }

    func testScalingListsArePassedOver() {
        var bits = BitWriter()
        for value in [100, 0, 40] as [UInt32] { bits.u(value, 8) }
        bits.ue(0)
        bits.ue(3)
        bits.u(0, 1)
        bits.ue(0)
        bits.ue(0)
        bits.u(0, 1)
        bits.u(1, 1)
        for list in 0..<12 {
            bits.u(list % 2 == 0 ? 1 : 0, 1)
            if list % 2 == 0 {
                bits.se(3)
                bits.se(-11)  // the next scale is zero: the list ends
            }
        }
        for value in [0, 2, 1] as [UInt32] { bits.ue(value) }
        bits.u(0, 1)
        bits.ue(79)
        bits.ue(44)
        bits.u(1, 1)
        bits.u(1, 1)
        bits.u(1, 1)
        for value in [1, 1, 1, 1] as [UInt32] { bits.ue(value) }
        let set = SequenceParameterSet.parse(bits.nalUnit(header: 0x67))
        XCTAssertEqual(set?.width, 1280 - 2, "4:4:4 crops by single pixels")
        XCTAssertEqual(set?.height, 720 - 2)
    }

    func testBrokenSetsAreNotRead() {
        let whole = Made.sps()
        XCTAssertEqual(SequenceParameterSet.parse(whole)?.height, 360)
        for length in 0..<whole.count - 1 {
            XCTAssertNil(SequenceParameterSet.parse(Array(whole.prefix(length))), "cut at \(length)")
        }
        XCTAssertNil(SequenceParameterSet.parse(Made.pps()))
        XCTAssertNil(SequenceParameterSet.parse(Made.sps(bottomCrop: 184)), "nothing is left")
        XCTAssertNil(SequenceParameterSet.parse(Made.sps(columns: 4000)))
        XCTAssertNil(SequenceParameterSet.parse([0x67] + Array(repeating: 0, count: 2000)))
    }

    func testExpGolombCodesToTheirLimits() {
        for value in [0, 1, 2, 7, 255, 65_535, 0x7FFF_FFFF, 0xFFFF_FFFE] as [UInt32] {
            var bits = BitWriter()
            bits.ue(value)
            var reader = RBSPReader(bits.nalUnit(header: 0)[1...], limit: 100)
            XCTAssertEqual(try reader.unsigned(), value)
        }
        var reader = RBSPReader([0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], limit: 100)
        XCTAssertThrowsError(try reader.unsigned(), "more than 31 zeros")
        for value in [0, 1, -1, 100, -100] as [Int32] {
            var bits = BitWriter()
            bits.se(value)
            var reader = RBSPReader(bits.nalUnit(header: 0)[1...], limit: 100)
            XCTAssertEqual(try reader.signed(), value)
        }
    }
}
