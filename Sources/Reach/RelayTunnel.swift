// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import Secure

/// The way to a relay by TLS, which libnice does not speak: it connects to a port of this host only, and what it says
/// there goes on to the relay, a TLS connection for each of its own.
final class RelayTunnel {
    /// One connection of libnice's and the one to the relay that belongs to it.
    private struct Pair {
        var inner: StreamPeer
        var outer: StreamPeer
    }

    let relay: ICERelay
    private var inner: TCPStreams
    private var outer: TLSStreams
    private var pairs: [Pair] = []
    private var made: UInt32 = 0
    private let tokenBase: UInt64

    private static let innerTokens = UInt64(TCPStreams.connectionsMax + 1)
    static let tokensCount = RelayTunnel.innerTokens + TLSStreams.tokensCount

    /// Nil where no port can be had.
    init?(_ relay: ICERelay, _ tls: TLSContext, _ settings: TLSSettings, tokenBase: UInt64, _ poller: borrowing Poller)
    {
        guard
            let inner = try? TCPStreams(
                address: Self.here, port: 0, strangersMax: TCPStreams.connectionsMax, tokenBase: tokenBase,
                poller: poller)
        else { return nil }
        self.relay = relay
        self.tokenBase = tokenBase
        self.inner = inner
        self.outer = TLSStreams(tls, settings, tokenBase: tokenBase + Self.innerTokens, poller: poller)
    }

    private static let here = IPAddress.v4(0x7F00_0001)

    /// Where libnice is to connect to.
    var address: SocketAddress { SocketAddress(Self.here, port: self.inner.port) }

    func owns(token: UInt64) -> Bool { token >= self.tokenBase && token < self.tokenBase + Self.tokensCount }

    /// Why the relay cannot be used, where something came of this that says so.
    func handle(_ ready: Readiness, now: Instant, _ poller: borrowing Poller) -> TLSFault? {
        guard ready.token < self.tokenBase + Self.innerTokens else {
            return self.take(self.outer.handle(ready, now: now, poller: poller), now, poller)
        }
        return self.inner.handle(ready, now: now, poller: poller).flatMap { self.take($0, now, poller) }
    }

    var deadline: Instant? { self.outer.deadline }

    func timePassed(now: Instant, _ poller: borrowing Poller) -> TLSFault? {
        self.take(self.outer.timePassed(now: now, poller: poller), now, poller)
    }

    // MARK: - Both ways

    private func take(_ event: StreamEvent, _ now: Instant, _ poller: borrowing Poller) -> TLSFault? {
        switch event {
        case .received(let bytes, let peer):
            let outer = self.pairs.first { $0.inner == peer }?.outer ?? self.newPair(peer)
            return self.take(self.outer.send(bytes, to: outer, now: now, poller: poller), now, poller)
        case .failed(let peer):
            guard let index = self.pairs.firstIndex(where: { $0.inner == peer }) else { return nil }
            self.outer.close(self.pairs.remove(at: index).outer, now: now, poller: poller)
            return nil
        }
    }

    private func newPair(_ peer: StreamPeer) -> StreamPeer {
        if self.pairs.count == TCPStreams.connectionsMax { self.pairs.removeFirst() }
        // Connections to one and the same server are told apart by a number in place of our address.
        self.made &+= 1
        let outer = StreamPeer(
            local: SocketAddress(.v4(self.made), port: 0), remote: self.relay.address, name: self.relay.name)
        self.pairs.append(Pair(inner: peer, outer: outer))
        return outer
    }

    private func take(_ events: [TLSEvent], _ now: Instant, _ poller: borrowing Poller) -> TLSFault? {
        var fault: TLSFault?
        for event in events {
            switch event {
            case .received(let bytes, let peer):
                guard let pair = self.pairs.first(where: { $0.outer == peer }) else { continue }
                if self.inner.send(bytes, to: pair.inner, now: now, poller: poller) != nil {
                    self.end(peer, now, poller)
                }
            case .failed(let peer): self.end(peer, now, poller)
            case .insecure(let peer, let reason):
                fault = reason
                self.end(peer, now, poller)
            case .certificate: break
            }
        }
        return fault
    }

    private func end(_ outer: StreamPeer, _ now: Instant, _ poller: borrowing Poller) {
        guard let index = self.pairs.firstIndex(where: { $0.outer == outer }) else { return }
        let pair = self.pairs.remove(at: index)
        self.inner.close(pair.inner, poller: poller)
        self.outer.close(outer, now: now, poller: poller)
    }
}
