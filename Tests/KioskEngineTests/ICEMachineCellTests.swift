// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Each state of the machine against each input.
final class ICEMachineCellTests: XCTestCase {
    private static let credentials = ICECredentials(fragment: "abcd1234", password: "0123456789abcdef01234567")
    private static let now = Instant(nanoseconds: 1_000_000_000)
    private static let waiting = ICEMachine.Waiting.placing(ResolutionID(7), nil)

    static let ways: ICEWays = {
        let own = SocketAddress(.v4(0x0A00_0002), port: 40_010)
        let other = SocketAddress(.v4(0x0A00_0002), port: 40_011)
        let candidates = [
            ICECandidate(foundation: "1", component: 1, priority: 9, address: own, kind: .host),
            ICECandidate(foundation: "1", component: 2, priority: 8, address: other, kind: .host),
        ]
        return ICEWays(audio: candidates, video: candidates)
    }()

    private static var searching: ICEMachine {
        var machine = ICEMachine()
        _ = machine.begin(self.credentials, now: self.now)
        return machine
    }

    private static func found(_ ways: ICEWays = ICEMachineCellTests.ways) -> ICEMachine {
        var machine = self.searching
        _ = machine.found(1, ways)
        return machine
    }

    private static var used: ICEMachine {
        var machine = self.found()
        _ = machine.take()
        return machine
    }

    private func name(_ machine: ICEMachine) -> String {
        switch machine.state {
        case .idle: return "idle"
        case .searching(let number, _, _, let waiting):
            return "searching \(number)\(waiting == nil ? "" : " waited for")"
        case .found(let found): return "found \(found.number)"
        }
    }

    private func isGoOn(_ action: ICEMachine.OnFound, waiting: Bool) -> Bool {
        guard case .goOn(let one) = action else { return false }
        return (one != nil) == waiting
    }

    func testASearchTakesThePlaceOfAnyOther() {
        for var machine in [ICEMachine(), Self.searching, Self.found(), Self.used] {
            let number = machine.begin(Self.credentials, now: Self.now)
            XCTAssertEqual(self.name(machine), "searching \(number)")
            XCTAssertEqual(machine.wakesAt, Self.now + .milliseconds(ICELimits.silenceMs))
            XCTAssertTrue(machine.isBusy)
        }
    }

    func testWaiting() {
        var idle = ICEMachine()
        guard case .search = idle.wait(Self.waiting) else { return XCTFail("nothing is being looked for") }
        var searching = Self.searching
        guard case .waits = searching.wait(Self.waiting) else { return XCTFail("it is being looked for") }
        XCTAssertEqual(self.name(searching), "searching 1 waited for")
        var found = Self.found()
        guard case .goOn = found.wait(Self.waiting) else { return XCTFail("it was found") }
        var used = Self.used
        guard case .search = used.wait(Self.waiting) else { return XCTFail("those are somebody else's") }
    }

    func testFoundCountsForTheSearchAtHandOnly() {
        for var machine in [ICEMachine(), Self.found(), Self.used] {
            let before = self.name(machine)
            guard case .ignore = machine.found(1, Self.ways) else { return XCTFail(before) }
            XCTAssertEqual(self.name(machine), before)
        }
        var searching = Self.searching
        guard case .ignore = searching.found(2, Self.ways) else { return XCTFail("another search's") }
        XCTAssertTrue(self.isGoOn(searching.found(1, Self.ways), waiting: false))
        XCTAssertEqual(self.name(searching), "found 1")
        var waited = Self.searching
        _ = waited.wait(Self.waiting)
        XCTAssertTrue(self.isGoOn(waited.found(1, Self.ways), waiting: true))
    }

    func testWhoeverWaitsGoesOnWithoutWaysInTheEnd() {
        let due = Self.now + .milliseconds(ICELimits.silenceMs)
        for var machine in [ICEMachine(), Self.found(), Self.used] {
            guard case .ignore = machine.timePassed(now: due) else { return XCTFail(self.name(machine)) }
        }
        var waited = Self.searching
        _ = waited.wait(Self.waiting)
        guard case .ignore = waited.timePassed(now: Self.now) else { return XCTFail("too early") }
        XCTAssertTrue(self.isGoOn(waited.timePassed(now: due), waiting: true))
        XCTAssertNil(waited.take())
    }

    func testWaysAreTakenOnce() {
        var empty = ICEMachine()
        XCTAssertNil(empty.take())
        var searching = Self.searching
        XCTAssertNil(searching.take())
        var found = Self.found()
        XCTAssertEqual(found.take()?.number, 1)
        XCTAssertNil(found.take())
        XCTAssertEqual(found.inUse, 1)
        var nothing = Self.found(ICEWays())
        XCTAssertNil(nothing.take())
        XCTAssertNil(nothing.inUse)
        XCTAssertFalse(nothing.isBusy)
    }

    func testAWayThatFailsIsLookedForAnewOnce() {
        for var machine in [ICEMachine(), Self.searching, Self.found()] {
            guard case .ignore = machine.failed(1) else { return XCTFail("nobody uses it") }
        }
        var used = Self.used
        guard case .ignore = used.failed(2) else { return XCTFail("not that one") }
        guard case .restart = used.failed(1) else { return XCTFail("the first time") }
        _ = used.begin(Self.credentials, now: Self.now)
        guard case .ignore = used.failed(1) else { return XCTFail("it is being looked for") }
        _ = used.found(2, Self.ways)
        guard case .ignore = used.failed(1) else { return XCTFail("it was found") }
        XCTAssertEqual(used.take()?.number, 2)
        guard case .giveUp = used.failed(2) else { return XCTFail("the second time") }
    }

    func testAWayThatWorksMakesUpForAFormerFailure() {
        var used = Self.used
        _ = used.failed(1)
        XCTAssertFalse(used.selected(2))
        XCTAssertTrue(used.selected(1))
        guard case .restart = used.failed(1) else { return XCTFail("it had worked in between") }
    }

    func testACallFromOutsideThatIsGoneIsNotAnswered() {
        let handle = CallHandle(number: 3)
        for var machine in [ICEMachine(), Self.searching, Self.found(), Self.used] {
            XCTAssertFalse(machine.forget(handle))
        }
        var other = Self.searching
        _ = other.wait(.moving(handle))
        XCTAssertFalse(other.forget(handle))
    }

    func testTheEndOfTheCallIsTheEndOfAll() {
        for var machine in [ICEMachine(), Self.searching, Self.found(), Self.used] {
            machine.reset()
            XCTAssertEqual(self.name(machine), "idle")
            XCTAssertFalse(machine.isBusy)
            XCTAssertNil(machine.wakesAt)
        }
    }
}
