// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import H264

final class SequenceWriterTests: XCTestCase {
    /// x264, High profile, 1920 × 1080, with VUI and emulation prevention.
    private let high: [UInt8] = [
        0x67, 0x64, 0x00, 0x28, 0xAC, 0xD9, 0x40, 0x78, 0x02, 0x27, 0xE5, 0xC0, 0x44, 0x00, 0x00, 0x03, 0x00, 0x04,
        0x00, 0x00, 0x03, 0x00, 0xF0, 0x3C, 0x60, 0xC6, 0x58,
    ]

    func testWhatWasReadIsWrittenAsItWas() throws {
        for unit in [self.high, Made.sps(), Made.sps(order: 0), Made.sps(isFrameOnly: false, profile: 100)] {
            XCTAssertEqual(try XCTUnwrap(SequenceParameterSet.parse(unit)).nalUnit(), unit)
        }
    }

    func testBaselineIsToldNotToWait() throws {
        let set = try XCTUnwrap(SequenceParameterSet.parse(Made.sps(order: 0, references: 3)))
        let changed = try XCTUnwrap(set.withoutReordering())
        XCTAssertEqual(SequenceParameterSet.parse(changed.nalUnit()), changed)
        XCTAssertEqual(changed.usability?.restriction?.reorderedFrames, 0)
        XCTAssertEqual(changed.usability?.restriction?.bufferedFrames, 3)
        XCTAssertNil(changed.withoutReordering(), "it says so already")
        var former = changed
        former.usability = nil
        XCTAssertEqual(former, set, "nothing else changes")
    }

    func testWhatMayReorderStaysAsItIs() throws {
        let set = try XCTUnwrap(SequenceParameterSet.parse(self.high))
        XCTAssertEqual(set.usability?.restriction?.reorderedFrames, 2)
        XCTAssertNil(set.withoutReordering())
        var constrained = set
        constrained.usability?.restriction = nil
        XCTAssertNil(constrained.withoutReordering())
        constrained.constraints = 0x0C
        XCTAssertNotNil(constrained.withoutReordering(), "Constrained High has no B slices")
    }

    /// Damaged sets that can still be read are written so that they read the same.
    func testNoiseReadsAsItIsWritten() {
        var generator = Generator(seed: 5)
        var read = 0
        for _ in 0..<20_000 {
            var unit = self.high
            for _ in 0...generator.below(3) {
                unit[1 + Int(generator.below(UInt64(unit.count - 1)))] ^= 1 << UInt8(generator.below(8))
            }
            guard let set = SequenceParameterSet.parse(unit) else { continue }
            read += 1
            XCTAssertEqual(SequenceParameterSet.parse(set.nalUnit()), set)
        }
        XCTAssertGreaterThan(read, 5_000)
    }
}
