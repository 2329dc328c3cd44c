// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// The addresses of the servers of `[ice]`: asked for before anybody presses a button, and again now and then.
struct ICEServers {
    private struct Entry {
        let server: ICEServerName
        var address: SocketAddress?
        var question: ResolutionID?
    }

    private var entries: [Entry]
    private(set) var asksAt: Instant?

    static let refreshMs = 600_000
    /// After a question that had no answer.
    static let retryMs = 60_000

    init(_ settings: ICESettings, now: Instant) {
        let servers = settings.use == .off ? [] : settings.servers
        self.entries = servers.map { server in
            guard case .address(let address) = server.host else { return Entry(server: server) }
            return Entry(server: server, address: SocketAddress(address, port: server.port))
        }
        if self.entries.contains(where: { $0.address == nil }) { self.asksAt = now }
    }

    /// What is to be asked now, under which numbers.
    mutating func questions(_ newID: () -> ResolutionID, now: Instant) -> [(ResolutionID, SIPURI)] {
        guard let due = self.asksAt, now >= due else { return [] }
        self.asksAt = now + .milliseconds(Self.retryMs)
        var questions: [(ResolutionID, SIPURI)] = []
        for index in self.entries.indices {
            guard case .name = self.entries[index].server.host else { continue }
            let id = newID()
            self.entries[index].question = id
            questions.append((id, self.entries[index].server.uri))
        }
        return questions
    }

    /// True where it was asked here. A server that is not found any more may still be where it was.
    mutating func found(_ id: ResolutionID, _ address: IPAddress?, now: Instant) -> Bool {
        guard let index = self.entries.firstIndex(where: { $0.question == id }) else { return false }
        self.entries[index].question = nil
        if let address {
            self.entries[index].address = SocketAddress(address, port: self.entries[index].server.port)
        }
        let isOpen = self.entries.contains { $0.question != nil || $0.address == nil }
        if !isOpen { self.asksAt = now + .milliseconds(Self.refreshMs) }
        return true
    }

    func stun(_ settings: ICESettings) -> SocketAddress? {
        settings.stun.flatMap { wanted in self.entries.first { $0.server == wanted }?.address }
    }

    func relays(_ settings: ICESettings) -> [ICERelay] {
        settings.relays.compactMap { wanted in
            self.entries.first { $0.server == wanted }?.address.map {
                ICERelay(address: $0, transport: wanted.transport, name: wanted.name)
            }
        }
    }
}
