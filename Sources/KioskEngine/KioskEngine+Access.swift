// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Who may talk to us: what the file lists, and the servers that it names.
extension KioskEngine {
    mutating func trustServers(now: Instant) {
        self.servers = ServerAddresses(self.configuration.call.uri, now: now)
        self.tell(.trust(self.trusted), now: now)
        self.refreshServers(now: now)
    }

    /// Asks for the server's addresses where it is time. A call being dialled asks for itself.
    mutating func refreshServers(now: Instant) {
        guard let due = self.servers.asksAt, now >= due, let uri = self.configuration.call.uri else { return }
        let id = self.machine.newResolution()
        self.servers.ask(as: id, now: now)
        self.resolve(id, uri)
    }

    /// The servers that we call by, and those of the accounts.
    var trusted: [IPAddress] { self.servers.addresses + self.accounts.flatMap { $0.addresses } }

    mutating func serverFound(_ result: ResolutionResult, now: Instant) {
        switch result {
        case .failed: break
        case .found(let addresses, _): self.trust(addresses, now: now)
        }
    }

    mutating func trust(_ addresses: [SocketAddress], now: Instant) {
        guard !addresses.isEmpty, self.servers.found(addresses.map { $0.address }, now: now) else { return }
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
