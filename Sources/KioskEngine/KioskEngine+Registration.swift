// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Accounts: which of them are registered, and calls on behalf of one.
extension KioskEngine {
    /// Those that are to be registered, each with a registration of its own.
    mutating func newAccounts(of configuration: Configuration) -> [Account] {
        configuration.accounts.filter { $0.uri != nil && $0.registers }.map { self.newAccount($0) }
    }

    mutating func newAccount(_ settings: AccountSettings) -> Account {
        defer { self.registrationNext &+= 1 }
        return Account(RegistrationID(self.registrationNext), settings)
    }

    // MARK: - Which are wanted

    /// All at once; or one after the other, each only while all before it fail. None is begun before the former ones
    /// are given back: the removal of an address must not come after its registration.
    mutating func settleAccounts(now: Instant) {
        guard self.leaveBy == nil else { return }
        var isWanted = true
        for index in self.accounts.indices {
            let mayStart = self.formerAccounts.isEmpty
            let action =
                isWanted ? (mayStart ? self.accounts[index].start() : .doNothing) : self.accounts[index].leave()
            self.carryOut(action, at: index, now: now)
            switch self.configuration.sip.accounts {
            case .all: break
            case .serial: isWanted = isWanted && self.accounts[index].isFailing
            }
        }
    }

    mutating func refreshAccounts(now: Instant) {
        for index in self.accounts.indices {
            let action = self.accounts[index].timePassed(now: now, &self.generator)
            self.carryOut(action, at: index, now: now)
        }
        self.settleAccounts(now: now)
    }

    var accountsWakeAt: Instant? {
        self.accounts.compactMap { $0.wakesAt }.min()
    }

    // MARK: - Where they are

    mutating func carryOut(_ action: Account.Action, at index: Int, now: Instant) {
        let account = self.accounts[index]
        switch action {
        case .doNothing: break
        case .lookUp:
            guard let registrar = account.settings.way else { return }
            let question = self.machine.newResolution()
            self.accounts[index].lookUp(as: question, now: now)
            self.findServer(question, registrar, now: now)
        case .register(let flow): self.register(account, on: flow, now: now)
        case .unregister: self.tell(.unregister(account.id, withinMs: KioskTimes.unregisterMs), now: now)
        }
    }

    /// True where the answer was to a question about a registrar.
    /// - Parameter ways: empty where none leads there.
    mutating func registrarFound(_ question: ResolutionID, _ ways: [Flow], now: Instant) -> Bool {
        guard let index = self.accounts.firstIndex(where: { $0.isOwn(question) }) else { return false }
        let former = self.accounts[index].flow
        let action = self.accounts[index].found(ways, now: now, &self.generator)
        self.tell(.trust(self.trusted), now: now)
        // A connection from an address that we no longer have carries nothing; the next one goes to the same server.
        if let former, former.transport.isReliable, case .register(let flow) = action, flow != former {
            self.put(.close(former))
            self.tell(.flowFailed(former), now: now)
        }
        self.carryOut(action, at: index, now: now)
        self.settleAccounts(now: now)
        return true
    }

    private mutating func register(_ account: Account, on flow: Flow, now: Instant) {
        guard let address = account.settings.uri, let way = account.settings.way else { return }
        var request = RegisterRequest(
            registrar: SIPURI(isSecure: way.isSecure, host: address.host, port: address.port), address: address,
            flow: flow, instanceID: self.world.instanceID, regID: account.settings.isOutbound ? 1 : 0,
            expiresSeconds: UInt32(account.settings.expiresSeconds))
        let isLast = account.state == .registering(left: [])
        request.answerLimitMs = isLast ? Account.lastAnswerLimitMs : Account.answerLimitMs
        self.tell(.register(account.id, request), now: now)
    }

    // MARK: - What SIP tells

    mutating func registration(_ id: RegistrationID, _ event: RegistrationEvent, now: Instant) {
        guard let index = self.accounts.firstIndex(where: { $0.id == id }) else {
            return self.formerAccount(id, event, now: now)
        }
        let wasRegistered = self.accounts[index].registered != nil
        let action = self.accounts[index].heard(event, now: now, &self.generator)
        let account = self.accounts[index]
        if !wasRegistered || account.registered == nil { self.emit(event, of: account, now: now) }
        self.carryOut(action, at: index, now: now)
        self.settleAccounts(now: now)
        self.exitWhereLeft(now: now)
    }

    mutating func emit(_ event: RegistrationEvent, of account: Account, now: Instant) {
        let address = account.settings.uri?.printed ?? ""
        self.reportNumber &+= 1
        self.emit("registration", now: now) {
            $0.put("account", address)
            switch event {
            case .registered(let registered):
                $0.put("state", "registered")
                $0.put("expires", registered.expiresSeconds)
                if let seen = registered.publicAddress { $0.put("public_address", seen.text) }
            case .refused(let status, retryAfterSeconds: _):
                $0.put("state", "refused")
                $0.put("code", status.value)
                $0.put(.registration(status))
            case .failed(.timedOut):
                $0.put("state", "failed")
                $0.put("code", StatusCode.requestTimeout.value)
                $0.put(.registrationSilent)
            case .failed(.flowFailed):
                $0.put("state", "failed")
                $0.put("code", StatusCode.serviceUnavailable.value)
                $0.put(.registrationBroken)
            case .unregistered: $0.put("state", "unregistered")
            }
        }
    }

    func writeAccounts(to json: inout JSON) {
        var accounts = JSON()
        for account in self.accounts { accounts.put(account.settings.uri?.printed ?? "", account.text) }
        json.put("accounts", object: accounts)
    }

    /// Accounts are wanted, some failed, and none is registered.
    var isCutOff: Bool {
        self.leaveBy == nil && self.accounts.contains { $0.isFailing }
            && !self.accounts.contains { $0.registered != nil }
    }

    // MARK: - Calls

    /// On whose behalf we call: the first account that is registered, or else the first of the file, for a press does
    /// not wait for a registration.
    var sender: Sender {
        if let account = self.accounts.first(where: { $0.registered != nil }) {
            return Sender(identity: account.settings.uri, routes: account.registered?.serviceRoute ?? [])
        }
        return Sender(identity: self.configuration.accounts.first { $0.uri != nil }?.uri)
    }

    /// The way of a request outside of a dialog: what has a Service-Route goes the way that the registration went, and
    /// so does what is for the server that knows of the flow (RFC 5626 section 4.3).
    func way(_ flow: Flow, to target: SIPURI, now: Instant) -> Flow {
        guard let account = self.accounts.first(where: { $0.registered != nil }), let registered = account.registered,
            let home = account.settings.uri?.host, let registeredFlow = account.flow,
            !self.hopMemory.isBad(Hop(registeredFlow), now: now)
        else { return flow }
        let isByFlow = !registered.serviceRoute.isEmpty || registered.isOutbound && home.matches(target.host)
        return isByFlow ? registeredFlow : flow
    }

    // MARK: - Leaving

    /// The program ends: every account is given back at once, all at the same time.
    mutating func leaveAccounts(now: Instant) {
        self.leaveBy = now + .milliseconds(KioskTimes.leaveMs)
        for index in self.accounts.indices {
            let action = self.accounts[index].leave()
            self.carryOut(action, at: index, now: now)
        }
    }

    /// The last call is over; the servers may still have to answer.
    mutating func exitWhereLeft(now: Instant) {
        guard let deadline = self.leaveBy, self.isCallOver else { return }
        let isLeaving = (self.accounts + self.formerAccounts).contains { $0.state == .leaving }
        if now >= deadline || !isLeaving { self.exit(now: now) }
    }
}
