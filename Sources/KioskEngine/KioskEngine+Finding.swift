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
        let targets = self.policy.servers.isEmpty ? [uri] : self.policy.servers
        let queries = targets.map { ServerQuery($0, standard: self.configuration.sip.transport) }
        self.locator.find(id, queries, now: now)
    }

    mutating func takeFindings(now: Instant) {
        while let output = self.locator.nextOutput() {
            switch output {
            case .ask(let id, let question): self.put(.ask(id, question))
            case .failed(let id, let text): self.notFound(id, text, now: now)
            case .found(let id, let lists):
                let isOfProbe = self.probes.contains { $0.search == id }
                let isPlain = isOfProbe || self.policy.servers.isEmpty
                let hops = self.hopMemory.sorted(
                    isPlain ? lists.flatMap { $0 } : self.policy.found(lists), now: now)
                self.routings.append(Routing(id: id, hops: hops))
                self.put(.route(id, to: hops.map { $0.remote }))
            }
        }
    }

    mutating func routed(_ id: ResolutionID, _ locals: [SocketAddress?], now: Instant) {
        guard let index = self.routings.firstIndex(where: { $0.id == id }) else { return }
        let hops = self.routings.remove(at: index).hops
        // An address of a family without a route is no use.
        let ways = zip(hops, locals).compactMap { hop, local in local.map { hop.flow(from: $0) } }
        if ways.isEmpty {
            self.notFound(id, "there is no network route to " + (hops.first?.remote.address.text ?? ""), now: now)
        } else {
            self.found(id, ways, now: now)
        }
    }

    private mutating func found(_ id: ResolutionID, _ ways: [Flow], now: Instant) {
        if self.servers.isOwn(id) { return self.trust(ways, now: now) }
        if self.sendProbe(id, ways, now: now) { return }
        if self.sendWaitingText(id, ways, now: now) { return }
        self.place(id, ways, now: now)
    }

    private mutating func notFound(_ id: ResolutionID, _ text: ByteString, now: Instant) {
        if self.servers.isOwn(id) || self.sendProbe(id, [], now: now) { return }
        if self.sendWaitingText(id, [], now: now) { return }
        self.unresolved(id, text, now: now)
    }

    // MARK: - What is learnt

    /// What SIP tells about a call that is being made says something about the server too.
    mutating func learn(from event: CallEvent, of handle: CallHandle, now: Instant) {
        guard self.machine.state.handle == handle, let way = self.machine.state.way else { return }
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

    /// The call goes on by the next way to whom it is placed to.
    mutating func failOver(_ id: ResolutionID, from former: Flow?, now: Instant) {
        self.stopMedia()
        self.session = nil
        self.place(id, nil, now: now)
        guard let former, let way = self.machine.state.way else { return }
        self.emit("failover", now: now) {
            $0.put("from", former.transport.token.lowercasedASCII() + ":" + former.remote.text)
            $0.put("to", way.transport.token.lowercasedASCII() + ":" + way.remote.text)
        }
    }
}
