// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Every (state × input) cell of a call.
final class CallMachineCellTests: XCTestCase {
    private typealias State = CallMachine.State

    private enum Input {
        case provisional
        case success(isDescribed: Bool)
        case failure
        case hangUp
        case respond(Int)
        case acknowledge
        case bye
        case cancel
        case reoffer(CallMachine.Reoffer, owesAnswer: Bool)
        case byeFinished
        case forsake
        case timer(SIPTimer)
    }

    private static let told = HangUpReason.fault(.requestTimeout, text: "silence")
    private static let ours = CallMachine.Farewell(reason: .localHangUp, told: told)
    private static let given = CallMachine.Farewell(reason: .cancelled, told: told)
    private static let gone = EndReason.remoteHangUp(cause: nil, q850: nil, text: "bye")
    private static let busy = EndReason.refused(.busyHere, phrase: "Busy", q850: nil)

    private let states: [(name: String, state: CallMachine.State)] = [
        ("calling", .calling), ("proceeding", .proceeding), ("cancelHeld", .cancelHeld(given)),
        ("cancelling", .cancelling(given)), ("offered", .offered), ("accepted", .accepted(retransmitMs: 500)),
        ("acceptedLater", .accepted(retransmitMs: 1000)), ("closing", .closing(ours, retransmitMs: 500)),
        ("closingLater", .closing(ours, retransmitMs: 1000)), ("connected", .connected),
        ("decidingInvite", .deciding(.invite)), ("decidingUpdate", .deciding(.update)),
        ("reaccepted", .reaccepted(retransmitMs: 500)), ("reacceptedLater", .reaccepted(retransmitMs: 1000)),
        ("ending", .ending(ours)), ("ended", .ended),
        // Where the others lead to, with other words for their end.
        ("endingGiven", .ending(given)), ("cancellingGone", .cancelling(.init(reason: gone, told: .normal))),
        (
            "endingLimit",
            .ending(.init(reason: .timedOut, told: .fault(.requestTimeout, text: "no ACK")))
        ),
        (
            "endingFault",
            .ending(
                .init(
                    reason: .protocolFault("the answer describes no session"),
                    told: .fault(.notAcceptableHere, text: "the answer describes no session")))
        ),
    ]

    private let inputs: [(name: String, input: Input)] =
        [
            ("1xx", .provisional), ("2xx", .success(isDescribed: true)), ("2xx-mute", .success(isDescribed: false)),
            ("fails", .failure), ("hangUp", .hangUp), ("says-180", .respond(180)), ("says-200", .respond(200)),
            ("says-486", .respond(486)), ("ack", .acknowledge), ("bye", .bye), ("cancel", .cancel),
            ("reinvite", .reoffer(.invite, owesAnswer: false)), ("reinvite-owed", .reoffer(.invite, owesAnswer: true)),
            ("update", .reoffer(.update, owesAnswer: false)), ("update-owed", .reoffer(.update, owesAnswer: true)),
            ("byeFinished", .byeFinished), ("forsake", .forsake),
        ] + SIPTimer.allCases.map { ("\($0)", .timer($0)) }

    private func run(_ state: State, _ input: Input) -> Outcome<State> {
        var machine = CallMachine(.udp, state: state)
        let action: String
        switch input {
        case .provisional: action = "\(machine.receivedProvisional(now: .zero))"
        case .success(let isDescribed): action = "\(machine.receivedSuccess(isDescribed: isDescribed))"
        case .failure: action = "\(machine.receivedFailure(Self.busy))"
        case .hangUp: action = "\(machine.hangUp(Self.told, now: .zero))"
        case .respond(let code): action = "\(machine.respond(StatusCode(code), now: .zero))"
        case .acknowledge: action = "\(machine.receivedAcknowledge())"
        case .bye: action = "\(machine.receivedBye(Self.gone, now: .zero))"
        case .cancel: action = "\(machine.receivedCancel())"
        case .reoffer(let kind, let owesAnswer):
            action = "\(machine.receivedReoffer(kind, owesAnswer: owesAnswer, now: .zero))"
        case .byeFinished: action = "\(machine.byeFinished())"
        case .forsake: action = "\(machine.forsake())"
        case .timer(let timer): action = "\(machine.fired(timer, now: .zero))"
        }
        return Outcome(
            action: String(action.prefix { $0 != "(" }), state: machine.state, timers: machine.timers.running)
    }

    /// Columns in the order of `states` without the last four; `-` where nothing happens.
    private func table(_ lines: [String: [String]]) -> [String: String] {
        var table: [String: String] = [:]
        for (input, cells) in lines {
            XCTAssertEqual(cells.count, 16, input)
            for (state, cell) in zip(self.states, cells) where cell != "-" { table["\(state.name) \(input)"] = cell }
        }
        return table
    }

    func testEveryCell() {
        let stray = "acknowledgeAndDiscard "
        func same(_ action: String, from first: Int = 0) -> [String] {
            self.states[first..<16].map { "\(action) \($0.name)" }
        }
        let dash = { (count: Int) in Array(repeating: "-", count: count) }
        let lines: [String: [String]] = [
            "1xx": ["report proceeding", "report proceeding", "sendCancel cancelling"] + dash(13),
            "2xx": [
                "acknowledgeAndReport connected", "acknowledgeAndReport connected", "acknowledgeAndHangUp endingGiven",
                "acknowledgeAndHangUp endingGiven",
            ] + same(stray.trimmingCharacters(in: .whitespaces), from: 4),
            "2xx-mute": [
                "acknowledgeAndHangUp endingFault", "acknowledgeAndHangUp endingFault",
                "acknowledgeAndHangUp endingGiven", "acknowledgeAndHangUp endingGiven",
            ] + same("acknowledgeAndDiscard", from: 4),
            "fails": Array(repeating: "end ended", count: 4) + dash(12),
            "hangUp": [
                "doNothing cancelHeld", "sendCancel cancelling", "-", "-", "refuse ended", "doNothing closing",
                "doNothing closingLater", "-", "-", "sendBye ending", "refuseOfferAndSendBye ending",
                "refuseOfferAndSendBye ending", "sendBye ending", "sendBye ending", "-", "-",
            ],
            "says-180": dash(4) + ["send offered"] + dash(5) + ["send decidingInvite", "send decidingUpdate"] + dash(4),
            "says-200": dash(4) + ["sendUntilAcknowledged accepted"] + dash(5)
                + ["sendUntilAcknowledged reaccepted", "send connected"] + dash(4),
            "says-486": dash(4) + ["sendAndEnd ended"] + dash(5) + ["send connected", "send connected"] + dash(4),
            "ack": dash(5) + [
                "report connected", "report connected", "sendBye ending", "sendBye ending", "-", "-", "-",
                "report connected", "report connected", "-", "-",
            ],
            "bye": [
                "-", "sendCancel cancellingGone", "-", "-", "refuseAndEnd ended", "end ended", "end ended", "end ended",
                "end ended", "end ended", "refuseAndEnd ended", "refuseAndEnd ended", "end ended", "end ended",
                "end ended", "-",
            ],
            "cancel": dash(4) + ["refuseAndEnd ended"] + dash(5) + ["refuse connected"] + dash(5),
            "reinvite": self.reoffers("decidingInvite", owed: false),
            "reinvite-owed": self.reoffers("decidingInvite", owed: true),
            "update": self.reoffers("decidingUpdate", owed: false),
            "update-owed": self.reoffers("decidingUpdate", owed: true),
            "byeFinished": dash(14) + ["end ended", "-"],
            "forsake": ["-", "-", "end ended", "end ended", "-", "-", "-", "end ended", "end ended"] + dash(5)
                + ["end ended", "-"],
            "accept": dash(5) + [
                "sendAcceptAgain acceptedLater", "sendAcceptAgain another state: accepted(retransmitMs: 2000)",
                "sendAcceptAgain closingLater", self.closingLast, "-", "-", "-",
                "sendAcceptAgain reacceptedLater", "sendAcceptAgain another state: reaccepted(retransmitMs: 2000)", "-",
                "-",
            ],
            "acceptLimit": dash(5) + [
                "sendBye endingLimit", "sendBye endingLimit", "sendBye ending", "sendBye ending", "-", "-", "-",
                "sendBye endingLimit", "sendBye endingLimit", "-", "-",
            ],
            "cancelLimit": dash(3) + ["abandonAndEnd ended"] + dash(12),
            "decision": dash(4) + ["refuseAndEnd ended"] + dash(5) + ["refuse connected", "refuse connected"] + dash(4),
        ]
        checkCells(
            states: self.states, inputs: self.inputs, table: self.table(lines).merging(self.endings) { $1 },
            idle: ["ignore", "doNothing", "keep"], running: self.running, run: self.run)
    }

    private var closingLast: String {
        "sendAcceptAgain another state: \(State.closing(Self.ours, retransmitMs: 2000))"
    }

    private func reoffers(_ deciding: String, owed: Bool) -> [String] {
        let implied = owed ? "refuse accepted" : "reportAcknowledgeFirst \(deciding)"
        let impliedLater = owed ? "refuse acceptedLater" : "reportAcknowledgeFirst \(deciding)"
        let reimplied = owed ? "refuse reaccepted" : "reportAcknowledgeFirst \(deciding)"
        let reimpliedLater = owed ? "refuse reacceptedLater" : "reportAcknowledgeFirst \(deciding)"
        return [
            "refuse calling", "refuse proceeding", "refuse cancelHeld", "refuse cancelling", "refuseForNow offered",
            implied, impliedLater, "refuseAndSendBye ending", "refuseAndSendBye ending", "report \(deciding)",
            "refuseForNow decidingInvite", "refuseForNow decidingUpdate", reimplied, reimpliedLater, "refuse ending",
            "refuse ended",
        ]
    }

    /// The last four states behave as their kind does.
    private var endings: [String: String] {
        var table: [String: String] = [:]
        for name in ["endingGiven", "endingLimit", "endingFault"] {
            table["\(name) 2xx"] = "acknowledgeAndDiscard \(name)"
            table["\(name) 2xx-mute"] = "acknowledgeAndDiscard \(name)"
            for input in ["bye", "byeFinished", "forsake"] { table["\(name) \(input)"] = "end ended" }
            for input in ["reinvite", "reinvite-owed", "update", "update-owed"] {
                table["\(name) \(input)"] = "refuse \(name)"
            }
        }
        let late = "cancellingGone"
        let lateEnding = State.ending(.init(reason: Self.gone, told: .normal))
        table["\(late) 2xx"] = "acknowledgeAndHangUp another state: \(lateEnding)"
        table["\(late) 2xx-mute"] = table["\(late) 2xx"]
        table["\(late) fails"] = "end ended"
        table["\(late) forsake"] = "end ended"
        table["\(late) cancelLimit"] = "abandonAndEnd ended"
        for input in ["reinvite", "reinvite-owed", "update", "update-owed"] {
            table["\(late) \(input)"] = "refuse \(late)"
        }
        return table
    }

    private var running: [String: Set<SIPTimer>] {
        let waiting: Set<SIPTimer> = [.accept, .acceptLimit]
        return [
            "cancelling": [.cancelLimit], "cancellingGone": [.cancelLimit], "accepted": waiting, "reaccepted": waiting,
            "decidingInvite": [.decision], "decidingUpdate": [.decision],
            // Entered from a state that runs both; a machine put there by a test runs only what it sets itself.
            "acceptedLater hangUp": [],
            "acceptedLater": [.accept], "closingLater": [.accept], "reacceptedLater": [.accept],
            "another state: accepted(retransmitMs: 2000)": [.accept],
            "another state: reaccepted(retransmitMs: 2000)": [.accept],
            "another state: \(State.closing(Self.ours, retransmitMs: 2000))": [.accept],
        ]
    }

    func testEndReasonsAreThoseThatWereDecidedWhenTheCallBeganToEnd() {
        var machine = CallMachine(.udp, state: .cancelling(Self.given))
        XCTAssertEqual(machine.receivedFailure(.refused(.busyHere, phrase: "", q850: nil)), .end(.cancelled))
        machine = CallMachine(.udp, state: .proceeding)
        XCTAssertEqual(machine.receivedFailure(.timedOut), .end(.timedOut))
        machine = CallMachine(.udp, state: .ending(Self.ours))
        XCTAssertEqual(machine.receivedBye(Self.gone, now: .zero), .end(.localHangUp))
        machine = CallMachine(.udp, state: .connected)
        XCTAssertEqual(machine.receivedBye(Self.gone, now: .zero), .end(Self.gone))
    }

    func testHangUpKeepsTheAcceptTimersRunningUntilTheAcknowledge() {
        var machine = CallMachine(.udp, state: .offered)
        XCTAssertEqual(machine.respond(.ok, now: .zero), .sendUntilAcknowledged)
        XCTAssertEqual(machine.hangUp(.normal, now: .zero), .doNothing)
        XCTAssertEqual(machine.timers.running, [.accept, .acceptLimit])
        XCTAssertEqual(machine.receivedAcknowledge(), .sendBye(.normal))
        XCTAssertEqual(machine.timers.running, [])
    }
}
