// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import Loop

private struct NoSocket: Error {}

final class ControlServerTests: XCTestCase {
    private let path = ByteString(utf8Of: NSTemporaryDirectory() + "callbox-control-\(getpid())")

    override func tearDown() {
        unlink(self.path.string)
    }

    /// Serves the socket until `count` events have come or a second is over.
    private func serve(_ server: inout ControlServer, _ poller: borrowing Poller, count: Int) -> [ControlEvent] {
        var events: [ControlEvent] = []
        for _ in 0..<20 where events.count < count {
            for ready in poller.wait(until: Clock.now() + .milliseconds(50)) {
                events += server.handle(ready, poller: poller)
            }
        }
        return events
    }

    func testLinesComeInOneByOneAndRepliesGoToTheirClient() throws {
        let poller = Poller()
        guard var server = ControlServer(path: self.path, tokenBase: 1, poller: poller) else { throw NoSocket() }
        guard let connection = ControlConnection(path: self.path) else { throw NoSocket() }
        connection.send("status")
        connection.send("press call\r")
        let events = self.serve(&server, poller, count: 2)
        guard events.count == 2, case .line("status", let client) = events[0],
            case .line("press call", client) = events[1]
        else { return XCTFail("lines are lost or mixed") }
        server.send("{}", to: client, poller: poller)
        let reply = connection.receive(limit: .seconds(1))
        XCTAssertEqual(reply, Array("{}\n".utf8))
    }

    func testALineWithoutEndCutsItsClientOffAndNoOther() throws {
        let poller = Poller()
        guard var server = ControlServer(path: self.path, tokenBase: 1, poller: poller) else { throw NoSocket() }
        guard let good = ControlConnection(path: self.path) else { throw NoSocket() }
        guard let bad = ControlConnection(path: self.path) else { throw NoSocket() }
        bad.send(ByteString([UInt8](repeating: ASCII.star, count: 3000)))
        var isCut = false
        for event in self.serve(&server, poller, count: 1) {
            if case .gone = event { isCut = true }
        }
        XCTAssertTrue(isCut)
        good.send("status")
        guard case .line("status", _)? = self.serve(&server, poller, count: 1).first else {
            return XCTFail("the other client suffers")
        }
    }

    func testASocketLeftByAFormerRunIsReplaced() throws {
        let poller = Poller()
        do {
            guard let former = ControlServer(path: self.path, tokenBase: 1, poller: poller) else { throw NoSocket() }
            _ = former.owns(token: 1)
        }
        guard var server = ControlServer(path: self.path, tokenBase: 50, poller: poller),
            let connection = ControlConnection(path: self.path)
        else { throw NoSocket() }
        connection.send("status")
        guard case .line("status", _)? = self.serve(&server, poller, count: 1).first else {
            return XCTFail("the new socket is deaf")
        }
    }

    func testAMailboxDropsItsOldestAndCountsIt() {
        let mailbox = Mailbox<Int>(capacity: 2)
        for number in 1...3 { mailbox.put(number) }
        XCTAssertEqual(mailbox.dropped, 1)
        XCTAssertEqual(mailbox.take(), 2)
        XCTAssertEqual(mailbox.take(), 3)
        XCTAssertNil(mailbox.take())
    }

    func testOrdersComeFirstAndMediaNeverPushThemOut() {
        let mailbox = Mailbox<Int>(capacity: 2)
        mailbox.put(1)
        mailbox.order(100)
        for number in 2...9 { mailbox.put(number) }
        XCTAssertEqual(mailbox.take(), 100)
        XCTAssertEqual(mailbox.take(), 8)
        XCTAssertEqual(mailbox.take(), 9)
        XCTAssertNil(mailbox.take())
    }

    func testNTPTimeRunsAtTheRateOfTheMonotonicClock() {
        let early = Clock.ntpAtZero() >> 32
        let late = Clock.ntpAtZero() >> 32
        XCTAssertLessThanOrEqual(late - early, 1)
        // 2026-01-01 in NTP seconds: a clock that ignores the epoch offset would be 70 years off.
        XCTAssertGreaterThan((Clock.ntpAtZero() >> 32) + Clock.now().nanoseconds / 1_000_000_000, 3_976_214_400)
    }

    func testTheCountersOfThisProcessArePlausible() {
        let counters = ProcessCounters.read()
        XCTAssertGreaterThan(counters.fileDescriptors, 2)
        XCTAssertGreaterThan(counters.threads, 0)
        XCTAssertGreaterThan(counters.residentKB, 1000)
    }
}
