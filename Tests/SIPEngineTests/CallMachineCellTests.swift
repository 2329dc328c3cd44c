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
        case success(CallMachine.Content)
        case failure
        case retry
        case hangUp
        case replaced
        case respond(Int)
        case answered
        case acknowledge
        case bye
        case cancel
        case reoffer(CallMachine.Reoffer, owesAnswer: Bool)
        case change
        case changeFinished
        case drop
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
        ("calling", .calling), ("proceeding", .proceeding), ("decidingEarly", .decidingEarly),
        ("cancelHeld", .cancelHeld(given)), ("cancelling", .cancelling(given)), ("offered", .offered),
        ("accepted", .accepted(retransmitMs: 500)), ("acceptedLater", .accepted(retransmitMs: 1000)),
        ("closing", .closing(ours, retransmitMs: 500)), ("closingLater", .closing(ours, retransmitMs: 1000)),
        ("answering", .answering), ("connected", .connected), ("changing", .changing),
        ("decidingInvite", .deciding(.invite)), ("decidingUpdate", .deciding(.update)),
        ("reaccepted", .reaccepted(retransmitMs: 500)), ("reacceptedLater", .reaccepted(retransmitMs: 1000)),
        ("ending", .ending(ours)), ("ended", .ended),
    ]

    private let inputs: [(name: String, input: Input)] =
        [
            ("1xx", .provisional), ("2xx", .success(.answer)), ("2xx-offer", .success(.offer)),
            ("2xx-mute", .success(.nothing)), ("fails", .failure), ("retry", .retry), ("hangUp", .hangUp),
            ("replaced", .replaced), ("says-180", .respond(180)), ("says-200", .respond(200)),
            ("says-486", .respond(486)), ("answers", .answered), ("ack", .acknowledge), ("bye", .bye),
            ("cancel", .cancel), ("reinvite", .reoffer(.invite, owesAnswer: false)),
            ("reinvite-owed", .reoffer(.invite, owesAnswer: true)),
            ("update", .reoffer(.update, owesAnswer: false)), ("update-owed", .reoffer(.update, owesAnswer: true)),
            ("change", .change), ("changeFinished", .changeFinished), ("drop", .drop),
            ("byeFinished", .byeFinished), ("forsake", .forsake),
        ] + SIPTimer.allCases.map { ("\($0)", .timer($0)) }

    private func run(_ state: State, _ input: Input) -> Outcome<State> {
        var machine = CallMachine(.udp, state: state)
        let action: String
        switch input {
        case .provisional: action = "\(machine.receivedProvisional(now: .zero))"
        case .success(let content): action = "\(machine.receivedSuccess(content, now: .zero))"
        case .failure: action = "\(machine.receivedFailure(Self.busy))"
        case .retry: action = "\(machine.retry())"
        case .hangUp: action = "\(machine.hangUp(Self.told, now: .zero))"
        case .replaced: action = "\(machine.hangUp(Self.told, as: .replaced, now: .zero))"
        case .respond(let code): action = "\(machine.respond(StatusCode(code), now: .zero))"
        case .answered: action = "\(machine.answered())"
        case .acknowledge: action = "\(machine.receivedAcknowledge())"
        case .bye: action = "\(machine.receivedBye(Self.gone, now: .zero))"
        case .cancel: action = "\(machine.receivedCancel())"
        case .reoffer(let kind, let owesAnswer):
            action = "\(machine.receivedReoffer(kind, owesAnswer: owesAnswer, now: .zero))"
        case .change: action = "\(machine.change(now: .zero))"
        case .changeFinished: action = "\(machine.changeFinished())"
        case .drop: action = "\(machine.drop())"
        case .byeFinished: action = "\(machine.byeFinished())"
        case .forsake: action = "\(machine.forsake())"
        case .timer(let timer): action = "\(machine.fired(timer, now: .zero))"
        }
        return Outcome(
            action: String(action.prefix { $0 != "(" }), state: machine.state, timers: machine.timers.running)
    }

    /// One column for each of `states`; `-` where nothing happens. A next state without an entry in `states` is written
    /// as its value.
    private func table(_ lines: [String: [String]]) -> [String: String] {
        var table: [String: String] = [:]
        for (input, cells) in lines {
            XCTAssertEqual(cells.count, self.states.count, input)
            for (state, cell) in zip(self.states, cells) where cell != "-" { table["\(state.name) \(input)"] = cell }
        }
        return table
    }

    private func dash(_ count: Int) -> [String] { Array(repeating: "-", count: count) }

    /// The same action in each state from the given one on, and no change.
    private func same(_ action: String, from first: Int) -> [String] {
        self.states[first...].map { "\(action) \($0.name)" }
    }

    /// A next state that no row of `states` is.
    private func other(_ state: State) -> String { "another state: \(state)" }

    func testEveryCell() {
        let lines = self.answerLines.merging(self.userLines) { $1 }.merging(self.peerLines) { $1 }
            .merging(self.timerLines) { $1 }
        checkCells(
            states: self.states, inputs: self.inputs, table: self.table(lines),
            idle: ["ignore", "doNothing", "keep", "giveUp", "wait"], running: self.running, run: self.run)
    }

    // MARK: - The table

    private var endingGiven: String { self.other(.ending(Self.given)) }

    private var answerLines: [String: [String]] {
        let fault = "the answer describes no session" as ByteString
        let mute = self.other(
            .ending(.init(reason: .protocolFault(fault), told: .fault(.notAcceptableHere, text: fault))))
        let crossed = Array(repeating: "acknowledgeAndHangUp \(self.endingGiven)", count: 2)
        let stray = self.same("acknowledgeAndDiscard", from: 5)
        func success(_ outcome: String) -> [String] { Array(repeating: outcome, count: 3) + crossed + stray }
        return [
            "1xx": ["report proceeding", "report proceeding", "report decidingEarly", "sendCancel cancelling"]
                + self.dash(15),
            "2xx": success("acknowledgeAndReport connected"),
            "2xx-offer": success("reportOffer answering"),
            "2xx-mute": success("acknowledgeAndHangUp \(mute)"),
            "fails": Array(repeating: "end ended", count: 5) + self.dash(14),
            "retry": Array(repeating: "send calling", count: 3) + self.dash(16),
        ]
    }

    private var userLines: [String: [String]] {
        func hangUps(
            _ held: String, _ cancelling: String, _ closing: String, _ closingLater: String, _ ending: String
        ) -> [String] {
            [
                "doNothing \(held)", "sendCancel \(cancelling)", "refuseOfferAndSendCancel \(cancelling)", "-", "-",
                "refuse ended", "doNothing \(closing)", "doNothing \(closingLater)", "-", "-",
                "acknowledgeAndSendBye \(ending)", "sendBye \(ending)", "sendBye \(ending)",
                "refuseOfferAndSendBye \(ending)", "refuseOfferAndSendBye \(ending)", "sendBye \(ending)",
                "sendBye \(ending)", "-", "-",
            ]
        }
        let taken = CallMachine.Farewell(reason: .replaced, told: Self.told)
        return [
            "hangUp": hangUps("cancelHeld", "cancelling", "closing", "closingLater", "ending"),
            "replaced": hangUps(
                self.other(.cancelHeld(taken)), self.other(.cancelling(taken)),
                self.other(.closing(taken, retransmitMs: 500)), self.other(.closing(taken, retransmitMs: 1000)),
                self.other(.ending(taken))),
            "says-180": self.dash(2) + ["send decidingEarly", "-", "-", "send offered"] + self.dash(7)
                + ["send decidingInvite", "send decidingUpdate"] + self.dash(4),
            "says-200": self.dash(2) + ["send proceeding", "-", "-", "sendUntilAcknowledged accepted"] + self.dash(7)
                + ["sendUntilAcknowledged reaccepted", "send connected"] + self.dash(4),
            "says-486": self.dash(2) + ["send proceeding", "-", "-", "sendAndEnd ended"] + self.dash(7)
                + ["send connected", "send connected"] + self.dash(4),
            "answers": self.dash(10) + ["acknowledge connected"] + self.dash(8),
            "change": self.dash(11) + ["send changing"] + self.dash(7),
            "changeFinished": self.dash(12) + ["report connected"] + self.dash(6),
            "drop": self.dash(11) + [
                "sendBye ended", "sendBye ended", "refuseOfferAndSendBye ended", "refuseOfferAndSendBye ended",
                "sendBye ended", "sendBye ended", "-", "-",
            ],
            "forsake": self.dash(3) + ["end ended", "end ended", "-", "-", "-", "end ended", "end ended"]
                + self.dash(7) + ["end ended", "-"],
        ]
    }

    private var peerLines: [String: [String]] {
        let left = "sendCancel \(self.other(.cancelling(.init(reason: Self.gone, told: .normal))))"
        return [
            "ack": self.dash(6) + ["report connected", "report connected", "sendBye ending", "sendBye ending"]
                + self.dash(5) + ["report connected", "report connected", "-", "-"],
            "bye": [
                "-", left, left, "-", "-", "refuseAndEnd ended", "end ended", "end ended", "end ended", "end ended",
                "acknowledgeAndEnd ended", "end ended", "end ended", "refuseAndEnd ended", "refuseAndEnd ended",
                "end ended", "end ended", "end ended", "-",
            ],
            "cancel": self.dash(5) + ["refuseAndEnd ended"] + self.dash(7) + ["refuse connected"] + self.dash(5),
            "reinvite": self.reoffers("decidingInvite", owed: false, early: "refuse proceeding"),
            "reinvite-owed": self.reoffers("decidingInvite", owed: true, early: "refuse proceeding"),
            "update": self.reoffers("decidingUpdate", owed: false, early: "report decidingEarly"),
            "update-owed": self.reoffers("decidingUpdate", owed: true, early: "refuse proceeding"),
            "byeFinished": self.dash(17) + ["end ended", "-"],
        ]
    }

    private func reoffers(_ deciding: String, owed: Bool, early: String) -> [String] {
        func implied(_ state: String) -> String {
            owed ? "refuse \(state)" : "reportAcknowledgeFirst \(deciding)"
        }
        return [
            "refuse calling", early, "refuseForNow decidingEarly", "refuse cancelHeld", "refuse cancelling",
            "refuseForNow offered", implied("accepted"), implied("acceptedLater"), "refuseAndSendBye ending",
            "refuseAndSendBye ending", "refuseForNow answering", "report \(deciding)", "refuse changing",
            "refuseForNow decidingInvite", "refuseForNow decidingUpdate", implied("reaccepted"),
            implied("reacceptedLater"), "refuse ending", "refuse ended",
        ]
    }

    private var endingLimit: String {
        self.other(.ending(.init(reason: .timedOut, told: .fault(.requestTimeout, text: "no ACK"))))
    }

    private var timerLines: [String: [String]] {
        let mute = self.other(
            .ending(.init(reason: .timedOut, told: .fault(.serverInternalError, text: "no answer to the offer"))))
        return [
            "accept": self.dash(6) + [
                "sendAcceptAgain acceptedLater", "sendAcceptAgain \(self.other(.accepted(retransmitMs: 2000)))",
                "sendAcceptAgain closingLater",
                "sendAcceptAgain \(self.other(.closing(Self.ours, retransmitMs: 2000)))", "-", "-", "-", "-", "-",
                "sendAcceptAgain reacceptedLater", "sendAcceptAgain \(self.other(.reaccepted(retransmitMs: 2000)))",
                "-", "-",
            ],
            "acceptLimit": self.dash(6) + [
                "sendBye \(self.endingLimit)", "sendBye \(self.endingLimit)", "sendBye ending", "sendBye ending",
            ] + self.dash(5) + ["sendBye \(self.endingLimit)", "sendBye \(self.endingLimit)", "-", "-"],
            "cancelLimit": self.dash(4) + ["abandonAndEnd ended"] + self.dash(14),
            "changeLimit": self.dash(12) + ["drop changing"] + self.dash(6),
            "decision": self.dash(2) + ["refuse proceeding", "-", "-", "refuseAndEnd ended"] + self.dash(4)
                + ["acknowledgeAndSendBye \(mute)", "-", "-", "refuse connected", "refuse connected"] + self.dash(4),
        ]
    }

    private var running: [String: Set<SIPTimer>] {
        let waiting: Set<SIPTimer> = [.accept, .acceptLimit]
        let gone = self.other(.cancelling(.init(reason: Self.gone, told: .normal)))
        let taken = self.other(.cancelling(.init(reason: .replaced, told: Self.told)))
        return [
            "cancelling": [.cancelLimit], gone: [.cancelLimit], taken: [.cancelLimit], "accepted": waiting,
            "reaccepted": waiting, "answering": [.decision], "changing": [.changeLimit],
            "decidingInvite": [.decision], "decidingUpdate": [.decision], "decidingEarly": [.decision],
            // Entered from a state that runs both; a machine put there by a test runs only what it sets itself.
            "acceptedLater hangUp": [],
            "acceptedLater": [.accept], "closingLater": [.accept], "reacceptedLater": [.accept],
            self.other(.accepted(retransmitMs: 2000)): [.accept],
            self.other(.reaccepted(retransmitMs: 2000)): [.accept],
            self.other(.closing(Self.ours, retransmitMs: 2000)): [.accept],
        ]
    }

    // MARK: - What the cells do not show

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

    func testSessionsThatStandAreThoseThatCanBeChangedNowOrLater() {
        let established = self.states.filter { CallMachine(.udp, state: $0.state).isEstablished }.map { $0.name }
        XCTAssertEqual(
            established,
            [
                "accepted", "acceptedLater", "answering", "connected", "changing", "decidingInvite", "decidingUpdate",
                "reaccepted", "reacceptedLater",
            ])
    }
}
