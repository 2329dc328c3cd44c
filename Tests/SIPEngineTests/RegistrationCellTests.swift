// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import SIPEngine

/// Every (state × input) cell of the machines of a registration and of its keep-alive.
final class RegistrationCellTests: XCTestCase {
    private enum Input {
        case register, granted, mayRetry, refused, failed
        case leave(isBound: Bool)
        case timer(SIPTimer)
    }

    private let states: [(name: String, state: RegistrationMachine.State)] = [
        ("idle", .idle), ("registering", .registering(isLeaving: false)),
        ("registeringToLeave", .registering(isLeaving: true)), ("registered", .registered), ("leaving", .leaving),
        ("ended", .ended),
    ]

    private func run(_ state: RegistrationMachine.State, _ input: Input) -> Outcome<RegistrationMachine.State> {
        var machine = RegistrationMachine(state: state)
        let action: String
        switch input {
        case .register: action = "\(machine.register(answerLimitMs: 1_000, now: .zero))"
        case .granted: action = "\(machine.granted(refreshMs: 1_000, now: .zero))"
        case .mayRetry: action = "\(machine.mayRetry())"
        case .refused: action = "\(machine.refused())"
        case .failed: action = "\(machine.failed())"
        case .leave(let isBound): action = "\(machine.leave(isBound: isBound, limitMs: 1_000, now: .zero))"
        case .timer(let timer): action = "\(machine.fired(timer, answerLimitMs: 1_000, now: .zero))"
        }
        return Outcome(action: action, state: machine.state, timers: machine.timers.running)
    }

    func testEveryCellOfTheRegistration() {
        let inputs: [(name: String, input: Input)] =
            [
                ("register", .register), ("granted", .granted), ("mayRetry", .mayRetry), ("refused", .refused),
                ("failed", .failed), ("leave", .leave(isBound: true)), ("leaveUnbound", .leave(isBound: false)),
            ] + SIPTimer.allCases.map { (name: "\($0)", input: Input.timer($0)) }
        var table = [
            "idle register": "send registering", "idle leave": "remove leaving", "idle leaveUnbound": "end ended",
            "registering granted": "tell registered", "registering mayRetry": "send registering",
            "registering refused": "tell idle", "registering failed": "tell idle",
            "registering leave": "wait registeringToLeave", "registering leaveUnbound": "wait registeringToLeave",
            "registering registration": "giveUp idle",
            "registeringToLeave granted": "remove leaving",
            "registered register": "send registering", "registered failed": "tell idle",
            "registered leave": "remove leaving", "registered leaveUnbound": "remove leaving",
            "registered registration": "refresh registering",
        ]
        for state in ["registeringToLeave", "leaving"] {
            for input in ["mayRetry", "refused", "failed", "registration"] { table["\(state) \(input)"] = "end ended" }
        }
        table["leaving granted"] = "end ended"
        let restarted = self.run(.registering(isLeaving: false), .register)
        XCTAssertEqual(restarted.action, "send")
        XCTAssertEqual(restarted.state, .registering(isLeaving: false))
        XCTAssertEqual(restarted.timers, [.registration])
        checkCells(
            states: self.states, inputs: inputs.filter { $0.name != "register" },
            table: table.filter {
                !$0.key.hasSuffix(" register")
            }, idle: ["ignore", "doNothing"],
            running: [
                "registering": [.registration], "registered": [.registration], "registeringToLeave": [.registration],
                "leaving": [.registration], "registeringToLeave granted": [],
            ], run: self.run)
        checkCells(
            states: self.states.filter { $0.name != "registering" }, inputs: [("register", .register)],
            table: ["idle register": "send another state: registering(isLeaving: false)"].merging([
                "registered register": "send another state: registering(isLeaving: false)"
            ]) { $1 }, idle: ["ignore"],
            running: ["another state: registering(isLeaving: false)": [.registration]], run: self.run)
    }

    func testDeadlineOfLeavingStaysWhereTheGrantComesFirst() {
        var machine = RegistrationMachine(state: .registering(isLeaving: false))
        _ = machine.leave(isBound: false, limitMs: 3_000, now: .zero)
        XCTAssertEqual(machine.granted(refreshMs: 60_000, now: .milliseconds(2_000)), .remove)
        XCTAssertEqual(machine.timers.deadline(of: .registration), .milliseconds(3_000))
    }

    // MARK: - Keep-alive

    private enum Heard {
        case heard
        case timer(SIPTimer, isAnswered: Bool)
    }

    func testEveryCellOfTheKeepAlive() {
        let inputs: [(name: String, input: Heard)] =
            [("heard", .heard)]
            + SIPTimer.allCases.flatMap { timer in
                [true, false].map { ("\(timer)\($0 ? "Answered" : "")", Heard.timer(timer, isAnswered: $0)) }
            }
        checkCells(
            states: [("quiet", KeepAliveMachine.State.quiet), ("waiting", .waiting), ("failed", .failed)],
            inputs: inputs.filter { $0.name != "ping" },
            table: [
                "quiet pingAnswered": "ping waiting", "waiting heard": "doNothing quiet",
                "waiting pong": "fail failed", "waiting pongAnswered": "fail failed",
            ], idle: ["doNothing"], running: ["waiting": [.pong], "quiet": [.ping]]
        ) { state, input in
            var machine = KeepAliveMachine(state: state)
            var action = "doNothing"
            switch input {
            case .heard: machine.heard(intervalMs: 1_000, now: .zero)
            case .timer(let timer, let isAnswered):
                action = "\(machine.fired(timer, isAnswered: isAnswered, intervalMs: 1_000, now: .zero))"
            }
            return Outcome(action: action, state: machine.state, timers: machine.timers.running)
        }
        // Without an answer to wait for, the next ping follows the last.
        var machine = KeepAliveMachine()
        XCTAssertEqual(machine.fired(.ping, isAnswered: false, intervalMs: 1_000, now: .zero), .ping)
        XCTAssertEqual(machine.timers.deadline(of: .ping), .milliseconds(1_000))
    }
}
