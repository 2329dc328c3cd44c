// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// The configuration file was read again. What changed is taken over between calls; for what sockets and devices were
/// opened with, the program begins anew.
extension KioskEngine {
    /// A file that is to be taken over.
    struct Reload {
        var configuration: Configuration
        var problems: [ConfigurationProblem]
    }

    /// - Parameter configuration: nil where the file cannot be read.
    mutating func reload(_ configuration: Configuration?, _ problems: [ConfigurationProblem], now: Instant) {
        // Whoever restarts reads the file once more.
        guard self.leaveBy == nil else { return }
        guard let configuration, configuration.call.uri != nil || self.configuration.call.uri == nil else {
            self.setProblems(problems, now: now)
            return self.emitReload(nil, waits: false, now: now)
        }
        self.pendingReload = Reload(configuration: configuration, problems: problems)
        guard self.hasCall else { return }
        let change = ConfigurationChange(from: self.configuration, to: configuration)
        self.emitReload(change, waits: true, now: now)
    }

    private var hasCall: Bool {
        switch self.machine.state {
        case .idle, .outcome: return false
        case .lookingUp, .calling, .ringing, .early, .alerting, .connected, .ending, .stopping: return true
        }
    }

    /// Takes over what waits, unless there is a call.
    mutating func applyReload(now: Instant) {
        guard let reload = self.pendingReload, self.leaveBy == nil, !self.hasCall else { return }
        let change = ConfigurationChange(from: self.configuration, to: reload.configuration)
        self.emitReload(change, waits: false, now: now)
        if change.needsRestart { return self.restart(now: now) }
        self.pendingReload = nil
        self.setProblems(reload.problems, now: now)
        if !change.sections.isEmpty { self.change(to: reload.configuration, now: now) }
        self.put(.renewSecrets(reload.configuration))
    }

    mutating func found(_ problem: ConfigurationProblem, now: Instant) {
        guard self.problemsBeside.count < Self.problemsBesideMax else { return }
        self.problemsBeside.append(problem)
        self.problems.append(problem)
        self.tellProblems([problem], now: now)
    }

    private static let problemsBesideMax = 16

    private mutating func setProblems(_ problems: [ConfigurationProblem], now: Instant) {
        self.problems = problems + self.problemsBeside
        self.reportNumber &+= 1
        self.tellProblems(problems, now: now)
    }

    /// Whoever wrote the file stands before the screen, or listens.
    mutating func tellProblems(_ problems: [ConfigurationProblem], now: Instant) {
        guard !problems.isEmpty else { return }
        for problem in problems { self.emit(problem, now: now) }
        self.faults.tell(now: now)
        self.chimeStatus(.lost)
        self.show(.problems, forMs: Self.newProblemsMs, now: now)
    }

    /// - Parameter change: nil where the file is of no use, and the former settings go on.
    private mutating func emitReload(_ change: ConfigurationChange?, waits: Bool, now: Instant) {
        self.emit("reload", now: now) {
            $0.put("changed", change?.sections ?? [])
            $0.put("restart", change?.needsRestart ?? false)
            $0.put("waits", waits)
            $0.put("kept", change == nil)
        }
    }

    // MARK: - In place

    private mutating func change(to next: Configuration, now: Instant) {
        let former = self.configuration
        let formerURIs = self.serverURIs
        self.configuration = next
        self.machine.ringTimeout = .milliseconds(next.call.ringTimeoutMs)
        self.machine.mediaTimeout = .milliseconds(next.call.mediaTimeoutMs)
        self.machine.maxDuration = next.call.maxDuration
        if former.autoCall != next.autoCall { self.autoCall = AutoCall(next.autoCall, isStart: false, now: now) }
        if self.language == former.language.first { self.language = next.language.first }
        self.changeAccounts(from: former, now: now)
        self.tell(.configure(SIPConfiguration(next, self.world)), now: now)
        if former.servers != next.servers {
            self.policy = ServerPolicy(next.servers, now: now)
            self.probes = []
        }
        if former.log != next.log {
            self.logPolicy = next.log.policy
            self.put(.log(self.logPolicy))
        }
        if former.camera != next.camera { self.put(.turnCamera(degrees: next.camera.rotationDegrees)) }
        if former.ice != next.ice { self.iceServers = ICEServers(next.ice, now: now) }
        if self.serverURIs == formerURIs {
            self.tell(.trust(self.trusted), now: now)
        } else {
            self.trustServers(now: now)
        }
        self.settleAccounts(now: now)
    }

    /// What did not change stays registered; the others are given back, and then the new ones are registered.
    private mutating func changeAccounts(from former: Configuration, now: Instant) {
        let next = self.configuration
        var left = self.accounts
        // Contact names the user, and the way to the server may have changed with the transport.
        if former.sip.user != next.sip.user || former.sip.transport != next.sip.transport { left = [] }
        var accounts: [Account] = []
        for settings in next.accounts where settings.uri != nil && settings.registers {
            if let index = left.firstIndex(where: { $0.settings == settings }) {
                accounts.append(left.remove(at: index))
            } else {
                accounts.append(self.newAccount(settings))
            }
        }
        for index in self.accounts.indices where !accounts.contains(where: { $0.id == self.accounts[index].id }) {
            let action = self.accounts[index].leave()
            self.carryOut(action, at: index, now: now)
            if self.accounts[index].state == .leaving { self.formerAccounts.append(self.accounts[index]) }
        }
        self.accounts = accounts
    }

    mutating func formerAccount(_ id: RegistrationID, _ event: RegistrationEvent, now: Instant) {
        guard let index = self.formerAccounts.firstIndex(where: { $0.id == id }), event == .unregistered else { return }
        self.emit(event, of: self.formerAccounts.remove(at: index), now: now)
        self.settleAccounts(now: now)
        self.exitWhereLeft(now: now)
    }

    // MARK: - Anew

    /// Gives everything back first, as at the end of the program.
    private mutating func restart(now: Instant) {
        self.isRestarting = true
        self.leaveAccounts(now: now)
        self.leave(nil, now: now)
    }

    /// Somebody wants to call while accounts are being given back: the call comes first, and the restart after it.
    mutating func postponeRestart() {
        guard self.isRestarting else { return }
        self.isRestarting = false
        self.leaveBy = nil
        self.isCallOver = false
    }

    /// The program is to end after all. True where it is leaving already.
    mutating func cancelRestart() -> Bool {
        defer { self.isRestarting = false }
        return self.isRestarting
    }
}

extension SIPConfiguration {
    /// What SIP has to know of the file.
    init(_ configuration: Configuration, _ world: KioskWorld) {
        self.init(
            userAgent: configuration.identity.composedUserAgent(version: world.version, world.facts),
            displayName: configuration.sip.name, identity: nil, contactUser: configuration.sip.user)
        self.access = AccessPolicy(configuration.sip)
        self.hash = world.hash
    }
}
