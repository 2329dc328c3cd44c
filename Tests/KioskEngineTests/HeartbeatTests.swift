// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import KioskEngine

/// When the watchdog is fed, and when not.
final class HeartbeatTests: XCTestCase {
    private func at(_ seconds: Int) -> Instant { Instant.zero + .seconds(seconds) }

    /// Looks where every part but those named has gone on.
    private func look(_ heartbeats: inout Heartbeats, _ second: Int, still: [VitalPart] = [], away: [VitalPart] = [])
        -> Bool
    {
        heartbeats.look(
            { part in away.contains(part) ? .away : .turns(still.contains(part) ? 0 : UInt64(second)) },
            now: self.at(second))
    }

    func testTheFirstLookFeedsNobody() {
        var heartbeats = Heartbeats()
        XCTAssertFalse(self.look(&heartbeats, 0))
        XCTAssertEqual(heartbeats.verdict, .unknown)
        XCTAssertNil(heartbeats.complaint(now: self.at(1)))
        XCTAssertTrue(self.look(&heartbeats, 1))
        XCTAssertEqual(heartbeats.verdict, .alive)
    }

    func testEachPartThatStandsStillIsNotFedAndIsNamed() {
        for part in VitalPart.all {
            var heartbeats = Heartbeats()
            _ = self.look(&heartbeats, 0)
            XCTAssertTrue(self.look(&heartbeats, 5, still: [part]))
            XCTAssertEqual(heartbeats.verdict, .still([part]))
            XCTAssertEqual(heartbeats.complaint(now: self.at(5)), part.text + " did not go on for 5 s")
            XCTAssertFalse(self.look(&heartbeats, 10, still: [part]), "told once")
            XCTAssertTrue(self.look(&heartbeats, 15), "it went on")
            XCTAssertEqual(heartbeats.verdict, .alive)
        }
    }

    func testWhoeverIsAwayDoesNotStandStill() {
        for part in VitalPart.all {
            var heartbeats = Heartbeats()
            _ = self.look(&heartbeats, 0)
            _ = self.look(&heartbeats, 5, away: [part])
            XCTAssertEqual(heartbeats.verdict, .alive)
            // Back, and slow: it has until the look after the next.
            _ = self.look(&heartbeats, 10, still: [part])
            XCTAssertEqual(heartbeats.verdict, .alive)
            _ = self.look(&heartbeats, 15, still: [part])
            XCTAssertEqual(heartbeats.verdict, .still([part]))
        }
    }

    func testOnePartThatGoesOnDoesNotFeedForAnother() {
        var heartbeats = Heartbeats()
        _ = self.look(&heartbeats, 0)
        XCTAssertTrue(self.look(&heartbeats, 5, still: [.sound]))
        XCTAssertTrue(self.look(&heartbeats, 10, still: [.sound, .decoder]), "another part, too, is news")
        XCTAssertEqual(heartbeats.verdict, .still([.sound, .decoder]))
        XCTAssertEqual(
            heartbeats.complaint(now: self.at(10)), "the sound and the decoder did not go on for 10 s")
    }

    func testTheWordAsksForTheAnswer() throws {
        let scene = Scene()
        scene.forget()
        scene.feed(.control(Scene.client, line: "healthy"))
        guard case .tellHealth(Scene.client)? = scene.outputs.first else { return XCTFail("not asked") }
    }
}
