// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// The next hop of a message.
struct Hop: Equatable {
    var transport: SIPTransport
    var address: SocketAddress
}

/// A scripted SIP element of the simulation: a stand-in for other people's software, with the few transactions it
/// needs.
class Element: Node {
    /// One request of ours that is sent again until it is answered.
    final class Client {
        let request: SIPMessage
        let hop: Hop
        var hasProvisional = false
        var isOver = false
        var acknowledgement: Parcel?
        /// Each response that comes, copies too; nil once where none comes.
        var take: (SIPMessage?) -> Void

        init(_ request: SIPMessage, _ hop: Hop, _ take: @escaping (SIPMessage?) -> Void) {
            self.request = request
            self.hop = hop
            self.take = take
        }
    }

    /// One request that came, with its last answer.
    struct Server {
        let key: ByteString
        let at: Instant
        var answer: Parcel?
        var flow: Flow
    }

    let index: Int
    let name: String
    let address: SocketAddress
    let readsBytes = false
    var isUp = true
    unowned let world: World
    private var clients: [ByteString: Client] = [:]
    private(set) var servers: [Server] = []
    /// Copies of a request come no later than that after it.
    private static let copiesMs = 40_000
    static let t1Ms = 500
    static let t2Ms = 4000
    /// The last copy goes out well before the other side forgets.
    private static let lastCopyMs = 28_000
    static let transactionMs = 32_000

    init(index: Int, name: String, address: SocketAddress, world: World) {
        self.index = index
        self.name = name
        self.address = address
        self.world = world
    }

    /// A request that is not a copy, its Via stamped.
    func received(_ request: SIPMessage, on flow: Flow) {}
    /// A response that belongs to no request of ours.
    func receivedStray(_ response: SIPMessage, on flow: Flow) {}
    func failed(_ flow: Flow) {}
    final func receive(_ bytes: [UInt8], ending parcels: [Parcel], on flow: Flow) {}

    final func receive(_ parcel: Parcel, on flow: Flow) {
        guard var message = parcel.message, var via = message.topVia, let cseq = message.cseq else { return }
        if message.isRequest {
            via.stamp(source: flow.remote)
            message.replaceTopVia(via)
            self.received(message, on: flow)
        } else if let client = self.clients[Self.key(via, cseq.method)] {
            self.answered(client, message)
        } else {
            self.receivedStray(message, on: flow)
        }
    }

    /// Requests and what waits for their answers hold each other: the world is over.
    final func letGo() {
        for client in self.clients.values { client.take = { _ in } }
        self.clients = [:]
    }

    private static func key(_ via: Via, _ method: Method) -> ByteString {
        (via.branch ?? "") + " " + method.token
    }

    func newToken(_ digits: Int = 12) -> ByteString {
        self.world.draw.token(digits: digits)
    }

    // MARK: - Requests of ours

    /// Sends a request, with a Via of ours above the others.
    @discardableResult
    func start(
        _ request: SIPMessage, to hop: Hop, branch: ByteString? = nil, _ take: @escaping (SIPMessage?) -> Void
    ) -> Client {
        var request = request
        let via = Via(
            transport: hop.transport, sentBy: self.address, branch: branch ?? Via.magicCookie + self.newToken())
        request.prepend(.via, via.printed)
        let client = Client(request, hop, take)
        if let method = request.method { self.clients[Self.key(via, method)] = client }
        self.transmit(client, Parcel(request), afterMs: Self.t1Ms, since: self.world.now)
        return client
    }

    func flow(to hop: Hop) -> Flow {
        Flow(transport: hop.transport, local: self.address, remote: hop.address)
    }

    private func transmit(_ client: Client, _ parcel: Parcel, afterMs: Int, since: Instant) {
        self.world.send(parcel, from: self, on: self.flow(to: client.hop))
        if client.hop.transport == .udp,
            self.world.now + .milliseconds(afterMs) < since + .milliseconds(Self.lastCopyMs)
        {
            self.world.after(ms: afterMs) { [weak self] _ in
                guard let self, self.isUp, !client.isOver, !self.isQuiet(client) else { return }
                let cap = client.request.method == .invite ? Int.max : Self.t2Ms
                self.transmit(client, parcel, afterMs: min(afterMs * 2, cap), since: since)
            }
        }
        guard self.world.now == since else { return }
        self.world.after(ms: Self.transactionMs) { _ in
            // A call that rings may ring for long.
            guard !client.isOver, !(client.hasProvisional && client.request.method == .invite) else { return }
            client.isOver = true
            client.take(nil)
        }
    }

    private func isQuiet(_ client: Client) -> Bool {
        client.hasProvisional && client.request.method == .invite
    }

    private func answered(_ client: Client, _ response: SIPMessage) {
        guard let status = response.status else { return }
        if status.isProvisional {
            client.hasProvisional = true
            if client.isOver { return }
        } else if client.request.method == .invite, !status.isSuccess {
            self.acknowledge(client, response)
        }
        let wasOver = client.isOver
        if status.isFinal { client.isOver = true }
        if !wasOver || status.isSuccess && client.request.method == .invite { client.take(response) }
    }

    /// The ACK for a 300–699, which belongs to the INVITE's transaction.
    private func acknowledge(_ client: Client, _ response: SIPMessage) {
        if client.acknowledgement == nil, let target = client.request.requestURI, let cseq = client.request.cseq {
            var ack = SIPMessage(startLine: .request(.ack, target))
            if let via = client.request.topVia { ack.add(.via, via.printed) }
            for header in client.request.headers {
                switch header.name {
                case .maxForwards, .route, .from, .callID: ack.headers.append(header)
                default: break
                }
            }
            ack.add(.to, response.first(.to) ?? "")
            ack.add(.cseq, CSeq(cseq.number, .ack).printed)
            client.acknowledgement = Parcel(ack)
        }
        if let ack = client.acknowledgement { self.world.send(ack, from: self, on: self.flow(to: client.hop)) }
    }

    /// CANCEL for an INVITE of ours.
    func cancel(_ client: Client) {
        guard let target = client.request.requestURI, let cseq = client.request.cseq,
            let branch = client.request.topVia?.branch
        else { return }
        var message = SIPMessage(startLine: .request(.cancel, target))
        for header in client.request.headers {
            switch header.name {
            case .maxForwards, .route, .from, .to, .callID: message.headers.append(header)
            default: break
            }
        }
        message.add(.cseq, CSeq(cseq.number, .cancel).printed)
        self.start(message, to: client.hop, branch: branch) { _ in }
    }

    // MARK: - Requests of others

    /// Nil for a copy, which is answered as the first one was. `as` names the INVITE of an ACK or CANCEL.
    func isNew(_ request: SIPMessage, on flow: Flow) -> Bool {
        let key = self.serverKey(request)
        if let server = self.servers.first(where: { $0.key == key }) {
            if let answer = server.answer { self.world.send(answer, from: self, on: server.flow) }
            return false
        }
        let limit = self.world.now + .milliseconds(-Self.copiesMs)
        if let first = self.servers.first, first.at < limit { self.servers.removeFirst() }
        let reply = Self.reply(to: request, on: flow)
        self.servers.append(Server(key: key, at: self.world.now, answer: nil, flow: reply))
        return true
    }

    func serverKey(_ request: SIPMessage, as method: Method? = nil) -> ByteString {
        guard let via = request.topVia, let cseq = request.cseq else { return "" }
        return (via.branch ?? "") + " " + via.host.printed + " " + (method ?? cseq.method).token
    }

    static func reply(to request: SIPMessage, on flow: Flow) -> Flow {
        guard flow.transport == .udp, let back = request.topVia?.replyAddress else { return flow }
        return Flow(transport: .udp, local: flow.local, remote: back)
    }

    func answer(_ request: SIPMessage, with response: SIPMessage, on flow: Flow) {
        let parcel = Parcel(response)
        let key = self.serverKey(request)
        if let index = self.servers.firstIndex(where: { $0.key == key }) { self.servers[index].answer = parcel }
        self.world.send(parcel, from: self, on: Self.reply(to: request, on: flow))
    }

    func answer(_ request: SIPMessage, _ status: StatusCode, tag: ByteString? = nil, on flow: Flow) {
        self.answer(
            request, with: SIPMessage(respondingTo: request, status, toTag: tag ?? self.newToken()), on: flow)
    }
}
