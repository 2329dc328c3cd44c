// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import Display

final class FlipClockTests: XCTestCase {
    /// A hundred pictures a second: periods of 10 ms, commits 4 ms before their ends.
    private var clock = FlipClock(clockKHz: 100_000, total: 1_000_000)

    private func at(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }

    func testACommitWaitsUntilJustBeforeTheDisplayReads() {
        self.clock.flipped(self.at(1000))
        XCTAssertFalse(self.clock.isTime(self.at(1001)))
        XCTAssertEqual(self.clock.due, self.at(1006))
        // A newer picture moves nothing.
        XCTAssertFalse(self.clock.isTime(self.at(1005)))
        XCTAssertEqual(self.clock.due, self.at(1006))
        XCTAssertTrue(self.clock.isTime(self.at(1006)))
    }

    func testWhoeverIsWokenLateDoesNotWaitAgain() {
        self.clock.flipped(self.at(1000))
        XCTAssertFalse(self.clock.isTime(self.at(1001)))
        XCTAssertTrue(self.clock.isTime(self.at(1011)))
    }

    func testWhatComesInTheLastMomentGoesOutAtOnce() {
        self.clock.flipped(self.at(1000))
        XCTAssertTrue(self.clock.isTime(self.at(1007)))
        XCTAssertNil(self.clock.due)
    }

    func testPeriodsWithoutACommitAreCountedOn() {
        self.clock.flipped(self.at(1000))
        XCTAssertFalse(self.clock.isTime(self.at(1531)))
        XCTAssertEqual(self.clock.due, self.at(1536))
    }

    func testEachFlipBeginsAnew() {
        self.clock.flipped(self.at(1000))
        XCTAssertFalse(self.clock.isTime(self.at(1001)))
        self.clock.flipped(self.at(1010))
        XCTAssertNil(self.clock.due)
        XCTAssertFalse(self.clock.isTime(self.at(1011)))
        XCTAssertEqual(self.clock.due, self.at(1016))
    }

    func testNothingWaitsOnAClockThatIsNotKnown() {
        XCTAssertTrue(self.clock.isTime(self.at(5)))
        self.clock.flipped(self.at(1000))
        XCTAssertTrue(self.clock.isTime(self.at(2000)), "too long ago")
        XCTAssertTrue(self.clock.isTime(self.at(999)), "not yet")
        self.clock.flipped(nil)
        XCTAssertTrue(self.clock.isTime(self.at(1001)))
        for (clockKHz, total) in [(0, 1_000_000), (100_000, 0), (1_000_000, 3_000_000), (UInt32.max, UInt32.max)] {
            var clock = FlipClock(clockKHz: UInt32(clockKHz), total: UInt32(total))
            clock.flipped(self.at(1000))
            XCTAssertTrue(clock.isTime(self.at(1000)))
        }
    }
}
