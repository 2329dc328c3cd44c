// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Every (state × input) cell of the kiosk's call, what this side does: one table an input, one row a state, each row
/// the action's name and the state after it. A row that is missing fails.
final class KioskMachineTests: XCTestCase {
    typealias Row = (state: String, action: String, after: String)

    /// The name of an enum case, without its payload.
    static func name(_ action: Any) -> String {
        let text = String(describing: action)
        return String(text.prefix { $0 != "(" })
    }

    private func check(
        _ rows: [Row], file: StaticString = #filePath, line: UInt = #line,
        _ input: (inout KioskMachine) -> Any
    ) {
        Self.check(rows, file: file, line: line, input)
    }

    static func check(
        _ rows: [Row], file: StaticString = #filePath, line: UInt = #line,
        _ input: (inout KioskMachine) -> Any
    ) {
        XCTAssertEqual(
            rows.map { $0.state }, States.all.map { $0.name }, "a row for each state", file: file, line: line)
        for (row, given) in zip(rows, States.all) {
            var machine = States.machine(given.state)
            let action = self.name(input(&machine))
            XCTAssertEqual(action, row.action, "in \(row.state)", file: file, line: line)
            XCTAssertEqual(States.name(machine.state), row.after, "after \(row.state)", file: file, line: line)
            if action == "ignore" || action == "doNothing" || action == "refuse" {
                let isSame = machine.state == given.state
                XCTAssertTrue(isSame || row.state == row.after, "\(row.state) moved", file: file, line: line)
            }
        }
    }

    func testDialInEveryState() {
        self.check([
            ("idle", "lookUp", "lookingUp"), ("lookingUp", "refuse", "lookingUp"), ("calling", "refuse", "calling"),
            ("ringing", "refuse", "ringing"), ("early", "refuse", "early"),
            ("alerting", "refuse", "alerting"), ("connected", "refuse", "connected"),
            ("transferring", "refuse", "transferring"),
            ("ending", "lookUp", "lookingUp"), ("outcome", "lookUp", "lookingUp"), ("stopping", "refuse", "stopping"),
        ]) { $0.dial(States.order, now: States.now) }
    }

    func testDialNobodyInEveryState() {
        self.check([
            ("idle", "show", "outcome"), ("lookingUp", "doNothing", "lookingUp"), ("calling", "doNothing", "calling"),
            ("ringing", "doNothing", "ringing"), ("early", "doNothing", "early"),
            ("alerting", "doNothing", "alerting"),
            ("connected", "doNothing", "connected"),
            ("transferring", "doNothing", "transferring"), ("ending", "doNothing", "ending"),
            ("outcome", "show", "outcome"), ("stopping", "doNothing", "stopping"),
        ]) { $0.dialNobody(now: States.now) }
    }

    func testResolvedInEveryState() {
        self.check([
            ("idle", "ignore", "idle"), ("lookingUp", "invite", "calling"), ("calling", "ignore", "calling"),
            ("ringing", "ignore", "ringing"), ("early", "ignore", "early"),
            ("alerting", "ignore", "alerting"), ("connected", "ignore", "connected"),
            ("transferring", "ignore", "transferring"),
            ("ending", "ignore", "ending"), ("outcome", "ignore", "outcome"), ("stopping", "ignore", "stopping"),
        ]) { $0.resolved(ResolutionID(3), [States.way], as: States.handle, now: States.now) }
    }

    func testUnresolvedInEveryState() {
        self.check([
            ("idle", "ignore", "idle"), ("lookingUp", "failed", "outcome"), ("calling", "ignore", "calling"),
            ("ringing", "ignore", "ringing"), ("early", "ignore", "early"),
            ("alerting", "ignore", "alerting"), ("connected", "ignore", "connected"),
            ("transferring", "ignore", "transferring"),
            ("ending", "ignore", "ending"), ("outcome", "ignore", "outcome"), ("stopping", "ignore", "stopping"),
        ]) { $0.unresolved(ResolutionID(3), now: States.now) }
    }

    func testAnswersToFormerQuestionsAreIgnored() {
        var machine = States.machine(States.lookingUp)
        XCTAssertEqual(machine.resolved(ResolutionID(2), [States.way], as: States.handle, now: States.now), .ignore)
        XCTAssertEqual(machine.unresolved(ResolutionID(2), now: States.now), .ignore)
        XCTAssertEqual(machine.state, States.lookingUp)
    }

    func testHangUpInEveryState() {
        self.check([
            ("idle", "doNothing", "idle"), ("lookingUp", "finish", "idle"), ("calling", "hangUp", "ending"),
            ("ringing", "hangUp", "ending"), ("early", "hangUp", "ending"),
            ("alerting", "decline", "idle"), ("connected", "hangUp", "ending"),
            ("transferring", "hangUp", "ending"),
            ("ending", "doNothing", "ending"), ("outcome", "dismiss", "idle"), ("stopping", "doNothing", "stopping"),
        ]) { $0.hangUp(now: States.now) }
    }

    func testMuteAndVideoInEveryState() {
        let rows: [Row] = [
            ("idle", "ignore", "idle"), ("lookingUp", "apply", "lookingUp"), ("calling", "apply", "calling"),
            ("ringing", "apply", "ringing"), ("early", "apply", "early"),
            ("alerting", "apply", "alerting"), ("connected", "apply", "connected"),
            ("transferring", "apply", "transferring"),
            ("ending", "ignore", "ending"), ("outcome", "ignore", "outcome"), ("stopping", "ignore", "stopping"),
        ]
        self.check(rows) { $0.toggleMute() }
        self.check(rows) { $0.toggleVideo() }
    }

    func testWishesAreToggledAndKeptThroughTheCall() {
        var machine = States.machine(States.calling)
        XCTAssertEqual(machine.toggleMute(), .apply(Wishes(isMuted: true)))
        XCTAssertEqual(machine.toggleVideo(), .apply(Wishes(isMuted: true, isVideoOff: true)))
        _ = machine.progressed(States.handle, .ringing, now: States.now)
        XCTAssertEqual(
            machine.answered(States.handle, States.talk, now: States.now),
            .startMedia(Wishes(isMuted: true, isVideoOff: true)))
        XCTAssertEqual(machine.toggleMute(), .apply(Wishes(isVideoOff: true)))
        _ = machine.hangUp(now: States.now)
        _ = machine.ended(States.handle, .localHangUp, now: States.now)
        _ = machine.dial(States.order, now: States.now)
        XCTAssertEqual(machine.state.facts?.wishes, Wishes(), "the next caller starts afresh")
    }

    func testTerminateInEveryState() {
        self.check([
            ("idle", "exit", "idle"), ("lookingUp", "exit", "idle"), ("calling", "hangUp", "stopping"),
            ("ringing", "hangUp", "stopping"), ("early", "hangUp", "stopping"),
            ("alerting", "declineAndExit", "idle"), ("connected", "hangUp", "stopping"),
            ("transferring", "hangUp", "stopping"),
            ("ending", "wait", "stopping"), ("outcome", "exit", "outcome"), ("stopping", "wait", "stopping"),
        ]) { $0.terminate(now: States.now) }
    }

    func testTimeInEveryStateBeforeAndAtTheAlarm() {
        let alarms: [(name: String, timer: CallTimer?, afterMs: Int, action: String, after: String)] = [
            ("idle", nil, 0, "doNothing", "idle"), ("lookingUp", .lookUp, 10_000, "failed", "outcome"),
            ("calling", nil, 0, "doNothing", "calling"), ("ringing", .ring, 60_000, "failed", "outcome"),
            ("early", .ring, 60_000, "failed", "outcome"), ("alerting", .alert, 60_000, "decline", "outcome"),
            ("connected", .vanish, 10_000, "giveUp", "outcome"),
            ("transferring", .transfer, 60_000, "transferFailed", "connected"),
            ("ending", .ending, 2_000, "finish", "idle"), ("outcome", .outcome, 8_000, "dismiss", "idle"),
            ("stopping", .stop, 400, "exit", "idle"),
        ]
        XCTAssertEqual(alarms.map { $0.name }, States.all.map { $0.name })
        for (expected, given) in zip(alarms, States.all) {
            XCTAssertEqual(given.state.alarm?.timer, expected.timer, expected.name)
            var machine = States.machine(given.state)
            XCTAssertEqual(machine.timePassed(now: States.later(expected.afterMs - 1)), .doNothing, expected.name)
            XCTAssertEqual(machine.state, given.state)
            let action = machine.timePassed(now: States.later(expected.afterMs))
            XCTAssertEqual(Self.name(action), expected.action, expected.name)
            XCTAssertEqual(States.name(machine.state), expected.after, expected.name)
            XCTAssertEqual(machine.timePassed(now: States.later(expected.afterMs)), .doNothing, "fires once")
        }
    }

    func testTheRingAlarmStartsWithTheFirstSignOfLifeAndIsNotMovedByLaterOnes() {
        var machine = States.machine(States.calling)
        _ = machine.progressed(States.handle, .trying, now: States.now)
        XCTAssertEqual(machine.state.alarm, CallAlarm(timer: .ring, at: States.later(60_000)))
        _ = machine.progressed(States.handle, .ringing, now: States.later(5_000))
        _ = machine.progressed(States.handle, .media, now: States.later(9_000))
        XCTAssertEqual(machine.state.alarm, CallAlarm(timer: .ring, at: States.later(60_000)))
        XCTAssertEqual(States.name(machine.state), "early")
    }

    func testAFinishedCallHasTheOutcomeOfHowItWasFinished() {
        let cases: [(KioskState, CallOutcome)] = [
            (States.calling, .cancelled), (States.ringing, .cancelled), (States.early, .cancelled),
            (States.connected, .hungUp),
        ]
        for (state, outcome) in cases {
            var machine = States.machine(state)
            guard case .hangUp(_, let ended) = machine.hangUp(now: States.later(3_000)) else {
                return XCTFail("nothing to hang up")
            }
            XCTAssertEqual(ended.outcome, outcome)
            XCTAssertEqual(ended.length, outcome == .hungUp ? .seconds(3) : .zero)
            // Whatever the far end says now, it was ended here.
            let crossing = EndReason.refused(.busyHere, phrase: "", q850: nil)
            XCTAssertEqual(machine.ended(States.handle, crossing, now: States.later(3_100)), .finish(ended))
        }
    }

    func testDialWhileTheFormerCallEndsFinishesItFirst() {
        var machine = States.machine(States.ending)
        guard case .lookUp(let questions, let former) = machine.dial(States.order, now: States.now),
            let id = questions.first?.id
        else { return XCTFail("not dialled") }
        XCTAssertEqual(former, States.cancelled)
        XCTAssertEqual(machine.ended(States.handle, .localHangUp, now: States.now), .ignore, "it was told already")
        var targets = Targets(States.uri)
        targets.found([States.way])
        XCTAssertEqual(machine.resolved(id, [States.way], as: States.stranger, now: States.now), .invite(targets))
    }
}
