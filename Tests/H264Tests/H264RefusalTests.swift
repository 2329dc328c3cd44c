// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import H264

final class H264RefusalTests: XCTestCase {
    private func refusal(_ units: [[[UInt8]]], _ acceptance: H264Acceptance = H264Acceptance()) -> H264Refusal? {
        var sequencer = PictureSequencer(accepting: acceptance)
        do {
            for unit in units { _ = try sequencer.take(unit, id: 1) }
            return nil
        } catch {
            XCTAssertFalse(error.text.isEmpty)
            return error
        }
    }

    func testWhatIsNotTaken() {
        let key = [Made.sps(), Made.pps(), Made.idr()]
        XCTAssertNil(self.refusal([key, [Made.slice(1)]]))
        XCTAssertEqual(self.refusal([[Made.idr()]]), .missingParameterSet)
        XCTAssertEqual(self.refusal([[Made.sps(), Made.pps(), Made.slice(1)]]), .missingReference)
        XCTAssertEqual(self.refusal([[Made.sps(isFrameOnly: false), Made.pps(), Made.idr()]]), .interlaced)
        XCTAssertEqual(self.refusal([[Made.sps(), Made.pps(groups: 2), Made.idr()]]), .flexibleOrdering)
        XCTAssertEqual(self.refusal([key, [[0x42, 0xE0]]]), .dataPartitioning)
        XCTAssertEqual(self.refusal([key, [Made.slice(1, kind: 3)]]), .switchingSlices)
        XCTAssertEqual(self.refusal([key, [Made.slice(1, macroblock: 9), Made.slice(1)]]), .arbitraryOrder)
        XCTAssertEqual(self.refusal([key, [Made.slice(1), Made.slice(2, macroblock: 9)]]), .severalPictures)
        XCTAssertEqual(self.refusal([key, [Made.sps(columns: 41), Made.slice(1)]]), .sequenceChanged)
        XCTAssertEqual(self.refusal([key, [[0x41, 0xE0]]]), .unreadable)
        let limited = H264Acceptance(profiles: [77], levelMax: 30, widths: 16...639)
        XCTAssertEqual(self.refusal([key], limited), .profile(66))
        XCTAssertEqual(self.refusal([key], H264Acceptance(levelMax: 30)), .level(31, max: 30))
        XCTAssertEqual(self.refusal([key], H264Acceptance(widths: 16...639)), .size(width: 640, height: 368))
    }

    func testPicturesOutOfOrderAreNotTakenInACall() {
        let sets = [Made.sps(order: 0), Made.pps()]
        let units = [sets + [Made.idr(low: 0)], [Made.slice(1, low: 4)], [Made.slice(2, low: 2)]]
        XCTAssertEqual(self.refusal(units), .reordering)
        XCTAssertNil(self.refusal(units, H264Acceptance(allowsReordering: true)))
    }

    func testAfterARefusalAKeyFrameIsTaken() throws {
        var sequencer = PictureSequencer(accepting: H264Acceptance())
        let key = [Made.sps(), Made.pps(), Made.idr()]
        _ = try sequencer.take(key, id: 0)
        XCTAssertThrowsError(try sequencer.take([Made.slice(3)], id: 1))
        XCTAssertThrowsError(try sequencer.take([Made.slice(1)], id: 2), "what follows a loss is not whole")
        XCTAssertNotNil(try sequencer.take([Made.idr()], id: 3))
        XCTAssertNotNil(try sequencer.take([Made.slice(1)], id: 4))
        XCTAssertThrowsError(try sequencer.take([Made.slice(9)], id: 5))
        XCTAssertNotNil(try sequencer.take([Made.slice(7, kind: 7)], id: 6), "an intra picture will do")
        XCTAssertNotNil(try sequencer.take([Made.slice(8)], id: 7))
    }
}
