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

    /// All that we send goes to these.
    var serverURIs: [SIPURI] {
        if !self.policy.servers.isEmpty { return self.policy.servers }
        return self.configuration.call.uri.map { [$0] } ?? []
    }

    /// Asks for the server's addresses where it is time. A call being dialled asks for itself.
    mutating func refreshServers(now: Instant) {
        guard let due = self.servers.asksAt, now >= due, let uri = self.serverURIs.first else { return }
        let id = self.machine.newResolution()
        self.servers.ask(as: id, now: now)
        self.find(id, uri, now: now)
    }

    /// The servers that we call by, and those of the accounts.
    var trusted: [IPAddress] { self.servers.addresses + self.accounts.flatMap { $0.addresses } }

    mutating func trust(_ ways: [Flow], now: Instant) {
        guard self.servers.found(ways.map { $0.remote.address }, now: now) else { return }
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
