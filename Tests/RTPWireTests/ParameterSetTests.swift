// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import RTPWire

final class ParameterSetTests: XCTestCase {
    func testSetsAreKeptByIdAndBounded() {
        var sets = H264ParameterSets()
        for id in 0..<20 as Range<UInt32> {
            sets.learn(NAL.sps(id: id, columns: 40 + id))
            sets.learn(NAL.pps(id: id, sps: id))
        }
        XCTAssertNil(sets.needed(byPicture: 0), "the oldest made room")
        XCTAssertEqual(sets.needed(byPicture: 19)?.sequence, NAL.sps(id: 19, columns: 59))
        XCTAssertEqual(sets.sequence?.width, 59 * 16)
        sets.learn(NAL.sps(id: 19, columns: 20))
        XCTAssertEqual(sets.needed(byPicture: 19)?.sequence, NAL.sps(id: 19, columns: 20))
        sets.learn([0x67] + Array(repeating: 1, count: 2000))
        XCTAssertEqual(sets.sequence?.width, 320)
    }
}
