// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Finding servers and the ways to them, and what is learnt from using them.
extension KioskEngine {
    /// Hops whose routes are looked up.
    struct Routing {
        let id: ResolutionID
        let hops: [Hop]
    }

    /// Finds the ways to a URI; `found` or `notFound` tells what came of it, never before this returns.
    mutating func find(_ id: ResolutionID, _ uri: SIPURI, now: Instant) {
        self.find(id, [uri], now: now)
    }

    mutating func find(_ id: ResolutionID, _ uris: [SIPURI], now: Instant) {
        let targets = self.policy.servers.isEmpty ? uris : self.policy.servers
        let queries = targets.map { ServerQuery($0, standard: self.configuration.sip.transport) }
        self.locator.find(id, queries, now: now)
    }

    /// As `find`, of a server that is asked itself, whatever other servers the file lists.
    mutating func findServer(_ id: ResolutionID, _ uri: SIPURI, now: Instant) {
        self.locator.find(id, [ServerQuery(uri, standard: self.configuration.sip.transport)], now: now)
    }

    mutating func takeFindings(now: Instant) {
        while let output = self.locator.nextOutput() {
            switch output {
            case .ask(let id, let question): self.put(.ask(id, question))
            case .failed(let id, let text): self.notFound(id, text, now: now)
            case .found(let id, let lists):
                let isOfOne = self.probes.contains { $0.search == id } || self.accounts.contains { $0.isOwn(id) }
                let isPlain = isOfOne || self.policy.servers.isEmpty
                let hops = self.hopMemory.sorted(
                    isPlain ? lists.flatMap { $0 } : self.policy.found(lists), now: now)
                self.routings.append(Routing(id: id, hops: hops))
                self.put(.route(id, to: hops.map { $0.remote }))
            }
        }
    }

    mutating func routed(_ id: ResolutionID, _ locals: [SocketAddress?], now: Instant) {
        if id == self.addressQuestion { return self.ownAddressFound(locals.first ?? nil, now: now) }
        if id == self.healthQuestion { return self.healthAddressFound(locals.first ?? nil) }
        guard let index = self.routings.firstIndex(where: { $0.id == id }) else { return }
        let hops = self.routings.remove(at: index).hops
        // An address of a family without a route is no use.
        let ways = zip(hops, locals).compactMap { hop, local in local.map { self.flow(of: hop, from: $0) } }
        if ways.isEmpty {
            self.notFound(id, "there is no network route to " + (hops.first?.remote.address.text ?? ""), now: now)
        } else {
            self.found(id, ways, now: now)
        }
    }

    /// Connections that others open to us by TLS come to a port of its own.
    private func flow(of hop: Hop, from local: SocketAddress) -> Flow {
        var local = local
        if hop.transport == .tls { local.port = self.world.tlsPort }
        return hop.flow(from: local)
    }

    private mutating func found(_ id: ResolutionID, _ ways: [Flow], now: Instant) {
        if self.servers.isOwn(id) { return self.trust(ways, isComplete: true, now: now) }
        if self.iceServers.found(id, ways.first?.remote.address, now: now) { return }
        if self.sendProbe(id, ways, now: now) || self.registrarFound(id, ways, now: now) { return }
        if self.sendWaitingText(id, ways, now: now) { return }
        self.place(id, ways, now: now)
    }

    private mutating func notFound(_ id: ResolutionID, _ text: ByteString, now: Instant) {
        if self.servers.isOwn(id) || self.sendProbe(id, [], now: now) { return }
        if self.iceServers.found(id, nil, now: now) { return }
        if self.registrarFound(id, [], now: now) { return }
        if self.sendWaitingText(id, [], now: now) { return }
        self.unresolved(id, text, now: now)
    }

    // MARK: - What is learnt

    /// The way of a call that is being made; a registration may have led it elsewhere than its address says.
    var callWay: Flow? { self.machine.state.way == nil ? nil : self.placedBy }

    /// What SIP tells about a call that is being made says something about the server too.
    mutating func learn(from event: CallEvent, of handle: CallHandle, now: Instant) {
        let isLeader = self.machine.state.handle == handle
        guard let way = isLeader ? self.callWay : self.otherCalls.first(where: { $0.handle == handle })?.way
        else { return }
        switch event {
        case .trying, .ringing, .earlyMedia, .answered, .answeredWithOffer: self.worked(way, now: now)
        case .ended(let reason):
            if reason.isOfServer {
                self.failed(way, now: now)
            } else if case .refused = reason {
                self.worked(way, now: now)
            }
        case .incoming, .confirmed, .reoffered, .keyFrameRequested, .changed, .changeRefused, .changeTakenLate,
            .identified, .digit, .informed, .referred:
            break
        }
    }

    private mutating func worked(_ way: Flow, now: Instant) {
        self.hopMemory.worked(Hop(way))
        if self.policy.worked(Hop(way)) { self.emitServer(self.policy.current, now: now) }
    }

    mutating func failed(_ way: Flow, now: Instant) {
        self.hopMemory.failed(Hop(way), now: now)
        self.policy.failed(Hop(way))
    }

    /// The same is called once more, with an offer that it may rather take.
    mutating func offerAgain(_ id: ResolutionID, now: Instant) {
        self.stopMedia()
        self.session = nil
        self.place(id, nil, now: now)
    }

    /// The call goes on by the next way to whom it is placed to.
    mutating func failOver(_ id: ResolutionID, from former: Flow?, now: Instant) {
        self.stopMedia()
        self.session = nil
        self.place(id, nil, now: now)
        if let former, let way = self.callWay { self.emitFailover(from: former, to: way, now: now) }
    }

    mutating func emitFailover(from former: Flow, to way: Flow, now: Instant) {
        self.emit("failover", now: now) {
            $0.put("from", former.transport.token.lowercasedASCII() + ":" + former.remote.text)
            $0.put("to", way.transport.token.lowercasedASCII() + ":" + way.remote.text)
        }
    }
}
