// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import H264

/// Which frames are there to refer to, after each kind of marking (H.264 sections 8.2.4 and 8.2.5).
final class PictureSequencerTests: XCTestCase {
    private var sequencer = PictureSequencer(accepting: H264Acceptance())
    private var id: UInt64 = 0

    private func begin(references: UInt32 = 3, hasGaps: Bool = false, isLongTerm: Bool = false) throws {
        self.sequencer = PictureSequencer(accepting: H264Acceptance())
        self.id = 0
        let sets = [Made.sps(references: references, hasGaps: hasGaps), Made.pps()]
        _ = try self.sequencer.take(sets + [Made.idr(isLongTerm: isLongTerm)], id: 0)
    }

    /// Takes a picture, and gives the ids of the frames in its first list.
    @discardableResult
    private func take(_ slice: [UInt8]) throws -> [UInt64] {
        self.id += 1
        let taken = try self.sequencer.take([slice], id: self.id)
        let picture = try XCTUnwrap(taken)
        return picture.slices[0].lists[0].map { picture.references[Int($0)].id }
    }

    func testTheWindowSlides() throws {
        try self.begin()
        XCTAssertEqual(try self.take(Made.slice(1, active: 1)), [0])
        XCTAssertEqual(try self.take(Made.slice(2, active: 2)), [1, 0])
        XCTAssertEqual(try self.take(Made.slice(3, active: 3)), [2, 1, 0])
        XCTAssertEqual(try self.take(Made.slice(4, active: 3)), [3, 2, 1])
    }

    func testNumbersWrap() throws {
        try self.begin()
        for number in 1..<16 as Range<UInt32> { try self.take(Made.slice(number)) }
        XCTAssertEqual(try self.take(Made.slice(0, active: 3)), [15, 14, 13])
        XCTAssertEqual(try self.take(Made.slice(1, active: 3)), [16, 15, 14])
    }

    func testUnreferencedPicturesLeaveNothing() throws {
        try self.begin()
        try self.take(Made.slice(1, reference: 0))
        try self.take(Made.slice(1))
        XCTAssertEqual(try self.take(Made.slice(2, active: 2)), [2, 0])
    }

    func testListsAreModified() throws {
        try self.begin()
        try self.take(Made.slice(1))
        try self.take(Made.slice(2))
        // Three back, then from there two on.
        XCTAssertEqual(try self.take(Made.slice(3, active: 3, modifications: [0, 2, 1, 1, 3])), [0, 2, 1])
        XCTAssertEqual(try self.take(Made.slice(4, active: 1, modifications: [0, 1, 3])), [2])
        XCTAssertThrowsError(try self.take(Made.slice(5, active: 1, modifications: [0, 8, 3]))) {
            XCTAssertEqual($0 as? H264Refusal, .missingReference)
        }
    }

    func testEachMarkingCommand() throws {
        let rows: [(marking: [UInt32], list: [UInt64])] = [
            ([1, 0, 0], [3, 1, 0]),  // the frame before goes
            ([4, 2, 3, 0, 1, 0], [3, 1, 0, 2]),  // the frame before is kept for long, as number 1
            ([4, 2, 3, 0, 0, 3, 1, 1, 0], [3, 0, 2, 1]),  // two of them
            ([4, 2, 3, 0, 0, 3, 1, 0, 0], [3, 0, 1]),  // the second takes the number of the first
            ([4, 2, 3, 0, 0, 2, 0, 0], [3, 1, 0]),  // kept for long, and dropped
            ([4, 2, 3, 0, 1, 4, 1, 0], [3, 1, 0]),  // above the bound
            ([4, 1, 6, 0, 0], [2, 1, 0, 3]),  // this one
            ([6, 0, 0], [3, 2, 1, 0]),  // no number is allowed: stays for a short time
            ([1, 14, 0], [3, 2, 1, 0]),  // what is not there
        ]
        for row in rows {
            try self.begin(references: 4)
            try self.take(Made.slice(1))
            try self.take(Made.slice(2))
            try self.take(Made.slice(3, marking: row.marking))
            let active = UInt32(row.list.count)
            XCTAssertEqual(try self.take(Made.slice(4, active: active)), row.list, "\(row.marking)")
        }
    }

    func testDroppingAllBeginsAnew() throws {
        try self.begin()
        try self.take(Made.slice(1))
        try self.take(Made.slice(2, marking: [5, 0]))
        // The one that dropped all counts as frame 0, at time 0.
        let picture = try XCTUnwrap(try self.sequencer.take([Made.slice(1)], id: 9))
        XCTAssertEqual(picture.references.map { $0.id }, [2])
        XCTAssertEqual(picture.references.map { $0.order }, [PictureOrderCount(top: 0, bottom: 0)])
        XCTAssertEqual(picture.order.frame, 2)
    }

    func testAnIDRPictureMayBeKeptForLong() throws {
        try self.begin(isLongTerm: true)
        try self.take(Made.slice(1))
        try self.take(Made.slice(2))
        XCTAssertEqual(try self.take(Made.slice(3, active: 3)), [2, 1, 0])
        XCTAssertEqual(try self.take(Made.slice(4, active: 1, modifications: [2, 0, 3])), [0])
    }

    func testGapsSlideTheWindowWhereTheyAreAllowed() throws {
        try self.begin(hasGaps: true)
        try self.take(Made.slice(1))
        let picture = try XCTUnwrap(try self.sequencer.take([Made.slice(4, active: 1)], id: 9))
        XCTAssertEqual(picture.references.map { $0.frameNumber }, [1, 2, 3])
        XCTAssertEqual(picture.references.map { $0.isInferred }, [false, true, true])
        XCTAssertEqual(picture.references.map { $0.id }, [1, 1, 1], "the frame before stands for them")
        try self.begin()
        XCTAssertThrowsError(try self.take(Made.slice(2))) {
            XCTAssertEqual($0 as? H264Refusal, .missingReference)
        }
    }

    func testMissingEntriesAreFilled() throws {
        try self.begin()
        XCTAssertEqual(try self.take(Made.slice(1, active: 4)), [0, 0, 0, 0])
    }

    func testListsOfBySlicesGoByTime() throws {
        var sequencer = PictureSequencer(accepting: H264Acceptance(allowsReordering: true))
        _ = try sequencer.take([Made.sps(order: 0, references: 4), Made.pps(), Made.idr(low: 0)], id: 0)
        _ = try sequencer.take([Made.slice(1, low: 6)], id: 6)
        _ = try sequencer.take([Made.slice(2, low: 4)], id: 4)
        let picture = try XCTUnwrap(try sequencer.take([Made.slice(3, kind: 6, low: 2, active: 3)], id: 2))
        let lists = picture.slices[0].lists.map { list in list.map { picture.references[Int($0)].id } }
        XCTAssertEqual(lists, [[0, 4, 6], [4, 6, 0]])
        // All before: the lists would be the same, and the second begins with the second.
        let last = try XCTUnwrap(try sequencer.take([Made.slice(4, kind: 6, low: 7, active: 3)], id: 7))
        let both = last.slices[0].lists.map { list in list.map { last.references[Int($0)].id } }
        XCTAssertEqual(both, [[6, 4, 2], [4, 6, 2]])
    }
}
