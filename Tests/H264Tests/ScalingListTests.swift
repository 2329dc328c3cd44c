// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import H264

/// The rules of table 7-2.
final class ScalingListTests: XCTestCase {
    private func lists(_ count: Int, _ write: (Int, inout BitWriter) -> Void) throws -> ScalingLists {
        var bits = BitWriter()
        for index in 0..<count { write(index, &bits) }
        var reader = RBSPReader(bits.nalUnit(header: 0)[1...], limit: 1000)
        return try ScalingLists(&reader, count: count)
    }

    func testWithoutListsAllIsFlat() {
        XCTAssertTrue(ScalingMatrix(sequence: nil, picture: nil).isFlat)
    }

    func testAbsentListsAreThoseOfTheStandardAndThenTheOnesBefore() throws {
        let none = try self.lists(8) { $1.u(0, 1) }
        let matrix = ScalingMatrix(sequence: none, picture: nil)
        XCTAssertEqual(matrix.lists[0].prefix(4), [6, 13, 20, 28], "the first row, out of zig-zag order")
        XCTAssertEqual(matrix.lists[2], matrix.lists[0])
        XCTAssertEqual(matrix.lists[5].prefix(4), [10, 14, 20, 24])
        XCTAssertEqual(matrix.lists[6].prefix(8), [6, 10, 13, 16, 18, 23, 25, 27])
        XCTAssertEqual(matrix.lists[7].last, 35)
        XCTAssertEqual(matrix.lists[10], matrix.lists[6])
        XCTAssertEqual(ScalingMatrix(sequence: nil, picture: none), matrix, "rule A where the sequence has none")
    }

    func testAPictureFallsBackToItsSequence() throws {
        // One weight, and it holds to the end.
        let sequence = try self.lists(8) { index, bits in
            bits.u(1, 1)
            bits.se(Int32(index) + 1)
            bits.se(-Int32(index) - 9)
        }
        let picture = try self.lists(8) { index, bits in
            bits.u(index == 4 ? 1 : 0, 1)
            if index == 4 { bits.se(-8) }
        }
        let matrix = ScalingMatrix(sequence: sequence, picture: picture)
        XCTAssertEqual(matrix.lists[0], Array(repeating: 9, count: 16))
        XCTAssertEqual(matrix.lists[1], matrix.lists[0], "not that of the sequence: the one before")
        XCTAssertEqual(matrix.lists[3], Array(repeating: 12, count: 16))
        XCTAssertEqual(matrix.lists[4].first, 10, "named: that of the standard")
        XCTAssertEqual(matrix.lists[7], Array(repeating: 16, count: 64))
    }
}
