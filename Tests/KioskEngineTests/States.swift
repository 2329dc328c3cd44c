// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import SIPWire

@testable import KioskEngine

/// One kiosk state of each kind, for tests that go through all of them.
enum States {
    static let now = Instant(nanoseconds: 100_000_000_000)
    static let handle = CallHandle(number: 7)
    static let stranger = CallHandle(number: 8)
    /// Whoever the far end hands us over to.
    static let successor = CallHandle(number: 9)
    static let uri = SIPURI(user: "a", host: .name("b"))
    static let targets = Targets(uri)
    static let order = CallOrder([CallStep(uri)], ringTimeout: .seconds(60))
    static let way = way(1)
    static func way(_ number: UInt32) -> Flow {
        Flow(
            transport: .udp, local: SocketAddress(.v4(0x0A00_0002), port: 5060),
            remote: SocketAddress(.v4(0x0A00_0100 + number), port: 5060))
    }
    static let facts = CallFacts(direction: .outgoing, peer: "sip:a@b", began: now)
    static let caller = CallFacts(direction: .incoming, peer: "sip:c@d", began: now, name: "Carol")
    static let talk = MediaShape(hasAudio: true, sendsAudio: true, receivesAudio: true, receivesVideo: true)
    static let cancelled = EndedCall(facts: facts, outcome: .cancelled, answered: nil, ended: now)

    static func later(_ ms: Int) -> Instant { self.now + .milliseconds(ms) }

    static let idle = KioskState.idle
    static let lookingUp = KioskState.lookingUp(
        KioskState.LookingUp(facts: facts, targets: targets, resolution: ResolutionID(3), deadline: later(10_000)))
    static let calling = KioskState.calling(
        KioskState.Outgoing(facts: facts, targets: targets, handle: handle, deadline: nil))
    static let ringing = KioskState.ringing(
        KioskState.Outgoing(facts: facts, targets: targets, handle: handle, deadline: later(60_000)))
    static let early = KioskState.early(
        KioskState.Early(facts: facts, targets: targets, handle: handle, deadline: later(60_000), hasRung: true))
    static let alerting = KioskState.alerting(
        KioskState.Alerting(facts: caller, handle: handle, deadline: later(60_000)))
    static let connected = KioskState.connected(
        KioskState.Connected(facts: facts, handle: handle, answered: now, shape: talk, patience: .seconds(10)))
    static let transferring = KioskState.connected(
        {
            var state = KioskState.Connected(
                facts: facts, handle: handle, answered: now, shape: talk, patience: .seconds(10))
            let other = KioskState.Outgoing(
                facts: caller, targets: targets, handle: successor, deadline: later(60_000))
            state.transfer = .calling(other, hasRung: true)
            return state
        }())
    static let ending = KioskState.ending(
        KioskState.Ending(ended: cancelled, handle: handle, deadline: later(2_000)))
    static let outcome = KioskState.outcome(
        KioskState.Outcome(
            ended: EndedCall(facts: facts, outcome: .noResponse, answered: nil, ended: now), deadline: later(8_000)))
    static let stopping = KioskState.stopping(
        KioskState.Stopping(ended: cancelled, handle: handle, deadline: later(400)))

    /// Every state, in the order of `KioskState`, under the name that tables use.
    static let all: [(name: String, state: KioskState)] = [
        ("idle", idle), ("lookingUp", lookingUp), ("calling", calling), ("ringing", ringing), ("early", early),
        ("alerting", alerting), ("connected", connected), ("transferring", transferring), ("ending", ending),
        ("outcome", outcome),
        ("stopping", stopping),
    ]

    static func name(_ state: KioskState) -> String {
        switch state {
        case .idle: return "idle"
        case .lookingUp: return "lookingUp"
        case .calling: return "calling"
        case .ringing: return "ringing"
        case .early: return "early"
        case .alerting: return "alerting"
        case .connected(let state): return state.transfer == nil ? "connected" : "transferring"
        case .ending: return "ending"
        case .outcome: return "outcome"
        case .stopping: return "stopping"
        }
    }

    static func machine(_ state: KioskState) -> KioskMachine {
        KioskMachine(state: state, ringTimeout: .seconds(60), mediaTimeout: .seconds(10))
    }
}
