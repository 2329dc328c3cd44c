// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Every (state × input) cell of what several targets bring: targets at the same time, the pause between cycles, an
/// answer that is to be confirmed, and a call from outside that is announced.
final class KioskMachinePlanTests: XCTestCase {
    private typealias Cell = (input: String, action: String, after: String, run: (inout KioskMachine) -> Any)

    private static let now = States.now
    private static let other = CallHandle(number: 11)
    private static let desk = SIPURI(user: "desk", host: .name("b"))

    private static func facts(_ steps: [CallStep], confirms: Bool = false, cycles: Int = 1) -> CallFacts {
        var order = CallOrder(steps, ringTimeout: .seconds(60))
        order.cycles = cycles
        order.pause = .seconds(5)
        if confirms { order.confirmTimeout = .seconds(10) }
        var facts = States.facts
        facts.plan = CallPlan(order)
        facts.target = steps[0].targets[0]
        return facts
    }

    /// Two targets are called, and nobody rings yet.
    private static let forking: KioskState = {
        let both = CallStep([CallTarget(States.uri), CallTarget(desk)])
        let branch = CallBranch(
            target: CallTarget(desk), targets: Targets(desk), stage: .calling(other, hasRung: false))
        return .calling(
            KioskState.Outgoing(
                facts: facts([both]), targets: States.targets, handle: States.handle, deadline: nil, others: [branch]))
    }()

    /// The ways to the second are still being found.
    private static let searching: KioskState = {
        var state = forking
        state.others[0].stage = .lookingUp(ResolutionID(5))
        return state
    }()

    private static let pausing = KioskState.lookingUp(
        KioskState.LookingUp(
            facts: facts([CallStep(States.uri)]), targets: States.targets, resolution: ResolutionID(3),
            deadline: States.later(5_000), isPause: true))

    private static let confirming: KioskState = {
        var state = KioskState.Connected(
            facts: facts([CallStep(States.uri), CallStep(desk)], confirms: true), handle: States.handle,
            answered: now, shape: States.talk, patience: .seconds(60))
        state.confirmBy = States.later(10_000)
        return .connected(state)
    }()

    private static let announced = KioskState.alerting(
        KioskState.Alerting(
            facts: States.caller, handle: States.handle, deadline: States.later(60_000), answersAt: States.later(1_000))
    )

    private func check(_ state: KioskState, _ cells: [Cell], file: StaticString = #filePath, line: UInt = #line) {
        for cell in cells {
            var machine = States.machine(state)
            let action = KioskMachineTests.name(cell.run(&machine))
            XCTAssertEqual(action, cell.action, cell.input, file: file, line: line)
            XCTAssertEqual(States.name(machine.state), cell.after, "after \(cell.input)", file: file, line: line)
        }
    }

    private static let busy = EndReason.refused(.busyHere, phrase: "", q850: nil)

    // MARK: - At the same time

    func testTwoThatAreCalled() {
        let (handle, other, now) = (States.handle, Self.other, Self.now)
        self.check(
            Self.forking,
            [
                ("dial", "refuse", "calling", { $0.dial(States.order, now: now) }),
                ("hang up", "hangUp", "ending", { $0.hangUp(now: now) }),
                ("terminate", "hangUp", "stopping", { $0.terminate(now: now) }),
                ("mute", "apply", "calling", { $0.toggleMute() }),
                ("leader rings", "tell", "ringing", { $0.progressed(handle, .ringing, now: now) }),
                ("other tries", "ignore", "calling", { $0.progressed(other, .trying, now: now) }),
                ("other rings", "ignore", "calling", { $0.progressed(other, .ringing, now: now) }),
                ("leader answers", "startMedia", "connected", { $0.answered(handle, States.talk, now: now) }),
                ("other answers", "ignore", "calling", { $0.answered(other, States.talk, now: now) }),
                ("leader is busy", "failed", "calling", { $0.ended(handle, Self.busy, now: now) }),
                ("other is busy", "failed", "calling", { $0.ended(other, Self.busy, now: now) }),
                ("leader does not fit", "failed", "calling", { $0.failed(handle, .unusableMedia, now: now) }),
                ("other does not fit", "failed", "calling", { $0.failed(other, .unusableMedia, now: now) }),
                ("other offers anew", "refuse", "calling", { $0.reoffered(other) }),
                ("stranger ends", "ignore", "calling", { $0.ended(States.stranger, Self.busy, now: now) }),
                ("a call comes", "refuse", "calling", { $0.incoming(.ring, replaces: nil) }),
                ("time", "doNothing", "calling", { $0.timePassed(now: States.later(60_000)) }),
                ("picture", "doNothing", "calling", { $0.media(.firstFrameShown, now: now) }),
                ("key", "nil", "calling", { $0.confirmed() as Any }),
            ])
    }

    func testTwoOfWhomOneIsStillLookedFor() {
        let (now, other) = (Self.now, Self.other)
        let way = [States.way]
        self.check(
            Self.searching,
            [
                ("found", "inviteBeside", "calling", { $0.resolved(ResolutionID(5), way, as: other, now: now) }),
                ("not found", "failed", "calling", { $0.unresolved(ResolutionID(5), now: now) }),
                ("found of before", "ignore", "calling", { $0.resolved(ResolutionID(4), way, as: other, now: now) }),
                ("not found of before", "ignore", "calling", { $0.unresolved(ResolutionID(4), now: now) }),
                ("leader is busy", "failed", "lookingUp", { $0.ended(States.handle, Self.busy, now: now) }),
            ])
    }

    func testWhoMayLead() {
        var machine = States.machine(Self.forking)
        XCTAssertTrue(machine.mayLead(Self.other, .trying), "nobody else gave a sign of life")
        XCTAssertFalse(machine.mayLead(States.handle, .ringing), "it leads")
        XCTAssertFalse(machine.mayLead(States.stranger, .ringing))
        _ = machine.progressed(States.handle, .trying, now: Self.now)
        XCTAssertFalse(machine.mayLead(Self.other, .trying))
        XCTAssertTrue(machine.mayLead(Self.other, .ringing))
        _ = machine.progressed(States.handle, .ringing, now: Self.now)
        XCTAssertFalse(machine.mayLead(Self.other, .ringing), "the first that rings is told")
        for (name, state) in States.all {
            XCTAssertFalse(States.machine(state).mayLead(Self.other, .ringing), name)
        }
    }

    func testLeadInEveryStateAndDropOthers() {
        for (name, state) in States.all {
            var machine = States.machine(state)
            XCTAssertFalse(machine.lead(Self.other, now: Self.now), name)
            XCTAssertEqual(machine.dropOthers(), [], name)
            XCTAssertEqual(machine.state, state, name)
        }
        var machine = States.machine(Self.forking)
        XCTAssertTrue(machine.lead(Self.other, now: Self.now))
        XCTAssertEqual(machine.state.handle, Self.other)
        XCTAssertEqual(machine.state.facts?.peer, "sip:desk@b")
        XCTAssertEqual(machine.state.others.map { $0.handle }, [States.handle])
        XCTAssertEqual(machine.dropOthers(), [States.handle])
        XCTAssertEqual(machine.state.others, [])
    }

    func testRingingTogetherEndsTogether() {
        var machine = States.machine(Self.forking)
        _ = machine.progressed(States.handle, .ringing, now: Self.now)
        _ = machine.progressed(Self.other, .ringing, now: States.later(30_000))
        guard case .failed(let failed) = machine.timePassed(now: States.later(60_000)) else {
            return XCTFail("not given up")
        }
        XCTAssertEqual(failed.dropped, [States.handle, Self.other])
        XCTAssertEqual(failed.peers, ["sip:a@b", "sip:desk@b"])
    }

    // MARK: - The pause

    func testThePauseBetweenCycles() {
        let now = Self.now
        self.check(
            Self.pausing,
            [
                ("dial", "refuse", "lookingUp", { $0.dial(States.order, now: now) }),
                ("hang up", "finish", "idle", { $0.hangUp(now: now) }),
                ("terminate", "exit", "idle", { $0.terminate(now: now) }),
                ("mute", "apply", "lookingUp", { $0.toggleMute() }),
                (
                    "found of before", "ignore", "lookingUp",
                    { $0.resolved(ResolutionID(3), [States.way], as: States.handle, now: now) }
                ),
                ("not found of before", "ignore", "lookingUp", { $0.unresolved(ResolutionID(3), now: now) }),
                ("a call comes", "refuse", "lookingUp", { $0.incoming(.answer, replaces: nil) }),
                ("too early", "doNothing", "lookingUp", { $0.timePassed(now: States.later(4_999)) }),
                ("over", "step", "lookingUp", { $0.timePassed(now: States.later(5_000)) }),
            ])
        var machine = States.machine(Self.pausing)
        _ = machine.timePassed(now: States.later(5_000))
        XCTAssertEqual(machine.state.text, "dialling")
    }

    // MARK: - Whether it is a human

    func testAnAnswerThatIsToBeConfirmed() {
        let (handle, now) = (States.handle, Self.now)
        self.check(
            Self.confirming,
            [
                ("dial", "refuse", "connected", { $0.dial(States.order, now: now) }),
                ("key", "Optional", "connected", { $0.confirmed() as Any }),
                ("hang up", "hangUp", "ending", { $0.hangUp(now: now) }),
                ("terminate", "hangUp", "stopping", { $0.terminate(now: now) }),
                ("mute", "apply", "connected", { $0.toggleMute() }),
                ("hold", "busy", "connected", { $0.change(.hold) }),
                (
                    "it hangs up", "failed", "lookingUp",
                    { $0.ended(handle, .remoteHangUp(cause: nil, q850: nil, text: ""), now: now) }
                ),
                ("it does not fit", "failed", "lookingUp", { $0.failed(handle, .notPrivate, now: now) }),
                ("it changes the session", "negotiate", "connected", { $0.reoffered(handle) }),
                ("sound", "firstSound", "connected", { $0.media(.firstSoundPlayed, now: now) }),
                ("a call comes", "refuse", "connected", { $0.incoming(.ring, replaces: nil) }),
                ("too early", "doNothing", "connected", { $0.timePassed(now: States.later(9_999)) }),
                ("no key", "failed", "lookingUp", { $0.timePassed(now: States.later(10_000)) }),
            ])
    }

    func testAKeyConfirmsInNoOtherState() {
        for (name, state) in States.all {
            var machine = States.machine(state)
            XCTAssertNil(machine.confirmed(), name)
            XCTAssertEqual(machine.state, state, name)
        }
    }

    func testWhoeverPutThemselvesInThePlaceOfTheFarEndHasThePlanNoMore() {
        var machine = States.machine(Self.confirming)
        _ = machine.confirmed()
        XCTAssertEqual(machine.state.facts?.plan, CallPlan())
        guard
            case .finish(let ended) = machine.ended(
                States.handle, .remoteHangUp(cause: nil, q850: nil, text: ""), now: States.later(60_000))
        else { return XCTFail("a call that was answered is over when it is over") }
        XCTAssertEqual(ended.outcome, .remoteHungUp)
    }

    // MARK: - Announced

    func testACallFromOutsideThatIsAnnounced() {
        let (handle, now) = (States.handle, Self.now)
        self.check(
            Self.announced,
            [
                ("the person answers", "answer", "alerting", { $0.pickUp() }),
                ("the person declines", "decline", "idle", { $0.hangUp(now: now) }),
                ("the caller gives up", "finish", "outcome", { $0.ended(handle, .cancelled, now: now) }),
                ("another call", "refuse", "alerting", { $0.incoming(.answer, replaces: nil) }),
                ("too early", "doNothing", "alerting", { $0.timePassed(now: States.later(999)) }),
                ("announced for long enough", "answer", "alerting", { $0.timePassed(now: States.later(1_000)) }),
                ("terminate", "declineAndExit", "idle", { $0.terminate(now: now) }),
            ])
    }
}
