// SPDX-License-Identifier: Apache-2.0

import Bytes
import CICE
import CSystem
import KioskEngine
import Loop
import MediaEngine
import SDPWire

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

    /// Relays that do not answer keep their allocation until it runs out.
    private static let leavingMs = 2_000

    /// - Parameter ports: for our own candidates; nil for any.
    public init(ports: ClosedRange<UInt16>?, _ network: NetworkSettings) {
        self.ports = ports
        self.network = network
    }

    /// Loads the library, which takes a while, where it will be wanted at the next press.
    public func prepare() {
        _ = callbox_ice_load()
    }

    // MARK: - Orders

    public func search(_ search: ICESearch, now: Instant) {
        self.leave(self.next, now: now)
        self.next = ICEAgent(search, ports: self.ports, self.network, now: now)
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
        let searches = [self.current?.searchEndsAt, self.next?.searchEndsAt].compactMap { $0 }
        return (searches + self.leaving.map { $0.until }).min()
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
    public func takeEvents(now: Instant) -> [Event] {
        self.leaving.removeAll { $0.agent.isClosed || now >= $0.until }
        var events: [Event] = []
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
