// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Every (state × input) cell of the machines beside the call's own.
final class SessionMachineCellTests: XCTestCase {
    private func timers<Input>(_ make: (SIPTimer) -> Input) -> [(name: String, input: Input)] {
        SIPTimer.allCases.map { ("\($0)", make($0)) }
    }

    // MARK: - Our changes

    private enum ChangeInput {
        case offer
        case refresh
        case take
        case finished
        case collided
        case glare
        case outdate
        case stop
    }

    func testEveryCellOfOwnChange() {
        let offer = OwnChange.Attempt(wish: .offer([1]))
        let again = OwnChange.Attempt(wish: .offer([1]), isSecondTry: true)
        let refresh = OwnChange.Attempt(wish: .refresh)
        let next = OwnChange.Attempt(wish: .offer([2]))
        let states: [(name: String, state: OwnChange.State)] = [
            ("idle", .idle), ("queued", .queued(offer)), ("queuedNext", .queued(next)),
            ("queuedRefresh", .queued(refresh)), ("queuedAgain", .queued(again)), ("waiting", .waiting(again)),
            ("out", .out(offer, next: nil)), ("outAgain", .out(again, next: nil)),
            ("outRefresh", .out(refresh, next: nil)), ("outRefreshNext", .out(refresh, next: [2])),
        ]
        let waitingNext = OwnChange.State.waiting(.init(wish: .offer([2]), isSecondTry: true))
        let waitingRefresh = OwnChange.State.waiting(.init(wish: .refresh, isSecondTry: true))
        func other(_ state: OwnChange.State) -> String { "another state: \(state)" }
        let table: [String: String] = [
            "idle offer": "taken queuedNext", "queued offer": "taken queuedNext",
            "queuedNext offer": "taken queuedNext", "queuedRefresh offer": "taken queuedNext",
            "queuedAgain offer": "taken queuedNext", "waiting offer": "taken \(other(waitingNext))",
            "out offer": "refuse out", "outAgain offer": "refuse outAgain",
            "outRefresh offer": "taken outRefreshNext", "outRefreshNext offer": "taken outRefreshNext",
            "idle refresh": "() queuedRefresh",
            "queued take": "attempt out", "queuedNext take": "attempt \(other(.out(next, next: nil)))",
            "queuedRefresh take": "attempt outRefresh", "queuedAgain take": "attempt outAgain",
            "out finished": "attempt idle", "outAgain finished": "attempt idle",
            "outRefresh finished": "attempt idle", "outRefreshNext finished": "attempt queuedNext",
            "out collided": "again waiting", "outRefresh collided": "again \(other(waitingRefresh))",
            "outRefreshNext collided": "again \(other(waitingNext))",
            "waiting glare": "() queuedAgain",
            "queued outdate": "() idle", "queuedNext outdate": "() idle", "queuedAgain outdate": "() idle",
            "waiting outdate": "() idle", "outRefreshNext outdate": "() outRefresh",
            "queued stop": "() idle", "queuedNext stop": "() idle", "queuedRefresh stop": "() idle",
            "queuedAgain stop": "() idle", "waiting stop": "() idle", "out stop": "() idle",
            "outAgain stop": "() idle", "outRefresh stop": "() idle", "outRefreshNext stop": "() idle",
        ]
        checkCells(
            states: states,
            inputs: [
                ("offer", ChangeInput.offer), ("refresh", .refresh), ("take", .take), ("finished", .finished),
                ("collided", .collided), ("glare", .glare), ("outdate", .outdate), ("stop", .stop),
            ], table: table, idle: ["refuse", "nil", "()"],
            running: [
                "out collided": [.glare], "outRefresh collided": [.glare], "outRefreshNext collided": [.glare],
            ]
        ) { state, input in
            var change = OwnChange(state: state)
            let action: String
            switch input {
            case .offer: action = "\(change.offer([2]))"
            case .refresh: action = "\(change.refresh())"
            case .take: action = change.take() == nil ? "nil" : "attempt"
            case .finished: action = change.finished() == nil ? "nil" : "attempt"
            case .collided: action = "\(change.collided(delayMs: 10, now: .zero))"
            case .glare: action = "\(change.fired())"
            case .outdate: action = "\(change.outdate())"
            case .stop: action = "\(change.stop())"
            }
            return Outcome(action: action, state: change.state, timers: change.timers.running)
        }
    }

    // MARK: - The session's life

    private enum SessionInput {
        case agreed(SessionTimer.Agreement?)
        case refused
        case stop
        case timer(SIPTimer)
    }

    func testEveryCellOfSessionTimer() {
        let states: [(name: String, state: SessionTimer.State)] = [
            ("off", .off), ("ours", .ours(seconds: 90)), ("refreshing", .refreshing(seconds: 90)),
            ("theirs", .theirs(seconds: 90)),
        ]
        var table: [String: String] = [
            "ours refresh": "sendRefresh refreshing", "refreshing refused": "() ours",
        ]
        for (name, _) in states {
            table["\(name) we"] = "() ours"
            table["\(name) they"] = "() theirs"
            guard name != "off" else { continue }
            table["\(name) none"] = "() off"
            table["\(name) stop"] = "() off"
            table["\(name) sessionExpiry"] = "giveUp off"
        }
        let inputs: [(name: String, input: SessionInput)] =
            [
                ("we", .agreed(.init(seconds: 90, isOurs: true))),
                ("they", .agreed(.init(seconds: 90, isOurs: false))), ("none", .agreed(nil)),
                ("refused", .refused), ("stop", .stop),
            ] + self.timers { .timer($0) }
        checkCells(
            states: states, inputs: inputs.filter { !["we", "they"].contains($0.name) },
            table: table.filter { !$0.key.hasSuffix(" we") && !$0.key.hasSuffix(" they") },
            idle: ["doNothing", "()"], running: ["refreshing refused": [.refresh]], run: self.session)
        checkCells(
            states: states, inputs: [inputs[0]], table: table.filter { $0.key.hasSuffix(" we") }, idle: [],
            running: ["ours": [.refresh, .sessionExpiry]], run: self.session)
        checkCells(
            states: states, inputs: [inputs[1]], table: table.filter { $0.key.hasSuffix(" they") }, idle: [],
            running: ["theirs": [.sessionExpiry]], run: self.session)
    }

    private func session(_ state: SessionTimer.State, _ input: SessionInput) -> Outcome<SessionTimer.State> {
        var timer = SessionTimer(state: state)
        let action: String
        switch input {
        case .agreed(let agreement): action = "\(timer.agreed(agreement, now: .zero))"
        case .refused: action = "\(timer.refused(now: .zero))"
        case .stop: action = "\(timer.stop())"
        case .timer(let fired): action = "\(timer.fired(fired))"
        }
        return Outcome(action: action, state: timer.state, timers: timer.timers.running)
    }

    func testIntervalsOfAnySizeAreTimed() {
        for (seconds, refreshMs, expiryMs) in [
            (UInt32(0), 45_000, 60_000), (90, 45_000, 60_000), (1800, 900_000, 1_768_000),
            (UInt32(1 << 31), 1_000_000_000, 1_999_968_000), (UInt32.max, 1_000_000_000, 1_999_968_000),
        ] {
            var timer = SessionTimer()
            timer.agreed(.init(seconds: seconds, isOurs: true), now: .zero)
            XCTAssertEqual(timer.timers.deadline(of: .refresh), .milliseconds(refreshMs), "\(seconds)")
            XCTAssertEqual(timer.timers.deadline(of: .sessionExpiry), .milliseconds(expiryMs), "\(seconds)")
        }
    }

    // MARK: - Reliable 1xx

    private enum ProvisionalInput {
        case send
        case sent
        case prack(UInt32)
        case overtake
        case timer(SIPTimer)
    }

    func testEveryCellOfReliableProvisional() {
        let states: [(name: String, state: ReliableProvisional.State)] = [
            ("idle", .idle), ("out", .out(bytes: [1], retransmitMs: 500, next: nil)),
            ("outLater", .out(bytes: [1], retransmitMs: 1000, next: nil)),
            ("outNext", .out(bytes: [1], retransmitMs: 500, next: .ringing)), ("overtaken", .overtaken),
        ]
        let later = ReliableProvisional.State.out(bytes: [1], retransmitMs: 1000, next: .ringing)
        let last = ReliableProvisional.State.out(bytes: [1], retransmitMs: 2000, next: nil)
        let laterNext = "another state: \(later)"
        let table: [String: String] = [
            "idle send": "send idle", "out send": "wait outNext", "outLater send": "wait \(laterNext)",
            "outNext send": "wait outNext", "overtaken send": "wait overtaken",
            "idle sent": "() out", "out sent": "() out", "outLater sent": "() out", "outNext sent": "() out",
            "overtaken sent": "() out",
            "out prack": "take idle", "outLater prack": "take idle", "outNext prack": "take idle",
            "overtaken prack": "take idle",
            "out overtake": "() overtaken", "outLater overtake": "() overtaken", "outNext overtake": "() overtaken",
            "out provisional": "sendAgain outLater", "outNext provisional": "sendAgain \(laterNext)",
            "outLater provisional": "sendAgain another state: \(last)",
            "out provisionalLimit": "giveUp idle", "outLater provisionalLimit": "giveUp idle",
            "outNext provisionalLimit": "giveUp idle",
        ]
        let inputs: [(name: String, input: ProvisionalInput)] =
            [("send", .send), ("prack", .prack(7)), ("prack-other", .prack(6)), ("overtake", .overtake)]
            + self.timers { .timer($0) }
        let running: [String: Set<SIPTimer>] = [
            "out provisional": [.provisional], "outNext provisional": [.provisional],
            "outLater provisional": [.provisional], "overtaken sent": [.provisional, .provisionalLimit],
            "idle sent": [.provisional, .provisionalLimit],
        ]
        func run(
            _ state: ReliableProvisional.State, _ input: ProvisionalInput
        ) -> Outcome<ReliableProvisional.State> {
            var machine = ReliableProvisional(.udp, number: 7, state: state)
            let action: String
            switch input {
            case .send: action = "\(machine.send(.ringing))"
            case .sent: action = "\(machine.sent([1], now: .zero))"
            case .prack(let number): action = "\(machine.acknowledged(number))"
            case .overtake: action = "\(machine.overtake())"
            case .timer(let timer): action = "\(machine.fired(timer, now: .zero))"
            }
            let name = action == "()" ? action : String(action.prefix { $0 != "(" })
            return Outcome(action: name, state: machine.state, timers: machine.timers.running)
        }
        checkCells(
            states: states, inputs: inputs, table: table.filter { !$0.key.hasSuffix(" sent") },
            idle: ["refuse", "doNothing", "()"], running: running, run: run)
        for (name, state) in states {
            let outcome = run(state, .sent)
            XCTAssertEqual(outcome.state, .out(bytes: [1], retransmitMs: 500, next: nil), name)
            XCTAssertEqual(outcome.timers, [.provisional, .provisionalLimit], name)
        }
    }
}
