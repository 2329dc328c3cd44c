// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// A press goes on by the next server where the first one is of no use.
final class FailOverTests: XCTestCase {
    // MARK: - Cells

    private func targets(_ ways: UInt32...) -> Targets {
        var targets = Targets(States.uri)
        targets.found(ways.map { States.way($0) })
        return targets
    }

    private func outgoing(_ ways: Targets) -> KioskState.Outgoing {
        KioskState.Outgoing(facts: States.facts, targets: ways, handle: States.handle, deadline: nil)
    }

    /// The states in which a server can be left, with two ways.
    private var leaving: [(name: String, state: KioskState)] {
        let early = KioskState.Early(
            facts: States.facts, targets: self.targets(1, 2), handle: States.handle, deadline: States.later(60_000),
            hasRung: false)
        return [
            ("calling", .calling(self.outgoing(self.targets(1, 2)))),
            ("ringing", .ringing(self.outgoing(self.targets(1, 2)))), ("early", .early(early)),
        ]
    }

    private func refused(_ code: Int) -> EndReason {
        .refused(StatusCode(code), phrase: "", q850: nil)
    }

    func testWhatSaysSomethingAboutTheServerLeadsToTheNextInEveryState() {
        for (name, state) in self.leaving {
            for reason in [EndReason.timedOut, .flowFailed, self.refused(503), self.refused(500)] {
                var machine = States.machine(state)
                guard case .failOver(let id) = machine.ended(States.handle, reason, now: States.now),
                    case .lookingUp(let after) = machine.state
                else { return XCTFail("\(name): \(reason)") }
                XCTAssertEqual(after.targets.ways, [States.way(2)])
                XCTAssertEqual(after.resolution, id)
                let action = machine.resolved(id, nil, as: States.successor, now: States.now)
                XCTAssertEqual(action, .invite(self.targets(2)))
                let end = machine.ended(States.successor, reason, now: States.now)
                XCTAssertEqual(KioskMachineTests.name(end), "failed", "no third way")
            }
        }
    }

    func testWhatSaysSomethingAboutTheCalledPersonDoesNot() {
        let reasons: [EndReason] = [
            self.refused(486), self.refused(404), self.refused(480), self.refused(401),
            self.refused(600), self.refused(603), self.refused(501), .cancelled, .localHangUp, .replaced,
            .protocolFault("x"), .tooManyCalls, .redirected(StatusCode(302), []),
            .remoteHangUp(cause: nil, q850: nil, text: ""),
        ]
        for (name, state) in self.leaving {
            for reason in reasons {
                var machine = States.machine(state)
                let action = machine.ended(States.handle, reason, now: States.now)
                XCTAssertEqual(KioskMachineTests.name(action), "failed", "\(name): \(reason)")
            }
        }
    }

    func testAServerThatHeardFromNobodyIsLeftOnlyWhereNobodyRang() {
        for (name, state) in self.leaving {
            var machine = States.machine(state)
            let action = machine.ended(States.handle, self.refused(408), now: States.now)
            XCTAssertEqual(KioskMachineTests.name(action), name == "calling" ? "failOver" : "failed", name)
        }
    }

    func testAServerHasTwoSecondsForItsFirstSignOnlyWhereThereIsAnother() {
        for (ways, expected) in [(self.targets(1, 2), 2_000), (self.targets(1), nil)] as [(Targets, Int?)] {
            var machine = States.machine(States.lookingUp)
            _ = machine.resolved(ResolutionID(3), ways.ways, as: States.handle, now: States.now)
            XCTAssertEqual(machine.state.alarm, expected.map { CallAlarm(timer: .way, at: States.later($0)) })
            XCTAssertEqual(machine.state.way, States.way(1))
        }
    }

    func testAnySignStopsThatClock() {
        for progress in [KioskMachine.Progress.trying, .ringing, .forwarded, .queued, .media] {
            var machine = States.machine(States.lookingUp)
            let ways = self.targets(1, 2).ways
            _ = machine.resolved(ResolutionID(3), ways, as: States.handle, now: States.now)
            _ = machine.progressed(States.handle, progress, now: States.later(1_999))
            XCTAssertEqual(machine.state.alarm, CallAlarm(timer: .ring, at: States.later(61_999)))
        }
    }

    func testTheTimeToRingOfAPressComesFirstWhereItIsSooner() {
        var call = self.outgoing(self.targets(1, 2))
        call.wayDeadline = States.later(2_000)
        call.deadline = States.later(1_000)
        var machine = States.machine(.calling(call))
        XCTAssertEqual(machine.state.alarm, CallAlarm(timer: .ring, at: States.later(1_000)))
        XCTAssertEqual(KioskMachineTests.name(machine.timePassed(now: States.later(1_000))), "failed")
    }

    // MARK: - Whole calls

    private static let other = IPAddress.v4(0x0A00_0008)
    private static let third = IPAddress.v4(0x0A00_0009)

    /// A kiosk whose server's name has a first address that is not the far end's.
    private func scene(_ first: [IPAddress] = [other]) -> Scene {
        let scene = Scene(resolver: .isSilent)
        scene.addresses = first + [Scene.farAddress.address]
        scene.dead = first
        scene.resolver = .answers
        scene.resolves(to: scene.addresses)
        return scene
    }

    /// To whom INVITEs were sent, copies left out.
    private func invited(_ scene: Scene) -> [String] {
        scene.outputs.reduce(into: []) { list, output in
            guard case .send(let bytes, let flow) = output, bytes.starts(with: Array("INVITE".utf8)) else { return }
            let address = flow.remote.address.text.string
            if !list.contains(address) { list.append(address) }
        }
    }

    func testASilentServerIsLeftAfterTwoSecondsAndTheNextRings() {
        let scene = self.scene()
        scene.press(.call)
        scene.pass(1_990)
        XCTAssertEqual(scene.state, "calling")
        scene.pass(20)
        scene.farAnswers(.ringing)
        XCTAssertEqual(scene.state, "ringing")
        XCTAssertEqual(self.invited(scene), ["10.0.0.8", "10.0.0.1"])
        XCTAssertEqual(scene.events("failover").first?["from"] as? String, "udp:10.0.0.8:5060")
        XCTAssertEqual(scene.events("failover").first?["to"] as? String, "udp:10.0.0.1:5060")
        XCTAssertEqual(scene.callStates, ["dialling", "ringing"], "the person notices nothing")
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected")
    }

    func testWithTwoSilentServersTheThirdStillRingsWithinFiveSeconds() {
        let scene = self.scene([Self.other, Self.third])
        scene.press(.call)
        scene.pass(4_100)
        scene.farAnswers(.ringing)
        XCTAssertEqual(scene.state, "ringing")
        XCTAssertEqual(self.invited(scene), ["10.0.0.8", "10.0.0.9", "10.0.0.1"])
    }

    func testTheNextPressGoesToTheGoodOneAtOnceAndTheBadOneIsTriedLast() {
        let scene = self.scene()
        scene.press(.call)
        scene.pass(2_100)
        scene.farAnswers(.busyHere, [])
        scene.forget()
        scene.press(.call)
        XCTAssertEqual(self.invited(scene), ["10.0.0.1"])
        scene.sipTells(.ended(self.refused(503)), of: scene.handle)
        XCTAssertEqual(self.invited(scene), ["10.0.0.1", "10.0.0.8"], "never left out")
    }

    func testAServerThatRefusesItsTransportIsLeftAtOnce() {
        let scene = self.scene()
        scene.press(.call)
        let flow = Flow(
            transport: .udp, local: Scene.kioskAddress, remote: SocketAddress(Self.other, port: 5060))
        scene.feed(.flowFailed(flow))
        scene.farAnswers(.ringing)
        XCTAssertEqual(scene.state, "ringing")
    }

    func testTheLastServerHasAllTheTimeThereIs() {
        let scene = self.scene()
        scene.dead.append(Scene.farAddress.address)
        scene.press(.call)
        scene.pass(2_000 + 31_900)
        XCTAssertEqual(scene.state, "calling")
        scene.pass(200)
        XCTAssertEqual(scene.endReason, "no-response")
    }

    func testAServerThatWakesUpLateIsNotLeftInACallThatNobodyHolds() {
        let scene = self.scene()
        scene.press(.call)
        scene.pass(2_100)
        scene.farAnswers(.ringing)
        let call = scene.atFar
        // Its copies of the INVITE arrive now.
        scene.dead = []
        scene.pass(2_000)
        XCTAssertNotEqual(scene.atFar, call, "it was reached after all")
        XCTAssertEqual(scene.farEnd(of: scene.atFar), .cancelled)
        XCTAssertNil(scene.farEnd(of: call))
        XCTAssertEqual(scene.state, "ringing")
    }

    func testAPressThatIsTakenBackMeanwhileIsOver() {
        let scene = self.scene()
        scene.press(.call)
        scene.pass(1_000)
        scene.press(.hook)
        scene.pass(5_000)
        XCTAssertEqual(scene.endReason, "cancelled")
        XCTAssertEqual(self.invited(scene), ["10.0.0.8"])
    }

    func testWithoutARouteToItAnAddressIsLeftOut() {
        let scene = self.scene([Self.other, Self.third])
        scene.unreachable = [Self.other]
        scene.press(.call)
        XCTAssertEqual(self.invited(scene), ["10.0.0.9"])
        scene.press(.hook)
        scene.pass(3_000)
        scene.unreachable = scene.addresses
        scene.press(.call)
        XCTAssertEqual(scene.endReason, "unknown-host")
        XCTAssertEqual(scene.events("call").last?["phrase"] as? String, "there is no network route to 10.0.0.8")
    }
}
