// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire

/// The handshakes that give keys, and what they want sent.
extension StreamGuard {
    mutating func apply(_ agreed: NegotiatedHandshake, now: Instant) {
        if case .handshake(let old, let rtp, let rtcp) = self.state, old == agreed {
            guard self.isMuxed == (rtcp != nil) else { return }
            // RTCP moved: to the RTP port, or away from it.
            self.state = .handshake(agreed, rtp: rtp, rtcp: self.isMuxed ? nil : self.associate(agreed, now: now))
            return
        }
        guard let rtp = self.associate(agreed, now: now) else {
            self.state = .shut
            self.pendingNews = .failed("there is no certificate for a handshake")
            return
        }
        self.state = .handshake(agreed, rtp: rtp, rtcp: self.isMuxed ? nil : self.associate(agreed, now: now))
    }

    private func associate(_ agreed: NegotiatedHandshake, now: Instant) -> Association? {
        guard let identity = self.identity, let handshake = DTLSHandshake(agreed, identity, now: now) else {
            return nil
        }
        handshake.begin()
        return Association(handshake: handshake)
    }

    mutating func advance(onControlSocket: Bool, _ step: (inout Association) -> Void) {
        guard case .handshake(let agreed, var rtp, var rtcp) = self.state else { return }
        if !onControlSocket {
            step(&rtp)
            if let news = Self.look(at: &rtp) { self.pendingNews = news }
        } else if var own = rtcp {
            step(&own)
            // A call goes on without reports.
            _ = Self.look(at: &own)
            rtcp = own
        }
        self.state = .handshake(agreed, rtp: rtp, rtcp: rtcp)
    }

    private static func look(at association: inout Association) -> News? {
        guard association.keyed == nil else { return nil }
        switch association.handshake.state {
        case .running: return nil
        case .failed(let text): return .failed(text)
        case .done(let keys):
            guard let send = SRTPContext(sending: keys.suite, keys.send),
                let receive = SRTPContext(receiving: keys.suite, [CryptoKey(secret: keys.receive)])
            else { return .failed("the keys of the handshake cannot be used") }
            association.keyed = Keyed(send: send, receive: receive)
            return .secured
        }
    }

    /// Datagrams that go out now on the two sockets, and to where if not to the announced address.
    public func takeDatagrams() -> [Outgoing] {
        guard case .handshake(_, let rtp, let rtcp) = self.state else { return [] }
        var outgoing = rtp.handshake.takeDatagrams().map {
            Outgoing(datagram: $0, onControlSocket: false, to: rtp.source)
        }
        for datagram in rtcp?.handshake.takeDatagrams() ?? [] {
            outgoing.append(Outgoing(datagram: datagram, onControlSocket: true, to: rtcp?.source))
        }
        return outgoing
    }

    public func deadline(now: Instant) -> Instant? {
        guard case .handshake(_, let rtp, let rtcp) = self.state else { return nil }
        return [rtp.handshake.deadline(now: now), rtcp?.handshake.deadline(now: now)].compactMap { $0 }.min()
    }

    public mutating func expire(now: Instant) {
        for onControlSocket in [false, true] {
            self.advance(onControlSocket: onControlSocket) {
                guard let due = $0.handshake.deadline(now: now), due <= now else { return }
                $0.handshake.expire(now: now)
            }
        }
    }
}
