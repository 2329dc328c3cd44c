// SPDX-License-Identifier: Apache-2.0
import Bytes
import KioskEngine
import SIPEngine
import SIPWire

/// What must never be, and was.
struct Violation {
    /// The rule in one word, for counting.
    var rule: String
    var text: String
    var at: Instant
}

/// Two kiosks, a forking proxy and some agents over a network, in virtual time, all from one seed. First everything
/// goes wrong that can (the safety act), then the faults stop and every call must end or be whole (the liveness act).
final class World {
    let options: Options
    let canary: Canary?
    /// Takes the lines of the log, as they come; nil for a quick run.
    let log: ((String) -> Void)?
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    var network: Network
    var digest = Digest()
    private(set) var kiosks: [KioskNode] = []
    private(set) var proxy: Proxy!
    private(set) var agents: [Agent] = []
    /// What the people and the agents do.
    var draw: Generator
    private(set) var hasFaults = true
    private(set) var violation: Violation?
    /// Calls that were tried, by whomever; a world in which nobody could counts as one.
    var calls: Int { max(self.attempts, 1) }
    var attempts = 0
    private var queue = EventQueue()
    private var steps = 0

    /// A world that does so much for so few calls turns in circles.
    private static let stepsMax = 300_000
    /// Everything the people do happens within this time.
    static let safetyMs = 45_000
    private static let transactionMs = 32_000

    init(seed: UInt64, canary: Canary? = nil, log: ((String) -> Void)? = nil) {
        self.options = Options(seed: seed)
        self.canary = canary
        self.log = log
        self.network = Network(seed: seed)
        self.draw = Generator(seed: seed ^ 0xAC70_0002)
        for index in 0..<2 {
            let kiosk = KioskNode(index: index, world: self)
            self.kiosks.append(kiosk)
            self.network.add(kiosk)
        }
        self.proxy = Proxy(world: self)
        self.network.add(self.proxy)
        for index in 0..<self.options.agents {
            let agent = Agent(index: 3 + index, world: self)
            self.agents.append(agent)
            self.network.add(agent)
        }
    }

    // MARK: - Acts

    func play() {
        for kiosk in self.kiosks { kiosk.start() }
        self.scheduleFaults()
        self.schedulePeople()
        self.run(forMs: Self.safetyMs)
        self.note("---- faults stop")
        self.hasFaults = false
        for agent in self.agents { agent.expectNews() }
        let patience = self.options.kiosks.map { max($0.ringTimeoutMs, $0.mediaTimeoutMs + 6000) }.max() ?? 0
        self.run(forMs: Self.transactionMs + patience + 3000)
        self.checkWhole()
        self.note("---- everybody hangs up")
        for kiosk in self.kiosks { kiosk.hangUp() }
        // A BYE that nobody answers takes 64*T1, over a stream as long once more, the copies of an answer another T4.
        self.run(forMs: 2 * Self.transactionMs + 5000 + 3000)
        self.checkGone()
        self.proxy.letGo()
        for agent in self.agents { agent.letGo() }
    }

    private func run(forMs ms: Int) {
        let end = self.now + .milliseconds(ms)
        while self.violation == nil {
            var next = self.queue.nextAt ?? end
            for kiosk in self.kiosks { next = min(next, kiosk.due ?? end) }
            guard next < end else { break }
            self.now = max(self.now, next)
            self.step()
        }
        self.now = end
    }

    private func step() {
        self.steps += 1
        if self.steps > Self.stepsMax { return self.violate("busy", "more than \(Self.stepsMax) steps") }
        if let at = self.queue.nextAt, at <= self.now, let action = self.queue.take() { return action(self) }
        for kiosk in self.kiosks { kiosk.wake() }
    }

    // MARK: - For the nodes

    func at(_ instant: Instant, _ action: @escaping EventQueue.Action) {
        self.queue.put(at: instant, action)
    }

    func after(ms: Int, _ action: @escaping EventQueue.Action) {
        self.queue.put(at: self.now + .milliseconds(ms), action)
    }

    func violate(_ rule: String, _ text: String) {
        guard self.violation == nil else { return }
        self.violation = Violation(rule: rule, text: text, at: self.now)
        self.note("!!!! \(rule): \(text)")
    }

    /// A message in the log: an arrow between the columns of its ends.
    func draw(_ text: @autoclosure () -> String, from node: any Node, to target: any Node, _ fate: String) {
        guard self.log != nil else { return }
        self.note(Ladder.line(text(), from: node.index, to: target.index, of: self.network.nodes.map { $0.name }, fate))
    }

    func note(_ text: @autoclosure () -> String) {
        guard let log = self.log else { return }
        let microseconds = self.now.nanoseconds / 1000
        let fraction = "\(1_000_000 + microseconds % 1_000_000)".dropFirst()
        log("\(microseconds / 1_000_000).\(fraction) \(text())")
    }
}

// MARK: - What must hold at the end of each act

extension World {
    /// Nobody waits for ever, and who is in a call is in it with somebody.
    private func checkWhole() {
        for kiosk in self.kiosks where self.violation == nil {
            switch kiosk.state {
            case "idle", "ended": break
            case "connected": self.checkWhole(kiosk)
            default: self.violate("hung", "\(kiosk.name) is still \(kiosk.state)")
            }
        }
    }

    private func checkWhole(_ kiosk: KioskNode) {
        let dialogs = kiosk.census.dialogs
        let whole = dialogs.first { name in
            guard let mirrored = name.mirrored else { return false }
            return self.agents.contains { $0.isIn(mirrored) }
                || self.kiosks.contains {
                    $0 !== kiosk && $0.state == "connected" && $0.census.dialogs.contains(mirrored)
                }
        }
        // On hold silence is no sign: only a session timer (RFC 4028) could tell, perhaps long after this act.
        guard kiosk.media.talks else { return }
        // Whose BYE was lost on the way notices by the silence; but a telephone, which sends to whoever sends to its
        // one port, may have taken these packets for its next call's. A kiosk must not.
        if whole == nil, kiosk.media.isReached { return }
        guard whole != nil else {
            return self.violate("alone", "\(kiosk.name) is in a call with nobody; it has \(dialogs.count) dialogs")
        }
        if (kiosk.media.heardAt ?? .zero) + .seconds(4) < self.now {
            self.violate("deaf", "\(kiosk.name) is in a call and hears nothing")
        }
    }

    /// Nothing is left of any call; but a registration is refreshed for ever.
    private func checkGone() {
        for kiosk in self.kiosks where self.violation == nil {
            let census = kiosk.census
            if kiosk.state != "idle" && kiosk.state != "ended" {
                self.violate("hung", "\(kiosk.name) is \(kiosk.state) after it hung up")
            } else if census.calls > 0 {
                self.violate("leak", "\(kiosk.name) still has \(census.calls) calls")
            } else if census.clientTransactions > (kiosk.options.registers ? 1 : 0) || census.serverTransactions > 0 {
                self.violate(
                    "leak",
                    "\(kiosk.name) still has \(census.clientTransactions) client and"
                        + " \(census.serverTransactions) server"
                        + " transactions")
            } else if kiosk.isUp, kiosk.options.registers, !self.proxy.isRegistered(ByteString(utf8Of: kiosk.name)) {
                self.violate("unregistered", "\(kiosk.name) is still not registered")
            } else if let at = kiosk.wakesAt, !kiosk.options.registers {
                self.violate("leak", "\(kiosk.name) still wants to be woken in \((at - self.now).milliseconds) ms")
            } else if kiosk.media.runs {
                self.violate("leak", "the media of \(kiosk.name) still run")
            }
        }
        for agent in self.agents where self.violation == nil {
            if let ghost = agent.ghost { self.violate("ghost", "\(agent.name) was never told that \(ghost) is over") }
        }
    }
}
