// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Every (state × input) cell of the machine of one REFER.
final class ReferralCellTests: XCTestCase {
    private typealias Report = ReferralMachine.Report

    private enum Input {
        case follow(hasSubscription: Bool)
        case refuse
        case news(Report)
        case notified(Bool)
        case timer(SIPTimer)
    }

    private static let ringing = Report(status: .ringing)
    private static let answered = Report(status: .ok, end: .outcome)

    private let states: [(name: String, state: ReferralMachine.State)] = [
        ("deciding", .deciding), ("quiet", .quiet(told: .trying)), ("quietRinging", .quiet(told: .ringing)),
        ("telling", .telling(told: .trying, next: nil)), ("tellingRinging", .telling(told: .ringing, next: nil)),
        ("tellingNews", .telling(told: .trying, next: ReferralCellTests.ringing)),
        ("tellingSame", .telling(told: .ringing, next: ReferralCellTests.ringing)),
        ("tellingLate", .telling(told: .trying, next: Report(status: .trying, end: .timeout))),
        ("tellingNewsLate", .telling(told: .trying, next: Report(status: .ringing, end: .timeout))),
        ("tellingRingingLate", .telling(told: .ringing, next: Report(status: .ringing, end: .timeout))),
        ("closing", .closing), ("ended", .ended),
    ]

    private func describe(_ news: ReferralMachine.OnNews) -> String {
        switch news {
        case .notify(let report): return self.describe(report)
        case .doNothing: return "doNothing"
        }
    }

    private func describe(_ report: Report) -> String {
        "notify\(report.status.value)" + (report.end.map { $0.token.string } ?? "")
    }

    private func run(_ state: ReferralMachine.State, _ input: Input) -> Outcome<ReferralMachine.State> {
        var machine = ReferralMachine(state: state)
        let action: String
        switch input {
        case .follow(let hasSubscription):
            action = "\(machine.follow(hasSubscription: hasSubscription, now: .zero))"
        case .refuse: action = "\(machine.refuse())"
        case .news(let report): action = self.describe(machine.progressed(report))
        case .notified(let isTaken): action = self.describe(machine.notified(isTaken: isTaken))
        case .timer(let timer):
            switch machine.fired(timer) {
            case .refuse(let status): action = "refuse\(status.value)"
            case .notify(let report): action = self.describe(report)
            case .doNothing: action = "doNothing"
            }
        }
        return Outcome(action: action, state: machine.state, timers: machine.timers.running)
    }

    func testEveryCell() {
        let inputs: [(name: String, input: Input)] =
            [
                ("follow", .follow(hasSubscription: true)), ("followSilently", .follow(hasSubscription: false)),
                ("refuse", .refuse), ("180", .news(Self.ringing)), ("200", .news(Self.answered)),
                ("taken", .notified(true)), ("unknown", .notified(false)),
            ] + SIPTimer.allCases.map { (name: "\($0)", input: Input.timer($0)) }
        var table = [
            "deciding follow": "answer telling", "deciding followSilently": "answer ended",
            "deciding refuse": "answer ended", "deciding referral": "refuse603 ended",
            "quiet 180": "notify180 tellingRinging", "quiet 200": "notify200noresource closing",
            "quiet referral": "notify100timeout closing",
            "quietRinging 200": "notify200noresource closing", "quietRinging referral": "notify180timeout closing",
            "telling 180": "doNothing tellingNews", "telling 200": "notify200noresource closing",
            "telling taken": "doNothing quiet", "telling referral": "doNothing tellingLate",
            "tellingRinging 180": "doNothing tellingSame", "tellingRinging 200": "notify200noresource closing",
            "tellingRinging taken": "doNothing quietRinging",
            "tellingRinging referral": "doNothing tellingRingingLate",
            "tellingNews 200": "notify200noresource closing", "tellingNews taken": "notify180 tellingRinging",
            "tellingNews referral": "doNothing tellingNewsLate",
            "tellingSame 200": "notify200noresource closing", "tellingSame taken": "doNothing quietRinging",
            "tellingSame referral": "doNothing tellingRingingLate",
            "tellingLate 200": "notify200noresource closing", "tellingLate taken": "notify100timeout closing",
            "tellingNewsLate 200": "notify200noresource closing",
            "tellingNewsLate taken": "notify180timeout closing",
            "tellingRingingLate 200": "notify200noresource closing",
            "tellingRingingLate taken": "notify180timeout closing",
            "closing taken": "doNothing ended", "closing unknown": "doNothing ended",
        ]
        for (name, state) in self.states {
            if case .telling = state { table["\(name) unknown"] = "doNothing ended" }
        }
        checkCells(
            states: self.states, inputs: inputs, table: table, idle: ["ignore", "doNothing"],
            running: ["deciding follow": [.referral]], run: self.run)
    }

    func testNewReferralWaitsForADecision() {
        XCTAssertEqual(ReferralMachine(now: .zero).timers.running, [.referral])
    }
}
