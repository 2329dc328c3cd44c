// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import PanelEngine

final class EdgeLogTests: XCTestCase {
    private func at(_ microseconds: Int) -> Instant {
        Instant(nanoseconds: 5_000_000_000 + UInt64(microseconds) * 1000)
    }

    func testEachEdgeIsToldOnceWithItsTime() {
        var log = EdgeLog()
        XCTAssertNil(log.take(now: self.at(0)))
        log.note(isActive: true, at: self.at(0))
        log.note(isActive: false, at: self.at(213))
        log.note(isActive: true, at: self.at(1_402))
        let report = log.take(now: self.at(2_000))
        XCTAssertEqual(report?.edges.string, "on 0, off 213, on 1402")
        XCTAssertEqual(report?.age, .milliseconds(2))
        XCTAssertEqual(report?.leftOut, 0)
        XCTAssertNil(log.take(now: self.at(5_000_000)))
    }

    func testANoisyLineIsCountedAndDoesNotFloodTheLog() {
        var log = EdgeLog()
        var told = 0
        var leftOut = 0
        var reports = 0
        // Ten seconds of 1000 edges each, read every 5 ms; then it is calm.
        for edge in 0..<20_000 {
            if edge < 10_000 { log.note(isActive: edge % 2 == 0, at: self.at(edge * 1000)) }
            guard edge % 5 == 4, let report = log.take(now: self.at(edge * 1000)) else { continue }
            reports += 1
            told += report.edges.split(on: ASCII.comma).filter { !$0.isEmpty }.count
            leftOut += report.leftOut
        }
        XCTAssertEqual(told, 10 * EdgeLog.edgesMax)
        XCTAssertEqual(told + leftOut, 10_000, "what is not told is counted, to the last")
        XCTAssertLessThan(reports, 90)
    }

    func testTimesThatRunBackwardsDoNoHarm() {
        var log = EdgeLog()
        log.note(isActive: true, at: self.at(100))
        log.note(isActive: false, at: self.at(0))
        XCTAssertEqual(log.take(now: self.at(0))?.edges.string, "on 0, off -100")
    }
}
