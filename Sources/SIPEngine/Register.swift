// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// REGISTER: RFC 3261 section 10.2, with Path (RFC 3327), Service-Route (RFC 3608) and outbound (RFC 5626).
extension SIPEngine {
    mutating func register(_ id: RegistrationID, _ request: RegisterRequest, now: Instant) {
        guard let index = self.registrationIndex(id) ?? self.addRegistration(id, request) else {
            preconditionFailure("the kiosk has no more accounts than there is room for")
        }
        switch self.registrations[index].machine.register(answerLimitMs: request.answerLimitMs, now: now) {
        case .ignore: break
        case .send:
            self.abandonRegister(at: index)
            self.registrations[index].order(request)
            self.sendRegister(at: index, now: now)
        }
    }

    private mutating func addRegistration(_ id: RegistrationID, _ request: RegisterRequest) -> Int? {
        guard self.registrations.count < Limits.registrationsMax, let callID = CallID(self.newCallID()) else {
            return nil
        }
        self.registrations.append(RegistrationEntry(id, request, callID: callID, localTag: self.newTag()))
        return self.registrations.count - 1
    }

    mutating func unregister(_ id: RegistrationID, withinMs limitMs: Int, now: Instant) {
        guard let index = self.registrationIndex(id) else { return self.put(.registration(id, .unregistered)) }
        let isBound = self.registrations[index].binding != nil
        switch self.registrations[index].machine.leave(isBound: isBound, limitMs: limitMs, now: now) {
        case .remove: self.sendRegister(at: index, now: now)
        case .end: self.put(.registration(id, .unregistered))
        case .wait, .ignore: break
        }
    }

    func registrationIndex(_ id: RegistrationID) -> Int? {
        self.registrations.firstIndex { $0.id == id && $0.machine.state != .ended }
    }

    // MARK: - Sending

    /// A binding that is removed has no time left.
    private mutating func sendRegister(at index: Int, now: Instant) {
        let entry = self.registrations[index]
        let seconds = entry.machine.state == .leaving ? 0 : entry.wantedSeconds
        // Wraps after thousands of years; a trap would be worse.
        self.registrations[index].number = max(entry.number, self.lastRegisterNumber(entry.id)) &+ 1
        let message = self.registerMessage(self.registrations[index], seconds)
        // Addresses come from a file that people write. What we cannot read ourselves, no answer could be matched to.
        guard message.from?.tag == entry.localTag, message.to != nil, message.contacts != nil else {
            let answer = self.registrations[index].machine.refused()
            return self.carryOut(answer, .refused(.badRequest, retryAfterSeconds: nil), at: index, now: now)
        }
        self.sendRequest(message, on: entry.request.flow, for: .register(entry.id), now: now)
    }

    private func registerMessage(_ entry: RegistrationEntry, _ seconds: UInt32) -> SIPMessage {
        var registrar = entry.request.registrar.asRequestURI
        registrar.user = nil
        registrar.password = nil
        let address = entry.request.address.asAddress
        var message = SIPMessage(startLine: .request(.register, .sip(registrar)))
        message.add(.maxForwards, "70")
        message.add(
            .from, NameAddr(displayName: self.configuration.displayName, address, tag: entry.localTag).printed)
        message.add(.to, NameAddr(uri: .sip(address)).printed)
        message.add(.callID, entry.callID.text)
        message.add(.cseq, CSeq(entry.number, .register).printed)
        var contact = self.registeredContact(entry)
        contact.parameters.set("expires", ByteString(decimal: seconds))
        message.add(.contact, contact.printed)
        if let old = entry.binding, !old.isReplaced, contact.uri != .sip(old.uri) {
            message.add(.contact, NameAddr(uri: .sip(old.uri), parameters: Parameters([.init("expires", "0")])).printed)
        }
        message.add(.expires, ByteString(decimal: seconds))
        message.add(.supported, entry.wantsOutbound ? "path, outbound" : "path")
        message.headers.append(self.allowHeader)
        if !self.configuration.userAgent.isEmpty { message.add(.userAgent, self.configuration.userAgent) }
        return message
    }

    private func registeredContact(_ entry: RegistrationEntry) -> NameAddr {
        var contact = NameAddr(uri: .sip(self.plainContact(entry.request.flow, entry.contactAddress)))
        guard !entry.request.instanceID.isEmpty else { return contact }
        let instance = QuotedString.quoted("<" + entry.request.instanceID + ">")
        contact.parameters.set(NameAddr.instanceParameter, instance)
        if entry.wantsOutbound {
            contact.parameters.set(NameAddr.regIDParameter, ByteString(decimal: entry.request.regID))
        }
        return contact
    }

    /// The number of the newest REGISTER that went out, one sent again with credentials included.
    private func lastRegisterNumber(_ id: RegistrationID) -> UInt32 {
        self.clients.reduce(0) { $1.purpose == .register(id) ? max($0, $1.number) : $0 }
    }

    /// Nobody waits for the answer to the REGISTER that is out.
    private mutating func abandonRegister(at index: Int) {
        let id = self.registrations[index].id
        self.registrations[index].number = max(self.registrations[index].number, self.lastRegisterNumber(id))
        for client in self.clients.indices where self.clients[client].purpose == .register(id) {
            self.terminateClient(client)
        }
    }

    // MARK: - Answers

    mutating func registerFinished(_ id: RegistrationID, _ response: SIPMessage, _ status: StatusCode, now: Instant) {
        guard let index = self.registrationIndex(id) else { return self.counters.add(.strayResponse) }
        self.registrations[index].number = max(self.registrations[index].number, self.lastRegisterNumber(id))
        if status.isSuccess {
            self.registerSucceeded(at: index, response, status, now: now)
        } else if self.registrations[index].adapt(to: response, status) {
            let answer = self.registrations[index].machine.mayRetry()
            self.carryOut(answer, .unregistered, at: index, now: now)
        } else {
            self.registerRefused(at: index, response, status, now: now)
        }
    }

    private mutating func registerSucceeded(
        at index: Int, _ response: SIPMessage, _ status: StatusCode, now: Instant
    ) {
        let contact = self.registeredContact(self.registrations[index])
        let wanted = self.registrations[index].wantedSeconds
        guard self.registrations[index].machine.state != .leaving,
            let granted = RegisterAnswer(response, contact: contact, wantedSeconds: wanted).grantedSeconds,
            let uri = contact.uri.sip
        else {
            self.registrations[index].binding = nil
            return self.registerRefused(at: index, response, status, now: now)
        }
        self.registrations[index].note(response, contact: uri)
        let seen = self.registrations[index].publicAddress(response)
        var refreshMs = self.refreshMs(of: granted)
        if self.registrations[index].moveContact(to: seen) { refreshMs = Limits.registerRefreshMsMin }
        let registered = Registered(
            expiresSeconds: granted, serviceRoute: response.serviceRoute, publicAddress: seen,
            isOutbound: self.registrations[index].isOutbound)
        let answer = self.registrations[index].machine.granted(refreshMs: refreshMs, now: now)
        self.carryOut(answer, .registered(registered), at: index, now: now)
        self.moveDialogs(to: self.registrations[index].request.flow)
    }

    /// Another node of the same server has us now: calls whose stream to the former one is gone go on by it. A route
    /// set that names the server leads through any of its nodes.
    private mutating func moveDialogs(to flow: Flow) {
        guard !flow.name.isEmpty else { return }
        for index in self.calls.indices {
            guard let dialog = self.calls[index].dialog, !dialog.isFlowOpen, dialog.flow.name == flow.name else {
                continue
            }
            self.calls[index].dialog?.moved(to: flow)
        }
    }

    /// At random between half and nine tenths of what was granted. A grant of a second must not make us flood the
    /// registrar, and of one of a week we want to know within the hour whether it still holds.
    private mutating func refreshMs(of grantedSeconds: UInt32) -> Int {
        let seconds = Int(min(max(grantedSeconds, Limits.registerSecondsMin), Limits.registerSecondsMax))
        return seconds * (500 + Int(self.random(below: 401)))
    }

    private mutating func registerRefused(
        at index: Int, _ response: SIPMessage, _ status: StatusCode, now: Instant
    ) {
        self.registrations[index].noteRefusal()
        let answer = self.registrations[index].machine.refused()
        let wait = response.retryAfter.map { Int(min($0.seconds, Limits.retryAfterSecondsBelieved)) }
        self.carryOut(answer, .refused(status, retryAfterSeconds: wait), at: index, now: now)
    }

    mutating func registerFailed(_ id: RegistrationID, _ failure: RegistrationFailure, now: Instant) {
        guard let index = self.registrationIndex(id) else { return }
        self.registrations[index].number = max(self.registrations[index].number, self.lastRegisterNumber(id))
        self.registrations[index].noteFailure()
        let answer = self.registrations[index].machine.failed()
        self.carryOut(answer, .failed(failure), at: index, now: now)
    }

    /// The way of a binding that held is gone.
    mutating func registrationsLost(on flow: Flow, now: Instant) {
        for index in self.registrations.indices {
            let entry = self.registrations[index]
            guard entry.request.flow == flow, entry.machine.state == .registered else { continue }
            self.registerFailed(entry.id, .flowFailed, now: now)
        }
    }

    mutating func registrationFired(_ timer: SIPTimer, at index: Int, now: Instant) {
        let limitMs = self.registrations[index].request.answerLimitMs
        switch self.registrations[index].machine.fired(timer, answerLimitMs: limitMs, now: now) {
        case .refresh: self.sendRegister(at: index, now: now)
        case .giveUp:
            self.abandonRegister(at: index)
            self.registrations[index].noteFailure()
            self.put(.registration(self.registrations[index].id, .failed(.timedOut)))
        case .end:
            self.abandonRegister(at: index)
            self.put(.registration(self.registrations[index].id, .unregistered))
        case .doNothing: break
        }
    }

    private mutating func carryOut(
        _ answer: RegistrationMachine.OnAnswer, _ event: RegistrationEvent, at index: Int, now: Instant
    ) {
        let id = self.registrations[index].id
        switch answer {
        case .tell: self.put(.registration(id, event))
        case .send, .remove: self.sendRegister(at: index, now: now)
        case .end: self.put(.registration(id, .unregistered))
        case .ignore: break
        }
    }
}
