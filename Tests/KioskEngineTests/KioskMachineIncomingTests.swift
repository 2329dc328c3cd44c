// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Every (state × input) cell of the kiosk's call for calls from outside.
final class KioskMachineIncomingTests: XCTestCase {
    private typealias Row = KioskMachineTests.Row

    private func check(_ rows: [Row], line: UInt = #line, _ input: (inout KioskMachine) -> Any) {
        KioskMachineTests.check(rows, line: line, input)
    }

    func testIncomingInEveryStateUnderEachPolicy() {
        let policies: [(CallSettings.Incoming, whenFree: KioskMachine.OnIncoming, whenBusy: StatusCode)] = [
            (.refuse, .refuse(.temporarilyUnavailable), .temporarilyUnavailable),
            (.ring, .alert(isAnswered: false), .busyHere), (.answer, .alert(isAnswered: true), .busyHere),
        ]
        for (policy, whenFree, whenBusy) in policies {
            for (name, state) in States.all {
                let action = States.machine(state).incoming(policy, replaces: nil)
                switch name {
                case "idle", "outcome": XCTAssertEqual(action, whenFree, name)
                case "stopping": XCTAssertEqual(action, .refuse(.temporarilyUnavailable), name)
                default: XCTAssertEqual(action, .refuse(whenBusy), name)
                }
            }
        }
    }

    func testACallThatReplacesTheOneAtHandIsTakenUnderEachPolicyAndNoOther() {
        for policy in [CallSettings.Incoming.refuse, .ring, .answer] {
            for (name, state) in States.all {
                let machine = States.machine(state)
                let own = machine.incoming(policy, replaces: States.handle)
                let canReplace = ["calling", "ringing", "early", "connected", "transferring"].contains(name)
                XCTAssertEqual(own, canReplace ? .replace : .refuse(.decline), name)
                let other = machine.incoming(policy, replaces: States.stranger)
                XCTAssertEqual(other, .refuse(.decline), name)
            }
        }
    }

    func testAlertedInEveryState() {
        let rows = States.all.map { name, _ -> Row in
            ["idle", "outcome"].contains(name) ? (name, "tell", "alerting") : (name, "ignore", name)
        }
        for isAnswered in [false, true] {
            self.check(rows) {
                $0.alerted(States.stranger, States.caller, isAnswered: isAnswered, now: States.now)
            }
        }
    }

    func testACallThatIsAnsweredByItselfIsAnnouncedForASecond() {
        var machine = States.machine(States.idle)
        _ = machine.alerted(States.handle, States.caller, isAnswered: true, now: States.now)
        XCTAssertEqual(machine.state.alarm, CallAlarm(timer: .answer, at: States.later(1_000)))
        XCTAssertEqual(machine.timePassed(now: States.later(999)), .doNothing)
        XCTAssertEqual(machine.timePassed(now: States.later(1_000)), .answer(States.handle))
        XCTAssertEqual(States.name(machine.state), "alerting", "until it is accepted")
    }

    func testPickUpInEveryState() {
        self.check(States.all.map { ($0.name, $0.name == "alerting" ? "answer" : "ignore", $0.name) }) { $0.pickUp() }
    }

    func testAcceptedInEveryState() {
        let rows = States.all.map { name, _ -> Row in
            name == "alerting" ? (name, "startMedia", "connected") : (name, "ignore", name)
        }
        self.check(rows) { $0.accepted(States.handle, States.talk, now: States.now) }
    }

    func testReplacedInEveryState() {
        let rows = States.all.map { name, _ -> Row in
            let canReplace = ["calling", "ringing", "early", "connected", "transferring"].contains(name)
            return canReplace ? (name, "startMedia", "connected") : (name, "ignore", name)
        }
        self.check(rows) { $0.replaced(by: States.stranger, States.caller, States.talk, now: States.now) }
    }

    // MARK: - Single behaviours

    func testWhatIsMutedWhileItRingsIsMutedInTheCall() {
        var machine = States.machine(States.alerting)
        _ = machine.toggleMute()
        XCTAssertEqual(
            machine.accepted(States.handle, States.talk, now: States.now),
            .startMedia(Wishes(isMuted: true)))
    }

    func testAReplacedCallGoesOnForThePersonHere() {
        var machine = States.machine(States.connected)
        _ = machine.toggleMute()
        XCTAssertEqual(
            machine.replaced(by: States.stranger, States.caller, States.talk, now: States.later(5_000)),
            .startMedia(Wishes(isMuted: true), dropping: nil))
        XCTAssertEqual(machine.state.facts?.peer, "sip:c@d")
        XCTAssertEqual(machine.state.facts?.direction, .outgoing)
        XCTAssertEqual(machine.ended(States.handle, .replaced, now: States.later(5_000)), .ignore)
        XCTAssertEqual(
            machine.media(.firstFrameShown, now: States.later(5_200)), .firstFrame(after: .milliseconds(200)))
        guard case .hangUp([States.stranger], let ended) = machine.hangUp(now: States.later(9_000)) else {
            return XCTFail("the new call is the one to end")
        }
        XCTAssertEqual(ended.length, .seconds(9), "from the first answer")
    }

    func testACallerThatGivesUpIsMissedWhateverItSays() {
        let reasons: [EndReason] = [.cancelled, .timedOut, .flowFailed, .remoteHangUp(cause: nil, q850: nil, text: "")]
        for reason in reasons {
            var machine = States.machine(States.alerting)
            guard case .finish(let ended) = machine.ended(States.handle, reason, now: States.now) else {
                return XCTFail("not over")
            }
            XCTAssertEqual(ended.outcome, .missed)
        }
    }
}
