// SPDX-License-Identifier: Apache-2.0

import Bytes
import Loop
import SIPEngine
import SIPWire

/// What came from the network for the SIP engine.
enum SignallingEvent {
    case received([UInt8], on: Flow)
    case failed(Flow)
}

/// The sockets of SIP: one for datagrams, and streams, on the same port.
struct SignallingSockets: ~Copyable {
    static let datagramToken: UInt64 = 1
    static let streamTokens: UInt64 = 100
    /// Longer than any message the engine accepts (RFC 3261 section 18.1.1 wants 65,535 bytes).
    private static let datagramMax = 65535
    private static let datagramsATurn = 32

    private var datagrams: UDPSocket
    private var streams: TCPStreams
    /// The one address we speak of, where the configuration binds one; nil for whatever the route says.
    private let bound: IPAddress?

    init(listen: SocketAddress, poller: borrowing Poller) throws(SocketError) {
        let address = listen.address == .v6(high: 0, low: 0) ? nil : listen.address
        let datagrams = try UDPSocket(address: address, port: listen.port, datagramMax: Self.datagramMax)
        let streams = try TCPStreams(
            address: address, port: datagrams.port, tokenBase: Self.streamTokens, poller: poller)
        poller.watch(datagrams.descriptor, token: Self.datagramToken)
        self.bound = listen.address.isUnspecified ? nil : listen.address
        self.datagrams = datagrams
        self.streams = streams
    }

    /// The address and port that Via and Contact name toward `remote`; nil where there is no way there.
    func local(toward remote: SocketAddress) -> SocketAddress? {
        guard let address = localAddress(toward: remote) else { return nil }
        return SocketAddress(self.bound ?? address, port: self.datagrams.port)
    }

    func owns(token: UInt64) -> Bool {
        token == Self.datagramToken || self.streams.owns(token: token)
    }

    /// Sends; gives an event where the flow turned out to be broken.
    mutating func send(_ bytes: [UInt8], on flow: Flow, now: Instant, poller: borrowing Poller) -> SignallingEvent? {
        switch flow.transport {
        case .udp:
            return self.datagrams.send(bytes, to: flow.remote) ? nil : .failed(flow)
        case .tls:
            return .failed(flow)
        case .tcp:
            return self.streams.send(bytes, local: flow.local, remote: flow.remote, now: now, poller: poller)
                .map(Self.event)
        }
    }

    mutating func close(_ flow: Flow, poller: borrowing Poller) {
        guard flow.transport == .tcp else { return }
        self.streams.close(remote: flow.remote, poller: poller)
    }

    mutating func handle(_ ready: Readiness, now: Instant, poller: borrowing Poller) -> [SignallingEvent] {
        guard ready.token == Self.datagramToken else {
            return self.streams.handle(ready, now: now, poller: poller).map { [Self.event($0)] } ?? []
        }
        var events: [SignallingEvent] = []
        for _ in 0..<Self.datagramsATurn {
            switch self.datagrams.receive() {
            case .received(let bytes, let from, let to):
                events.append(.received(bytes, on: Flow(transport: .udp, local: to, remote: from)))
            case .refused(let remote):
                guard let local = self.local(toward: remote) else { continue }
                events.append(.failed(Flow(transport: .udp, local: local, remote: remote)))
            case .unusable:
                continue
            case .empty:
                return events
            }
        }
        return events
    }

    private static func event(_ event: StreamEvent) -> SignallingEvent {
        switch event {
        case .received(let bytes, let local, let remote):
            return .received(bytes, on: Flow(transport: .tcp, local: local, remote: remote))
        case .failed(let local, let remote):
            return .failed(Flow(transport: .tcp, local: local, remote: remote))
        }
    }
}
