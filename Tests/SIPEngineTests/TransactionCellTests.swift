// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Every (state × input) cell of the four transaction machines, over both kinds of transport.
final class TransactionCellTests: XCTestCase {
    private enum Input {
        case response(Int)
        case respond(Int)
        case copy
        case acknowledge
        case timer(SIPTimer)
        case transportFailed
    }

    private let timers = SIPTimer.allCases.map { (name: "\($0)", input: Input.timer($0)) }

    private func codes(_ make: (Int) -> Input) -> [(name: String, input: Input)] {
        [100, 180, 199, 200, 299, 300, 486, 503, 603, 699].map { (name: "\($0)", input: make($0)) }
    }

    /// One line of the table for each code of a class.
    private func rows(_ state: String, _ codes: [Int], _ outcome: String) -> [String: String] {
        Dictionary(uniqueKeysWithValues: codes.map { ("\(state) \($0)", outcome) })
    }

    private let provisional = [100, 180, 199]
    private let success = [200, 299]
    private let failure = [300, 486, 503, 603, 699]

    // MARK: - INVITE client

    private func inviteClient(_ lengths: TimerLengths, table: [String: String], running: [String: Set<SIPTimer>]) {
        let states: [(String, InviteClientTransaction.State)] = [
            ("calling", .calling(retransmitMs: 500)), ("callingLater", .calling(retransmitMs: 1000)),
            ("proceeding", .proceeding), ("completed", .completed), ("accepted", .accepted),
            ("abandoned", .abandoned), ("terminated", .terminated),
        ]
        let inputs = self.codes { .response($0) } + self.timers + [("failed", .transportFailed)]
        checkCells(
            states: states.filter { $0.0 != "callingLater" || !lengths.isReliable }, inputs: inputs, table: table,
            idle: ["ignore", "doNothing"], running: running
        ) { state, input in
            var machine = InviteClientTransaction(lengths, state: state)
            let action: String
            switch input {
            case .response(let code): action = "\(machine.received(StatusCode(code), now: .zero))"
            case .timer(let timer): action = "\(machine.fired(timer, now: .zero))"
            case .transportFailed: action = "\(machine.transportFailed(now: .zero))"
            case .respond, .copy, .acknowledge: fatalError("not an input of a client")
            }
            return Outcome(action: action, state: machine.state, timers: machine.timers.running)
        }
    }

    func testInviteClientOverUDP() {
        var table: [String: String] = [:]
        for state in ["calling", "callingLater", "proceeding"] {
            table.merge(self.rows(state, self.provisional, "passUp proceeding")) { $1 }
            table.merge(self.rows(state, self.success, "passUp accepted")) { $1 }
            table.merge(self.rows(state, self.failure, "passUpAndAcknowledge completed")) { $1 }
            table["\(state) failed"] = state == "proceeding" ? "report abandoned" : "report terminated"
        }
        table["calling a"] = "retransmit callingLater"
        table["callingLater a"] = "retransmit another state: calling(retransmitMs: 2000)"
        table["calling b"] = "giveUp abandoned"
        table["callingLater b"] = "giveUp abandoned"
        table.merge(self.rows("completed", self.failure, "acknowledge completed")) { $1 }
        table["completed d"] = "doNothing terminated"
        table["completed failed"] = "doNothing terminated"
        table.merge(self.rows("accepted", self.success, "passUp accepted")) { $1 }
        table["accepted m"] = "doNothing terminated"
        table.merge(self.rows("abandoned", self.success, "passUp accepted")) { $1 }
        table.merge(self.rows("abandoned", self.failure, "acknowledge completed")) { $1 }
        table["abandoned m"] = "doNothing terminated"
        self.inviteClient(
            .udp, table: table,
            running: [
                "callingLater": [.a], "completed": [.d], "accepted": [.m], "abandoned": [.m],
                "another state: calling(retransmitMs: 2000)": [.a],
            ])
    }

    func testInviteClientOverTCP() {
        var table: [String: String] = [:]
        for state in ["calling", "proceeding"] {
            table.merge(self.rows(state, self.provisional, "passUp proceeding")) { $1 }
            table.merge(self.rows(state, self.success, "passUp accepted")) { $1 }
            table.merge(self.rows(state, self.failure, "passUpAndAcknowledge terminated")) { $1 }
            table["\(state) failed"] = state == "proceeding" ? "report abandoned" : "report terminated"
        }
        // Timer A is never set over TCP; a machine that it woke all the same would send again.
        table["calling a"] = "retransmit another state: calling(retransmitMs: 1000)"
        table["calling b"] = "giveUp abandoned"
        table.merge(self.rows("completed", self.failure, "acknowledge completed")) { $1 }
        table["completed d"] = "doNothing terminated"
        table["completed failed"] = "doNothing terminated"
        table.merge(self.rows("accepted", self.success, "passUp accepted")) { $1 }
        table["accepted m"] = "doNothing terminated"
        table.merge(self.rows("abandoned", self.success, "passUp accepted")) { $1 }
        table.merge(self.rows("abandoned", self.failure, "acknowledge terminated")) { $1 }
        table["abandoned m"] = "doNothing terminated"
        self.inviteClient(
            .tcp, table: table,
            running: ["accepted": [.m], "abandoned": [.m], "another state: calling(retransmitMs: 1000)": [.a]])
    }

    // MARK: - Other client

    private func client(_ lengths: TimerLengths, table: [String: String], running: [String: Set<SIPTimer>]) {
        let states: [(String, ClientTransaction.State)] = [
            ("trying", .trying(retransmitMs: 500)), ("tryingLater", .trying(retransmitMs: 1000)),
            ("tryingLast", .trying(retransmitMs: 4000)), ("proceeding", .proceeding), ("completed", .completed),
            ("terminated", .terminated),
        ]
        let inputs = self.codes { .response($0) } + self.timers + [("failed", .transportFailed)]
        checkCells(
            states: states, inputs: inputs, table: table, idle: ["ignore", "doNothing"], running: running
        ) { state, input in
            var machine = ClientTransaction(lengths, state: state)
            let action: String
            switch input {
            case .response(let code): action = "\(machine.received(StatusCode(code), now: .zero))"
            case .timer(let timer): action = "\(machine.fired(timer, now: .zero))"
            case .transportFailed: action = "\(machine.transportFailed())"
            case .respond, .copy, .acknowledge: fatalError("not an input of a client")
            }
            return Outcome(action: action, state: machine.state, timers: machine.timers.running)
        }
    }

    private func clientTable(answered: String) -> [String: String] {
        var table: [String: String] = [:]
        for state in ["trying", "tryingLater", "tryingLast", "proceeding"] {
            table.merge(self.rows(state, self.success + self.failure, "passUp \(answered)")) { $1 }
            table["\(state) f"] = "giveUp terminated"
            table["\(state) failed"] = "report terminated"
        }
        for state in ["trying", "tryingLater", "tryingLast"] {
            table.merge(self.rows(state, self.provisional, "ignore proceeding")) { $1 }
        }
        table["trying e"] = "retransmit tryingLater"
        table["tryingLater e"] = "retransmit another state: trying(retransmitMs: 2000)"
        table["tryingLast e"] = "retransmit tryingLast"
        table["proceeding e"] = "retransmit proceeding"
        table["completed k"] = "doNothing terminated"
        table["completed failed"] = "doNothing terminated"
        return table
    }

    private let clientRunning: [String: Set<SIPTimer>] = [
        "tryingLater": [.e], "another state: trying(retransmitMs: 2000)": [.e],
    ]

    func testClientOverUDP() {
        var running = self.clientRunning
        running["completed"] = [.k]
        running["proceeding"] = [.e]
        self.client(.udp, table: self.clientTable(answered: "completed"), running: running)
    }

    func testClientOverTCP() {
        self.client(.tcp, table: self.clientTable(answered: "terminated"), running: self.clientRunning)
    }

    // MARK: - INVITE server

    private func inviteServer(_ lengths: TimerLengths, table: [String: String], running: [String: Set<SIPTimer>]) {
        let states: [(String, InviteServerTransaction.State)] = [
            ("proceeding", .proceeding), ("completed", .completed(retransmitMs: 500)),
            ("completedLater", .completed(retransmitMs: 1000)), ("completedLast", .completed(retransmitMs: 4000)),
            ("confirmed", .confirmed), ("accepted", .accepted), ("terminated", .terminated),
        ]
        let inputs =
            self.codes { .respond($0) } + self.timers
            + [("copy", .copy), ("ack", .acknowledge)]
        checkCells(
            states: states, inputs: inputs, table: table, idle: ["ignore", "absorb", "doNothing"], running: running
        ) { state, input in
            var machine = InviteServerTransaction(lengths, state: state)
            let action: String
            switch input {
            case .respond(let code): action = "\(machine.respond(StatusCode(code), now: .zero))"
            case .timer(let timer): action = "\(machine.fired(timer, now: .zero))"
            case .copy: action = "\(machine.receivedCopy())"
            case .acknowledge: action = "\(machine.receivedAcknowledge(now: .zero))"
            case .response, .transportFailed: fatalError("not an input of a server")
            }
            return Outcome(action: action, state: machine.state, timers: machine.timers.running)
        }
    }

    private func inviteServerTable(acknowledged: String) -> [String: String] {
        var table = self.rows("proceeding", self.provisional, "send proceeding")
        table.merge(self.rows("proceeding", self.success, "send accepted")) { $1 }
        table.merge(self.rows("proceeding", self.failure, "send completed")) { $1 }
        table["proceeding copy"] = "answerAgain proceeding"
        table["proceeding trying"] = "sendTrying proceeding"
        for state in ["completed", "completedLater", "completedLast"] {
            table["\(state) copy"] = "answerAgain \(state)"
            table["\(state) ack"] = "absorb \(acknowledged)"
            table["\(state) h"] = "doNothing terminated"
        }
        table["completed g"] = "answerAgain completedLater"
        table["completedLater g"] = "answerAgain another state: completed(retransmitMs: 2000)"
        table["completedLast g"] = "answerAgain completedLast"
        table["confirmed i"] = "doNothing terminated"
        table.merge(self.rows("accepted", self.success, "send accepted")) { $1 }
        table["accepted ack"] = "passUp accepted"
        table["accepted l"] = "doNothing terminated"
        return table
    }

    func testInviteServerOverUDP() {
        self.inviteServer(
            .udp, table: self.inviteServerTable(acknowledged: "confirmed"),
            running: [
                "accepted": [.l], "completed": [.g, .h], "confirmed": [.i], "completedLater": [.g],
                "another state: completed(retransmitMs: 2000)": [.g],
            ])
    }

    func testInviteServerOverTCP() {
        self.inviteServer(
            .tcp, table: self.inviteServerTable(acknowledged: "terminated"),
            running: [
                "accepted": [.l], "completed": [.h], "completedLater": [.g],
                "another state: completed(retransmitMs: 2000)": [.g],
            ])
    }

    // MARK: - Other server

    private func server(_ lengths: TimerLengths, answered: String, running: [String: Set<SIPTimer>]) {
        let states: [(String, ServerTransaction.State)] = [
            ("trying", .trying), ("proceeding", .proceeding), ("completed", .completed), ("terminated", .terminated),
        ]
        var table = self.rows("trying", self.provisional, "send proceeding")
        table.merge(self.rows("proceeding", self.provisional, "send proceeding")) { $1 }
        table.merge(self.rows("trying", self.success + self.failure, "send \(answered)")) { $1 }
        table.merge(self.rows("proceeding", self.success + self.failure, "send \(answered)")) { $1 }
        table["proceeding copy"] = "answerAgain proceeding"
        table["completed copy"] = "answerAgain completed"
        table["trying abandoned"] = "doNothing terminated"
        table["proceeding abandoned"] = "doNothing terminated"
        table["completed j"] = "doNothing terminated"
        let inputs = self.codes { .respond($0) } + self.timers + [("copy", .copy)]
        checkCells(
            states: states, inputs: inputs, table: table, idle: ["ignore", "doNothing"], running: running
        ) { state, input in
            var machine = ServerTransaction(lengths, state: state)
            var action = "doNothing"
            switch input {
            case .respond(let code): action = "\(machine.respond(StatusCode(code), now: .zero))"
            case .timer(let timer): machine.fired(timer)
            case .copy: action = "\(machine.receivedCopy())"
            case .response, .acknowledge, .transportFailed: fatalError("not an input of this server")
            }
            return Outcome(action: action, state: machine.state, timers: machine.timers.running)
        }
    }

    func testServerOverUDP() {
        self.server(.udp, answered: "completed", running: ["completed": [.j]])
    }

    func testServerOverTCP() {
        self.server(.tcp, answered: "terminated", running: [:])
    }
}
