// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Who may talk to us: what the file lists, and the servers that it names.
extension KioskEngine {
    mutating func trustServers(now: Instant) {
        self.servers = ServerAddresses(self.serverURIs, now: now)
        self.tell(.trust(self.trusted), now: now)
        self.refreshServers(now: now)
    }

    /// All that we send by itself goes to these: the servers, or whoever may be called by a button.
    var serverURIs: [SIPURI] {
        if !self.policy.servers.isEmpty { return self.policy.servers }
        var uris: [SIPURI] = []
        let buttons = ButtonName.all.flatMap { self.configuration[$0].steps }
        for target in (self.configuration.call.steps + self.configuration.autoCall.steps + buttons).flatMap({
            $0.targets
        }) {
            guard uris.count < Self.serverURIsMax else { break }
            let host = target.uri.maddr ?? target.uri.host
            if !uris.contains(where: { ($0.maddr ?? $0.host).matches(host) }) { uris.append(target.uri) }
        }
        return uris
    }

    private static let serverURIsMax = 8

    /// Asks for the server's addresses where it is time. A call being dialled asks for itself.
    mutating func refreshServers(now: Instant) {
        guard let due = self.servers.asksAt, now >= due, !self.serverURIs.isEmpty else { return }
        let id = self.machine.newResolution()
        self.servers.ask(as: id, now: now)
        self.find(id, self.serverURIs, now: now)
    }

    /// The servers that we call by, those of the accounts, and who may call back.
    var trusted: [IPAddress] {
        self.servers.addresses + self.accounts.flatMap { $0.addresses } + self.callBacks.addresses
    }

    /// `isComplete` where these are the ways to all of them.
    mutating func trust(_ ways: [Flow], isComplete: Bool, now: Instant) {
        let addresses = ways.map { $0.remote.address }
        guard self.servers.found(addresses, isComplete: isComplete, now: now) else { return }
        self.tell(.trust(self.trusted), now: now)
    }
}

extension AccessPolicy {
    init(_ settings: SIPSettings) {
        self.init()
        switch settings.acceptFrom {
        case .servers: break
        case .anyone: self.isOpen = true
        case .listed(let ranges): self.allowed = ranges
        }
        self.allowed += settings.autoAnswerFrom
        self.automaticAnswer = settings.autoAnswerFrom
    }
}
