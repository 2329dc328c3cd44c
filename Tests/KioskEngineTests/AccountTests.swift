// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Every (state × input) cell of one account.
final class AccountTests: XCTestCase {
    private static let question = ResolutionID(7)
    private static let now = Instant(nanoseconds: 100_000_000_000)
    private static let flows = (1...6).map { number in
        Flow(
            transport: .udp, local: SocketAddress(.v4(0x0A00_0002), port: 5060),
            remote: SocketAddress(.v4(0x0A00_0100 + UInt32(number)), port: 5060))
    }
    private static let grant = Registered(
        expiresSeconds: 600, serviceRoute: [], publicAddress: nil, isOutbound: false)

    /// An account in each state, reached as it is reached.
    private static func account(_ state: String) -> Account {
        var settings = AccountSettings()
        settings.uri = SIPURI("sip:gate@example.com")
        var account = Account(RegistrationID(1), settings)
        var generator = Generator(seed: 1)
        if state == "off" { return account }
        account.lookUp(as: self.question, now: self.now)
        if state == "lookingUp" { return account }
        let flows = state == "registering" ? Array(self.flows.prefix(1)) : self.flows
        _ = account.found(flows, now: self.now, &generator)
        switch state {
        case "waiting": _ = account.heard(.refused(.forbidden, retryAfterSeconds: nil), now: self.now, &generator)
        case "registered", "lookingUpHeld", "leaving":
            _ = account.heard(.registered(self.grant), now: self.now, &generator)
            if state == "leaving" { _ = account.leave() }
            if state == "lookingUpHeld" { account.lookUp(as: self.question, now: self.now) }
        default: break
        }
        return account
    }

    private static func name(_ account: Account) -> String {
        switch account.state {
        case .off: return "off"
        case .lookingUp(_, deadline: _, let held): return held == nil ? "lookingUp" : "lookingUpHeld"
        case .registering(let left): return left.isEmpty ? "registering" : "registeringMore"
        case .registered: return "registered"
        case .waiting: return "waiting"
        case .leaving: return "leaving"
        }
    }

    private static func name(_ action: Account.Action) -> String {
        switch action {
        case .doNothing: return "doNothing"
        case .lookUp: return "lookUp"
        case .register(let flow): return "register\(self.flows.firstIndex(of: flow)! + 1)"
        case .unregister: return "unregister"
        }
    }

    private static let states = [
        "off", "lookingUp", "lookingUpHeld", "registering", "registeringMore", "registered", "waiting", "leaving",
    ]

    private static let inputs: [(String, (inout Account, inout Generator) -> Account.Action)] = [
        ("start", { account, _ in account.start() }),
        ("leave", { account, _ in account.leave() }),
        ("networkChanged", { account, _ in account.networkChanged() }),
        ("found", { $0.found(Array(AccountTests.flows.suffix(1)), now: AccountTests.now, &$1) }),
        ("foundSame", { $0.found(AccountTests.flows, now: AccountTests.now, &$1) }),
        ("notFound", { $0.found([], now: AccountTests.now, &$1) }),
        ("granted", { $0.heard(.registered(AccountTests.grant), now: AccountTests.now, &$1) }),
        ("busy", { $0.heard(.refused(.serviceUnavailable, retryAfterSeconds: 9), now: AccountTests.now, &$1) }),
        ("refused", { $0.heard(.refused(.forbidden, retryAfterSeconds: nil), now: AccountTests.now, &$1) }),
        ("failed", { $0.heard(.failed(.timedOut), now: AccountTests.now, &$1) }),
        ("unregistered", { $0.heard(.unregistered, now: AccountTests.now, &$1) }),
        ("early", { $0.timePassed(now: AccountTests.now, &$1) }),
        ("late", { $0.timePassed(now: AccountTests.now + .seconds(3_600), &$1) }),
    ]

    func testEveryCell() {
        let table = [
            "off start": "lookUp off", "lookingUp leave": "doNothing off",
            "lookingUp networkChanged": "lookUp lookingUp", "lookingUp found": "register6 registering",
            "lookingUp foundSame": "register1 registeringMore", "lookingUp notFound": "doNothing waiting",
            "lookingUp granted": "doNothing lookingUpHeld", "lookingUp late": "doNothing waiting",
            "lookingUpHeld leave": "unregister leaving", "lookingUpHeld networkChanged": "lookUp lookingUpHeld",
            "lookingUpHeld found": "register6 registering", "lookingUpHeld foundSame": "doNothing registered",
            "lookingUpHeld notFound": "doNothing registered", "lookingUpHeld busy": "doNothing lookingUp",
            "lookingUpHeld refused": "doNothing lookingUp", "lookingUpHeld failed": "doNothing lookingUp",
            "lookingUpHeld late": "doNothing registered",
            "registering leave": "unregister leaving", "registering networkChanged": "lookUp registering",
            "registering granted": "doNothing registered", "registering busy": "doNothing waiting",
            "registering refused": "doNothing waiting", "registering failed": "doNothing waiting",
            "registeringMore leave": "unregister leaving", "registeringMore networkChanged": "lookUp registeringMore",
            "registeringMore granted": "doNothing registered", "registeringMore busy": "register2 registeringMore",
            "registeringMore refused": "doNothing waiting", "registeringMore failed": "register2 registeringMore",
            "registered leave": "unregister leaving", "registered networkChanged": "lookUp registered",
            "registered busy": "doNothing waiting", "registered refused": "doNothing waiting",
            "registered failed": "doNothing waiting",
            "waiting leave": "unregister leaving", "waiting networkChanged": "lookUp waiting",
            "waiting late": "lookUp waiting", "leaving unregistered": "doNothing off",
        ]
        var unmet = Set(table.keys)
        for state in Self.states {
            for (name, input) in Self.inputs {
                var account = Self.account(state)
                XCTAssertEqual(Self.name(account), state)
                var generator = Generator(seed: 2)
                let action = Self.name(input(&account, &generator))
                let cell = "\(state) \(name)"
                XCTAssertEqual("\(action) \(Self.name(account))", table[cell] ?? "doNothing \(state)", cell)
                unmet.remove(cell)
            }
        }
        XCTAssertEqual(unmet, [])
    }

    // MARK: - Failures

    /// The pauses between the beginnings of failed tries.
    private func periodsMs(seed: UInt64, tryMs: Int, refusal: RegistrationEvent = .failed(.timedOut)) -> [Int] {
        var account = Self.account("off")
        var generator = Generator(seed: seed)
        var now = Self.now
        return (0..<12).map { _ in
            let began = now
            account.lookUp(as: Self.question, now: now)
            _ = account.found([Self.flows[0]], now: now, &generator)
            now = now + .milliseconds(tryMs)
            _ = account.heard(refusal, now: now, &generator)
            now = account.wakesAt!
            XCTAssertEqual(account.timePassed(now: now, &generator), .lookUp)
            return (now - began).milliseconds
        }
    }

    func testPeriodsDoubleWithJitterUpToAMinute() {
        for seed in 0..<20 as Range<UInt64> {
            let periods = self.periodsMs(seed: seed, tryMs: 10)
            for (step, period) in periods.prefix(6).enumerated() {
                XCTAssertTrue(((500 << step)...max(1_000 << step, 510)).contains(period), "\(periods)")
            }
            XCTAssertEqual(Set(periods.dropFirst(6)), [60_000])
        }
        XCTAssertGreaterThan(Set((0..<20).map { self.periodsMs(seed: $0, tryMs: 10)[3] }).count, 10)
    }

    func testTryThatTakesLongIsPartOfItsPeriod() {
        let periods = self.periodsMs(seed: 1, tryMs: Account.lastAnswerLimitMs)
        XCTAssertEqual(periods.first, Account.lastAnswerLimitMs + Account.pauseMs)
        XCTAssertEqual(periods.last, 60_000)
    }

    func testRetryAfterIsHonoured() {
        let busy = RegistrationEvent.refused(.serviceUnavailable, retryAfterSeconds: 300)
        XCTAssertEqual(self.periodsMs(seed: 1, tryMs: 0, refusal: busy).first, 300_000)
    }

    func testSuccessForgetsTheFailures() {
        var account = Self.account("off")
        var generator = Generator(seed: 1)
        for _ in 0..<8 {
            account.lookUp(as: Self.question, now: Self.now)
            _ = account.found([], now: Self.now, &generator)
        }
        XCTAssertTrue(account.isFailing)
        XCTAssertEqual(account.wakesAt, Self.now + .milliseconds(60_000))
        account.lookUp(as: Self.question, now: Self.now)
        _ = account.found(Self.flows, now: Self.now, &generator)
        _ = account.heard(.registered(Self.grant), now: Self.now, &generator)
        XCTAssertFalse(account.isFailing)
        _ = account.heard(.failed(.flowFailed), now: Self.now + .seconds(100), &generator)
        XCTAssertLessThanOrEqual(account.wakesAt!, Self.now + .milliseconds(101_000))
    }

    func testWaysOfOneTryAreBounded() {
        var account = Self.account("registeringMore")
        var generator = Generator(seed: 1)
        var ways = 1
        while case .register = account.heard(.failed(.timedOut), now: Self.now, &generator) { ways += 1 }
        XCTAssertEqual(ways, Account.flowsMax)
    }
}
