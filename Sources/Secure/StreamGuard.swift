// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire

/// Stands between the sockets of one stream and the media engine: takes protection off what comes, puts it on what
/// goes. Where protection is agreed upon, nothing passes without.
public struct StreamGuard {
    /// Packets since `apply` with the first plan of a call.
    public struct Counts: Equatable, Sendable {
        /// Not made with the key.
        public var forged: UInt64 = 0
        public var replayed: UInt64 = 0
        /// Came or were to go before there was a key, or after it was worn out.
        public var unkeyed: UInt64 = 0
    }

    /// Whether a stream's packets have a way.
    public enum News: Equatable {
        /// The handshakes gave keys.
        case secured
        case failed(ByteString)
        /// The keys of the descriptions should be replaced. Once for each pair of keys.
        case wearsOut
    }

    /// A datagram of a handshake.
    public struct Outgoing {
        public var datagram: [UInt8]
        public var onControlSocket: Bool
        /// Nil: to the announced address.
        public var to: SocketAddress?
    }

    struct Keyed {
        var send: SRTPContext
        var receive: SRTPContext
    }

    /// The handshake of one socket: without multiplexing RTCP has its own (RFC 5764 section 4.1).
    struct Association {
        var handshake: DTLSHandshake
        var keyed: Keyed?
        /// Where the last datagram of the other side came from.
        var source: SocketAddress?
    }

    enum State {
        case open
        case keys(NegotiatedKeys, Keyed)
        case handshake(NegotiatedHandshake, rtp: Association, rtcp: Association?)
        /// Nothing passes.
        case shut
    }

    /// The last datagram of a handshake that came before the description that announces it: whoever answers a call may
    /// begin at once, and would ask again only after a second.
    private struct Early {
        var datagram: [UInt8]
        var source: SocketAddress
        var onControlSocket: Bool
    }

    let identity: DTLSIdentity?
    private var early: [Early] = []
    var state = State.open
    private(set) var isMuxed = false
    private var hasToldWear = false
    var pendingNews: News?
    public private(set) var counts = Counts()

    public init(_ identity: DTLSIdentity?) {
        self.identity = identity
    }

    /// The call is over.
    public mutating func reset() {
        self.state = .open
        self.counts = Counts()
    }

    // MARK: - Plans

    /// What was agreed upon. Keys that stay go on where they were, and so does a handshake (RFC 3711 section 3.3.1, RFC
    /// 5763 section 6.6).
    /// - Parameter mayComeFrom: whether the other side may be there.
    public mutating func apply(
        _ protection: NegotiatedProtection, isMuxed: Bool, now: Instant,
        mayComeFrom: (SocketAddress) -> Bool = { _ in true }
    ) {
        self.isMuxed = isMuxed
        defer { self.takeEarly(mayComeFrom) }
        switch protection {
        case .none: self.state = .open
        case .sdes(let keys): self.apply(keys)
        case .dtls(let agreed): self.apply(agreed, now: now)
        }
    }

    private mutating func takeEarly(_ mayComeFrom: (SocketAddress) -> Bool) {
        let all = self.early
        self.early = []
        guard case .handshake = self.state else { return }
        for one in all where mayComeFrom(one.source) {
            _ = self.receive(one.datagram, from: one.source, onControlSocket: one.onControlSocket)
        }
    }

    private mutating func keep(_ datagram: [UInt8], from source: SocketAddress, onControlSocket: Bool) {
        guard datagram.count <= SecureLimits.handshakeDatagramBytes else { return }
        self.early.removeAll { $0.onControlSocket == onControlSocket }
        self.early.append(Early(datagram: datagram, source: source, onControlSocket: onControlSocket))
    }

    private mutating func apply(_ keys: NegotiatedKeys) {
        var former: (NegotiatedKeys, Keyed)?
        if case .keys(let old, let keyed) = self.state, old.suite == keys.suite { former = (old, keyed) }
        let send = former.flatMap { $0.0.send == keys.send ? $0.1.send : nil }
        let receive = former.flatMap { $0.0.receive == keys.receive ? $0.1.receive : nil }
        guard let send = send ?? SRTPContext(sending: keys.suite, keys.send),
            let receive = receive ?? SRTPContext(receiving: keys.suite, keys.receive)
        else {
            self.state = .shut
            self.pendingNews = .failed("the keys cannot be used")
            return
        }
        if former?.0 != keys { self.hasToldWear = false }
        self.state = .keys(keys, Keyed(send: send, receive: receive))
    }

    private mutating func noteWear() {
        guard !self.hasToldWear, case .keys(_, let keyed) = self.state else { return }
        guard keyed.send.wearsOut || keyed.receive.wearsOut else { return }
        self.hasToldWear = true
        self.pendingNews = .wearsOut
    }

    /// What became of the handshakes since it was asked last.
    public mutating func takeNews() -> News? {
        defer { self.pendingNews = nil }
        return self.pendingNews
    }

    // MARK: - Packets

    /// Whether a datagram belongs to a handshake, by its first byte (RFC 7983 section 7).
    public static func isHandshake(_ datagram: [UInt8]) -> Bool {
        datagram.first.map { (20...63).contains($0) } ?? false
    }

    /// - Parameter onControlSocket: the RTCP socket.
    private func keyed(onControlSocket: Bool) -> Keyed? {
        switch self.state {
        case .open, .shut: return nil
        case .keys(_, let keyed): return keyed
        case .handshake(_, let rtp, let rtcp): return onControlSocket ? rtcp?.keyed : rtp.keyed
        }
    }

    private func isControl(_ packet: [UInt8], onControlSocket: Bool) -> Bool {
        onControlSocket || self.isMuxed && packet.count >= 2 && (192...223).contains(packet[1])
    }

    /// What goes out for a packet of ours; nil: nothing.
    public mutating func protect(_ packet: [UInt8], onControlSocket: Bool) -> [UInt8]? {
        if case .open = self.state { return packet }
        let isControl = self.isControl(packet, onControlSocket: onControlSocket)
        let protected = self.keyed(onControlSocket: onControlSocket)?.send.protect(packet, isControl: isControl)
        if protected == nil { self.counts.unkeyed &+= 1 }
        self.noteWear()
        return protected
    }

    /// The packet for the media engine in a datagram that came; nil: none. A datagram of a handshake may leave some to
    /// send (`takeDatagrams`) and some `news`.
    public mutating func receive(
        _ datagram: [UInt8], from source: SocketAddress, onControlSocket: Bool
    ) -> [UInt8]? {
        if case .open = self.state {
            guard Self.isHandshake(datagram) else { return datagram }
            self.keep(datagram, from: source, onControlSocket: onControlSocket)
            return nil
        }
        if Self.isHandshake(datagram) {
            self.advance(onControlSocket: onControlSocket) {
                $0.source = source
                $0.handshake.receive(datagram)
            }
            return nil
        }
        guard let keyed = self.keyed(onControlSocket: onControlSocket) else {
            self.counts.unkeyed &+= 1
            return nil
        }
        var packet = datagram
        let isControl = self.isControl(datagram, onControlSocket: onControlSocket)
        defer { self.noteWear() }
        switch keyed.receive.unprotect(&packet, isControl: isControl) {
        case .authentic: return packet
        case .forged: self.counts.forged &+= 1
        case .replayed: self.counts.replayed &+= 1
        case .wornOut: self.counts.unkeyed &+= 1
        }
        return nil
    }
}
