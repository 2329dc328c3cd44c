// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// A peer-to-peer relation between two user agents: RFC 3261 section 12.
struct Dialog {
    let callID: CallID
    /// Our From, or the peer's To: printed as it was first written, with our tag.
    let localAddress: ByteString
    /// The same for the peer. It may change its From later (RFC 4916), but not the tag in it.
    var remoteAddress: ByteString
    let localTag: ByteString
    /// Nil for a peer of RFC 2543 that gives no tag.
    let remoteTag: ByteString?
    /// The number of our last request.
    private(set) var localCSeq: UInt32
    /// The number of the peer's last request; nil before its first.
    var remoteCSeq: UInt32?
    /// The peer's Contact: where requests of ours end.
    var remoteTarget: SIPURI
    /// The proxies that want to see our requests, first hop first.
    let routeSet: [NameAddr]
    /// The way on which the dialog was made, or the newest stream on which the peer used it.
    var flow: Flow
    /// Whether `flow`, where it is a stream, is still open as far as we know.
    var isFlowOpen = true

    /// The dialog that a 2xx makes for the one who sent the request (section 12.1.2). A peer that breaks the rules and
    /// gives no Contact is called where it was called before.
    init?(request: SIPMessage, response: SIPMessage, flow: Flow) {
        guard let sent = request.envelope, let answer = response.envelope, let localTag = sent.from.tag,
            let target = response.contacts?.first?.uri.sip ?? request.requestURI?.sip, let from = request.first(.from),
            let to = response.first(.to)
        else { return nil }
        self.callID = sent.callID
        self.localAddress = from
        self.remoteAddress = to
        self.localTag = localTag
        self.remoteTag = answer.to.tag
        self.localCSeq = sent.cseq.number
        self.remoteCSeq = nil
        self.remoteTarget = target.asRequestURI
        self.routeSet = (response.recordRoutes ?? []).reversed()
        self.flow = flow
    }

    /// The dialog that a request makes for who answers it with `localTag` (section 12.1.1). Nil where there is no
    /// Contact in it that can be called; of who still speaks RFC 2543, which wants none, From is called.
    init?(request: Inbound, localTag: ByteString) {
        let old = request.envelope.via.transactionBranch == nil ? request.envelope.from.uri.sip : nil
        guard let target = request.message.contacts?.first?.uri.sip ?? old, let routes = request.message.recordRoutes,
            let from = request.message.first(.from), let to = request.message.first(.to)
        else { return nil }
        self.callID = request.envelope.callID
        self.localAddress = to + ";tag=" + localTag
        self.remoteAddress = from
        self.localTag = localTag
        self.remoteTag = request.envelope.from.tag
        self.localCSeq = 0
        self.remoteCSeq = request.envelope.cseq.number
        self.remoteTarget = target.asRequestURI
        self.routeSet = routes
        self.flow = request.flow
    }

    enum OnNumber: Equatable {
        case inOrder
        /// Lower than one that came before: to be refused with 500 (section 12.2.2).
        case tooLow
    }

    /// Requests of ours with numbers up to this were sent while the dialog was early.
    mutating func goOn(after number: UInt32) {
        self.localCSeq = max(self.localCSeq, number)
    }

    /// The Contact of a target refresh request or of its 2xx (section 12.2).
    mutating func renewTarget(from message: SIPMessage) {
        guard let target = message.contacts?.first?.uri.sip else { return }
        self.remoteTarget = target.asRequestURI
    }

    /// Takes note of the number of a request of the peer's, ACK and CANCEL aside.
    mutating func received(number: UInt32) -> OnNumber {
        if let last = self.remoteCSeq, number < last { return .tooLow }
        self.remoteCSeq = number
        return .inOrder
    }

    /// The peer used another stream: the old one may be gone.
    mutating func moved(to flow: Flow) {
        self.flow = flow
        self.isFlowOpen = true
    }

    /// Whether this request of ours was sent within the dialog.
    func owns(_ request: SIPMessage) -> Bool {
        request.callID == self.callID && request.to?.tag == self.remoteTag
    }

    /// The number of a new request of ours.
    mutating func takeNumber() -> UInt32 {
        // Wraps after four thousand million requests in one call, which nobody lives to see; a trap would be worse.
        self.localCSeq = self.localCSeq &+ 1
        return self.localCSeq
    }
}

// MARK: - Requests within the dialog

extension Dialog {
    /// A request within the dialog without its Via: Request-URI and Route as section 12.2.1.1 asks.
    func request(_ method: Method, number: UInt32) -> SIPMessage {
        var target = URI.sip(self.remoteTarget)
        var routes = self.routeSet
        if let first = routes.first, let strict = first.uri.sip, !strict.isLooseRoute {
            // A strict router (RFC 2543) wants its own address in the first line and our target last.
            routes.removeFirst()
            routes.append(NameAddr(uri: target))
            target = .sip(strict.asRequestURI)
        }
        var message = SIPMessage(startLine: .request(method, target))
        message.add(.maxForwards, "70")
        for route in routes { message.add(.route, route.printed) }
        message.add(.from, self.localAddress)
        message.add(.to, self.remoteAddress)
        message.add(.callID, self.callID.text)
        message.add(.cseq, CSeq(number, method).printed)
        return message
    }

    /// The way to the first hop of a request within the dialog. Names are not looked up again: where the hop is not an
    /// address, the dialog's own flow is the best guess. What began encrypted stays so, and with whom it was.
    var nextHop: Flow {
        guard self.flow.transport != .tls else { return self.flow }
        let hop = self.routeSet.first?.uri.sip ?? self.remoteTarget
        guard !hop.isSecure, case .address(let address) = hop.maddr ?? hop.host, self.isPlausible(address) else {
            return self.flow
        }
        let isSameHost = address == self.flow.remote.address
        // Without a word about the transport it is UDP (RFC 3263 section 4.1), except that a host which we already
        // speak to is spoken to as before.
        let unspoken = isSameHost ? self.flow.transport : .udp
        guard let transport = hop.transport.map({ SIPTransport($0) }) ?? unspoken, transport != .tls else {
            return self.flow
        }
        if transport == .tcp && self.flow.transport == .tcp && isSameHost && self.isFlowOpen { return self.flow }
        let remote = SocketAddress(address, port: hop.port ?? 5060)
        return Flow(transport: transport, local: self.flow.local, remote: remote)
    }

    /// A peer's Contact must not make us send to everybody, to nobody, or to ourselves.
    private func isPlausible(_ address: IPAddress) -> Bool {
        guard address.isV6 == self.flow.remote.address.isV6 else { return false }
        switch address {
        case .v4(let bits):
            if bits >> 24 == 127 { return self.flow.remote.address.isLoopback }
            return bits != 0 && bits < 0xE000_0000
        case .v6(let high, let low):
            if high == 0 && low <= 1 { return low == 1 && self.flow.remote.address.isLoopback }
            return high >> 56 != 0xFF
        }
    }
}

extension IPAddress {
    fileprivate var isLoopback: Bool {
        switch self {
        case .v4(let bits): return bits >> 24 == 127
        case .v6(let high, let low): return high == 0 && low == 1
        }
    }
}

extension SIPURI {
    /// Without what may not stand in From and To (RFC 3261 section 19.1.1, table 1).
    var asAddress: SIPURI {
        var uri = self.asRequestURI
        uri.port = nil
        for name in ["transport", "maddr", "ttl", "lr"] as [ByteString] { uri.parameters.remove(name) }
        return uri
    }

    /// Without what may not stand in a Request-URI (the same table).
    var asRequestURI: SIPURI {
        var uri = self
        uri.headers = []
        uri.parameters.remove("method")
        return uri
    }
}
