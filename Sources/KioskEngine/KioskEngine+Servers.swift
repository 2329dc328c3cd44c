// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// The servers that the file lists: probing them, and going back to the first.
extension KioskEngine {
    /// A probe under way: first the ways to the server are looked for, then it is asked.
    struct ServerProbe {
        /// How long both together may take.
        static let longestMs = 6_000

        let server: Int
        let search: ResolutionID
        let until: Instant
        var sent: (id: ProbeID, hop: Hop)?
    }

    var serversWakeAt: Instant? {
        let due = self.probes.map { $0.until }.min()
        guard let next = self.policy.probesAt else { return due }
        return due.map { min($0, next) } ?? next
    }

    mutating func watchServers(now: Instant) {
        for probe in self.probes where now >= probe.until { self.finish(probe, isGood: false, now: now) }
        for server in self.policy.probe(now: now) {
            guard !self.probes.contains(where: { $0.server == server }) else { continue }
            let search = self.machine.newResolution()
            self.probes.append(
                ServerProbe(server: server, search: search, until: now + .milliseconds(ServerProbe.longestMs)))
            self.findServer(search, self.policy.servers[server], now: now)
        }
        guard self.policy.mayComeBack else { return }
        switch self.machine.state {
        case .idle, .outcome: self.comeBack(now: now)
        case .lookingUp, .calling, .ringing, .early, .alerting, .connected, .ending, .stopping: break
        }
    }

    /// True where what was looked for was the way to a server that is probed.
    mutating func sendProbe(_ search: ResolutionID, _ ways: [Flow], now: Instant) -> Bool {
        guard let index = self.probes.firstIndex(where: { $0.search == search }) else { return false }
        guard let way = ways.first else {
            self.finish(self.probes[index], isGood: false, now: now)
            return true
        }
        // A search has a number that nothing else has.
        let id = ProbeID(search.number)
        self.probes[index].sent = (id, Hop(way))
        self.tell(.probe(id, self.policy.servers[self.probes[index].server], way), now: now)
        return true
    }

    /// Whatever a server answers, it is there, unless it says itself that it is of no use.
    mutating func probed(_ id: ProbeID, _ status: StatusCode, now: Instant) {
        guard let probe = self.probes.first(where: { $0.sent?.id == id }) else { return }
        let isGood = status != .requestTimeout && status != .serviceUnavailable && status != .serverInternalError
        self.finish(probe, isGood: isGood, now: now)
    }

    private mutating func finish(_ probe: ServerProbe, isGood: Bool, now: Instant) {
        self.probes.removeAll { $0.search == probe.search }
        if let hop = probe.sent?.hop {
            if isGood { self.hopMemory.worked(hop) } else { self.hopMemory.failed(hop, now: now) }
        }
        guard self.policy.probed(probe.server, isGood: isGood, now: now) else { return }
        self.emitServer(probe.server, now: now)
    }

    /// False where the first is in use already.
    @discardableResult
    mutating func comeBack(now: Instant) -> Bool {
        guard self.policy.comeBack() else { return false }
        self.emitServer(0, now: now)
        return true
    }

    mutating func emitServer(_ server: Int, now: Instant) {
        let policy = self.policy
        self.emit("server", now: now) { policy.write(server, to: &$0) }
    }

    /// The one in use, for `status`.
    func writeServer(to json: inout JSON) {
        guard !self.policy.servers.isEmpty else { return json.putNull("server") }
        var server = JSON()
        self.policy.write(self.policy.current, to: &server)
        json.put("server", object: server)
    }
}

extension ServerPolicy {
    fileprivate func write(_ server: Int, to json: inout JSON) {
        json.put("uri", self.servers[server].printed)
        json.put("state", self.health[server].text)
        json.put("in_use", server == self.current)
    }
}
