// SPDX-License-Identifier: Apache-2.0

import Bytes
import CICE
import CSystem
import KioskEngine
import Loop
import MediaEngine
import SDPWire
import Secure

/// The ways of media by ICE: those of the call, those that are looked for for the next description, and those that are
/// being given back.
public final class MediaWays {
    public enum Event {
        case received([UInt8], StreamKind, Channel)
        case report(ICEReport)
    }

    /// Ways whose end is waited for, a while.
    private struct Leaving {
        var agent: ICEAgent
        var until: Instant
    }

    private var current: ICEAgent?
    /// Of what was agreed upon last, by stream: sound, picture.
    private var agreed: [NegotiatedICE?] = [nil, nil]
    private var next: ICEAgent?
    private var leaving: [Leaving] = []
    private let ports: ClosedRange<UInt16>?
    public let network: NetworkSettings
    private let tls: TLSContext?
    private let tlsSettings: TLSSettings
    private var tunnels: [RelayTunnel] = []
    private let tokenBase: UInt64

    /// Relays that do not answer keep their allocation until it runs out.
    private static let leavingMs = 2_000

    /// - Parameters:
    ///   - ports: for our own candidates; nil for any.
    ///   - tls: for relays that are spoken to by TLS; nil where there are none.
    public init(
        ports: ClosedRange<UInt16>?, _ network: NetworkSettings, tls: TLSContext?, _ tlsSettings: TLSSettings,
        tokenBase: UInt64
    ) {
        self.ports = ports
        self.network = network
        self.tls = tls
        self.tlsSettings = tlsSettings
        self.tokenBase = tokenBase
    }

    /// Loads the library, which takes a while, where it will be wanted at the next press.
    public func prepare() {
        _ = callbox_ice_load()
    }

    // MARK: - Orders

    public func search(_ search: ICESearch, _ poller: borrowing Poller, now: Instant) {
        self.leave(self.next, now: now)
        var search = search
        search.relays = search.relays.compactMap { self.reachable($0, poller) }
        self.next = ICEAgent(search, ports: self.ports, self.network, now: now)
    }

    /// The relay as libnice is to see it.
    private func reachable(_ relay: ICERelay, _ poller: borrowing Poller) -> ICERelay? {
        guard relay.transport == .tls else { return relay }
        guard let tunnel = self.tunnels.first(where: { $0.relay == relay }) ?? self.newTunnel(relay, poller) else {
            return nil
        }
        return ICERelay(address: tunnel.address, transport: .tcp, name: relay.name)
    }

    private func newTunnel(_ relay: ICERelay, _ poller: borrowing Poller) -> RelayTunnel? {
        // Relays that the file no longer names, or that moved, may leave theirs behind.
        guard self.tunnels.count < 2 * ICESettings.relaysMax, let tls = self.tls else { return nil }
        let token = self.tokenBase + UInt64(self.tunnels.count) * RelayTunnel.tokensCount
        let tunnel = RelayTunnel(relay, tls, self.tlsSettings, tokenBase: token, poller)
        if let tunnel { self.tunnels.append(tunnel) }
        return tunnel
    }

    // MARK: - Tunnels

    public func owns(token: UInt64) -> Bool { self.tunnels.contains { $0.owns(token: token) } }

    public func handle(_ ready: Readiness, _ poller: borrowing Poller, now: Instant) -> [Event] {
        guard let tunnel = self.tunnels.first(where: { $0.owns(token: ready.token) }) else { return [] }
        return self.event(tunnel.handle(ready, now: now, poller), of: tunnel)
    }

    private func event(_ fault: TLSFault?, of tunnel: RelayTunnel) -> [Event] {
        fault.map { [.report(.relayInsecure(tunnel.relay, $0))] } ?? []
    }

    /// What was agreed upon for the call.
    public func apply(_ protection: MediaProtection, now: Instant) {
        self.agreed = [protection.audioWay, protection.videoWay]
        guard let local = self.agreed.compactMap({ $0 }).first?.local else {
            self.leave(self.current, now: now)
            self.current = nil
            if protection.ports != nil { self.forgetNext(now: now) }
            return
        }
        if let next = self.next, next.local == local {
            self.leave(self.current, now: now)
            self.current = next
            self.next = nil
        }
        self.current?.apply(self.agreed)
    }

    public func forget(now: Instant) {
        self.leave(self.current, now: now)
        self.current = nil
        self.agreed = [nil, nil]
        self.forgetNext(now: now)
    }

    private func forgetNext(now: Instant) {
        self.leave(self.next, now: now)
        self.next = nil
    }

    private func leave(_ agent: ICEAgent?, now: Instant) {
        guard let agent else { return }
        agent.close()
        self.leaving.append(Leaving(agent: agent, until: now + .milliseconds(Self.leavingMs)))
    }

    // MARK: - Packets

    /// Whether the packets of a stream go by ICE.
    public func carries(_ kind: StreamKind) -> Bool { self.agreed[kind == .audio ? 0 : 1] != nil }

    /// False where there is no way yet.
    public func send(_ bytes: [UInt8], _ kind: StreamKind, _ channel: Channel) -> Bool {
        self.current?.send(bytes, kind, channel) ?? false
    }

    // MARK: - Waiting

    /// Whether whoever waits has to do so by `wait`.
    public var isAwake: Bool { self.current != nil || self.next != nil || !self.leaving.isEmpty }

    public var deadline: Instant? {
        if [self.current, self.next].contains(where: { $0?.hasEvents ?? false }) { return .zero }
        let searches = [self.current?.searchEndsAt, self.next?.searchEndsAt].compactMap { $0 }
        return (searches + self.leaving.map { $0.until } + self.tunnels.compactMap { $0.deadline }).min()
    }

    /// Waits until the poller has something, something happened here, or the time has come.
    public func wait(_ poller: borrowing Poller, until deadline: Instant?) {
        guard let deadline else { return callbox_ice_wait(poller.number, nil) }
        let left = max(Duration.zero, deadline - Clock.now())
        var limit = timespec()
        limit.tv_sec = .init(left.nanoseconds / 1_000_000_000)
        limit.tv_nsec = .init(left.nanoseconds % 1_000_000_000)
        callbox_ice_wait(poller.number, &limit)
    }

    /// What happened since it was asked last.
    public func takeEvents(_ poller: borrowing Poller, now: Instant) -> [Event] {
        self.leaving.removeAll { $0.agent.isClosed || now >= $0.until }
        var events: [Event] = []
        for tunnel in self.tunnels { events += self.event(tunnel.timePassed(now: now, poller), of: tunnel) }
        for agent in [self.current, self.next].compactMap({ $0 }) {
            agent.timePassed(now: now)
            events += agent.takeEvents().map { self.event($0, of: agent) }
        }
        return events
    }

    private func event(_ event: ICEAgent.Event, of agent: ICEAgent) -> Event {
        switch event {
        case .received(let bytes, let kind, let channel): return .received(bytes, kind, channel)
        case .found(let ways): return .report(.found(agent.number, ways))
        case .selected(let kind, let pair): return .report(.selected(agent.number, kind, pair))
        case .failed(let kind): return .report(.failed(agent.number, kind))
        }
    }
}
