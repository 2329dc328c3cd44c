// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import H264

final class PictureOrderTests: XCTestCase {
    private func header(
        _ number: UInt32, low: UInt32 = 0, off: [Int32] = [0, 0], bottom: Int32 = 0, reference: UInt8 = 1,
        isIDR: Bool = false
    ) throws -> SliceHeader {
        let sequence = try XCTUnwrap(SequenceParameterSet.parse(Made.sps()))
        let picture = try XCTUnwrap(PictureParameterSet.parse(Made.pps(), sequence: sequence))
        var header = try XCTUnwrap(SliceHeader.parse(isIDR ? Made.idr() : Made.slice(1)) { _ in (picture, sequence) })
        header.frameNumber = number
        header.orderLow = low
        header.orderOff = off
        header.orderBottom = bottom
        header.referenceIDC = reference
        return header
    }

    func testTypeZeroCarriesBothWays() throws {
        let sequence = try XCTUnwrap(SequenceParameterSet.parse(Made.sps(order: 0)))
        var order = PictureOrderDecoder()
        let rows: [(low: UInt32, reference: UInt8, count: Int32)] = [
            (0, 1, 0), (8, 1, 8), (15, 1, 15), (2, 1, 18), (14, 0, 14), (9, 1, 25), (0, 1, 32), (15, 0, 31),
        ]
        for (index, row) in rows.enumerated() {
            let header = try self.header(
                UInt32(index), low: row.low, bottom: 1, reference: row.reference, isIDR: index == 0)
            let count = order.next(header, sequence: sequence)
            XCTAssertEqual(count, PictureOrderCount(top: row.count, bottom: row.count + 1), "row \(index)")
        }
    }

    func testTypeOneFollowsItsCycle() throws {
        var sequence = try XCTUnwrap(SequenceParameterSet.parse(Made.sps()))
        sequence.order = .cycle(
            .init(isExact: false, offsetOfUnreferenced: -3, offsetOfBottom: 1, offsets: [2, 6]))
        var order = PictureOrderDecoder()
        let rows: [(number: UInt32, off: Int32, reference: UInt8, top: Int32)] = [
            (0, 0, 1, 0), (1, 0, 1, 2), (2, 0, 1, 8), (3, 5, 1, 15), (4, 0, 0, 7), (15, 0, 1, 58), (0, 0, 1, 64),
        ]
        for (index, row) in rows.enumerated() {
            let header = try self.header(row.number, off: [row.off, 2], reference: row.reference, isIDR: index == 0)
            let count = order.next(header, sequence: sequence)
            XCTAssertEqual(count, PictureOrderCount(top: row.top, bottom: row.top + 3), "row \(index)")
        }
    }

    func testTypeTwoIsTheOrderOfDecoding() throws {
        let sequence = try XCTUnwrap(SequenceParameterSet.parse(Made.sps(order: 2)))
        var order = PictureOrderDecoder()
        let rows: [(number: UInt32, reference: UInt8, count: Int32)] = [
            (0, 1, 0), (1, 0, 1), (1, 1, 2), (15, 1, 30), (0, 0, 31), (0, 1, 32),
        ]
        for (index, row) in rows.enumerated() {
            let header = try self.header(row.number, reference: row.reference, isIDR: index == 0)
            XCTAssertEqual(order.next(header, sequence: sequence).frame, row.count, "row \(index)")
        }
    }
}
