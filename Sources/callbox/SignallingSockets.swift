// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import SIPEngine
import SIPWire
import Secure

/// The sockets of SIP: one for datagrams and one for streams on the same port, and streams of TLS.
struct SignallingSockets: ~Copyable {
    static let datagramToken: UInt64 = 1
    static let streamTokens: UInt64 = 100
    static let tlsTokens: UInt64 = 120
    /// Longer than any message the engine accepts (RFC 3261 section 18.1.1 wants 65,535 bytes).
    private static let datagramMax = 65535
    private static let datagramsATurn = 32

    private var datagrams: UDPSocket
    private var streams: TCPStreams
    private var tls: TLSStreams
    /// The one address we speak of, where the configuration binds one; nil for whatever the route says.
    private let bound: IPAddress?

    init(
        listen: SocketAddress, tls: TLSContext, _ settings: TLSSettings, poller: borrowing Poller
    ) throws(SocketError) {
        let address = listen.address == .v6(high: 0, low: 0) ? nil : listen.address
        let datagrams = try UDPSocket(address: address, port: listen.port, datagramMax: Self.datagramMax)
        let streams = try TCPStreams(
            address: address, port: datagrams.port, tokenBase: Self.streamTokens, poller: poller)
        poller.watch(datagrams.descriptor, token: Self.datagramToken)
        self.bound = listen.address.isUnspecified ? nil : listen.address
        self.datagrams = datagrams
        self.streams = streams
        self.tls = TLSStreams(tls, settings, tokenBase: Self.tlsTokens, poller: poller)
    }

    /// The differentiated services code point of all that is sent.
    mutating func mark(_ codePoint: UInt8) {
        self.datagrams.mark(codePoint)
        self.streams.codePoint = codePoint
        self.tls.mark(codePoint)
    }

    /// The port that Contact names for TLS; the standard one where nobody can connect to us.
    var tlsPort: UInt16 { self.tls.port == 0 ? SIPTransport.tls.standardPort : self.tls.port }

    /// The address and port that Via and Contact name toward `remote`; nil where there is no way there.
    func local(toward remote: SocketAddress) -> SocketAddress? {
        guard let address = localAddress(toward: remote) else { return nil }
        return SocketAddress(self.bound ?? address, port: self.datagrams.port)
    }

    func owns(token: UInt64) -> Bool {
        token == Self.datagramToken || self.streams.owns(token: token) || self.tls.owns(token: token)
    }

    /// Sends; gives inputs where the flow turned out to be broken.
    mutating func send(_ bytes: [UInt8], on flow: Flow, now: Instant, poller: borrowing Poller) -> [KioskInput] {
        switch flow.transport {
        case .udp:
            return self.datagrams.send(bytes, to: flow.remote) ? [] : [.flowFailed(flow)]
        case .tcp:
            return self.streams.send(bytes, to: flow.peer, now: now, poller: poller).map { [Self.input($0)] } ?? []
        case .tls:
            return self.tls.send(bytes, to: flow.peer, now: now, poller: poller).map { Self.input($0) }
        }
    }

    mutating func close(_ flow: Flow, now: Instant, poller: borrowing Poller) {
        switch flow.transport {
        case .udp: break
        case .tcp: self.streams.close(flow.peer, poller: poller)
        case .tls: self.tls.close(flow.peer, now: now, poller: poller)
        }
    }

    /// When `timePassed` is wanted; nil where nothing is waited for.
    var deadline: Instant? { [self.streams.deadline, self.tls.deadline].compactMap { $0 }.min() }

    mutating func timePassed(now: Instant, poller: borrowing Poller) -> [KioskInput] {
        self.streams.timePassed(now: now, poller: poller).map { Self.input($0) }
            + self.tls.timePassed(now: now, poller: poller).map { Self.input($0) }
    }

    mutating func handle(_ ready: Readiness, now: Instant, poller: borrowing Poller) -> [KioskInput] {
        if self.tls.owns(token: ready.token) {
            return self.tls.handle(ready, now: now, poller: poller).map { Self.input($0) }
        }
        guard ready.token == Self.datagramToken else {
            return self.streams.handle(ready, now: now, poller: poller).map { [Self.input($0)] } ?? []
        }
        var events: [KioskInput] = []
        for _ in 0..<Self.datagramsATurn {
            switch self.datagrams.receive() {
            case .received(let bytes, let from, let to):
                events.append(.received(bytes, on: Flow(transport: .udp, local: to, remote: from)))
            case .refused(let remote):
                guard let local = self.local(toward: remote) else { continue }
                events.append(.flowFailed(Flow(transport: .udp, local: local, remote: remote)))
            case .unusable:
                continue
            case .empty:
                return events
            }
        }
        return events
    }

    private static func input(_ event: StreamEvent) -> KioskInput {
        switch event {
        case .received(let bytes, let peer): return .received(bytes, on: Flow(.tcp, peer))
        case .failed(let peer): return .flowFailed(Flow(.tcp, peer))
        }
    }

    private static func input(_ event: TLSEvent) -> KioskInput {
        switch event {
        case .received(let bytes, let peer): return .received(bytes, on: Flow(.tls, peer))
        case .failed(let peer): return .flowFailed(Flow(.tls, peer))
        case .insecure(let peer, let fault): return .insecure(Flow(.tls, peer), fault)
        case .certificate(let record, let verdict): return .certificate(record, verdict)
        }
    }
}

extension Flow {
    fileprivate init(_ transport: SIPTransport, _ peer: StreamPeer) {
        self.init(transport: transport, local: peer.local, remote: peer.remote, name: peer.name)
    }

    fileprivate var peer: StreamPeer { StreamPeer(local: self.local, remote: self.remote, name: self.name) }
}
