// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// A forking proxy (RFC 3261 section 16), written for the simulation: it keeps the state of every transaction, and
/// none of dialogs.
final class Proxy: Element {
    /// One INVITE under way.
    final class Context {
        let request: SIPMessage
        let flow: Flow
        let key: ByteString
        var branches: [Branch] = []
        var best: SIPMessage?
        /// A final answer was given: 2xx may still follow.
        var isAnswered = false
        var isAcknowledged = false

        init(_ request: SIPMessage, _ flow: Flow, _ key: ByteString) {
            self.request = request
            self.flow = flow
            self.key = key
        }
    }

    final class Branch {
        var client: Client?
        var isOver = false
        var wantsCancel = false
    }

    static let address = SocketAddress(.v4(0xC000_020A), port: 5060)
    var contexts: [Context] = []
    var bindings: [ByteString: Binding] = [:]

    init(world: World) {
        super.init(index: 2, name: "px", address: Self.address, world: world)
    }

    /// Loses what it knows of open calls, as a proxy that was started anew.
    func forget() {
        self.world.note("px forgets its calls")
        self.contexts = []
    }

    // MARK: - Requests

    override func received(_ request: SIPMessage, on flow: Flow) {
        switch request.method {
        case .cancel: return self.receivedCancel(request, on: flow)
        case .register: return self.receivedRegister(request, on: flow)
        case .ack:
            let key = self.serverKey(request, as: .invite)
            if let context = self.contexts.first(where: { $0.key == key }) {
                // For a 300–699 of ours; the ACK for a 2xx has a branch of its own.
                context.isAcknowledged = true
                return
            }
        default: break
        }
        var request = request
        self.takeRoutes(&request)
        if request.method == .ack { return self.forward(request, on: flow) }
        guard self.isNew(request, on: flow) else { return }
        if request.to?.tag == nil, request.method == .invite {
            self.fork(request, on: flow, to: self.targets(request))
        } else {
            let next = request.to?.tag == nil ? self.targets(request).first : self.nextHop(request)
            guard let next, next.address != self.address else { return }
            guard request.method == .invite else { return self.relay(request, on: flow, next) }
            self.fork(request, on: flow, to: [next])
        }
    }

    /// What a strict router made of the first line is undone, and our own entries go (RFC 3261 section 16.4).
    private func takeRoutes(_ request: inout SIPMessage) {
        guard var routes = request.routes else { return }
        if request.requestURI?.sip?.user == "rr", let last = routes.popLast() {
            request.startLine = .request(request.method ?? .invite, last.uri)
        }
        while let first = routes.first?.uri.sip, first.host == .address(Self.address.address) { routes.removeFirst() }
        request.remove(.route)
        for route in routes { request.add(.route, route.printed) }
    }

    private func nextHop(_ request: SIPMessage) -> Hop? {
        let next = request.routes?.first?.uri.sip ?? request.requestURI?.sip
        return next.flatMap { self.hop(to: $0) }
    }

    /// One hop less to go; nil where there is none left.
    private func lowered(_ request: SIPMessage) -> SIPMessage? {
        guard let forwards = request.maxForwards, forwards > 0 else { return nil }
        var request = request
        request.set(.maxForwards, ByteString(decimal: forwards - 1))
        return request
    }

    /// The ACK for a 2xx, which no transaction owns: its copies get the same branch (RFC 3261 section 16.11).
    private func forward(_ request: SIPMessage, on flow: Flow) {
        guard let branch = request.topVia?.branch, let hop = self.nextHop(request), hop.address != self.address,
            var request = self.lowered(request)
        else { return }
        var token = Via.magicCookie + "px"
        token.append(hex: branch.hashSeed, width: 16)
        request.prepend(.via, Via(transport: hop.transport, sentBy: self.address, branch: token).printed)
        self.world.send(Parcel(request), from: self, on: self.flow(to: hop))
    }

    /// Everything but INVITE and ACK. Where no answer comes nothing is said (RFC 4320).
    private func relay(_ request: SIPMessage, on flow: Flow, _ hop: Hop) {
        guard let copy = self.lowered(request) else { return }
        self.start(copy, to: hop) { [weak self] response in
            guard let self, let response, response.status != .trying else { return }
            self.answer(request, with: self.popped(response), on: flow)
        }
    }

    private func hop(to uri: SIPURI) -> Hop? {
        guard case .address(let address) = uri.host else { return nil }
        let transport = uri.transport.flatMap { SIPTransport($0) } ?? .udp
        return Hop(transport: transport, address: SocketAddress(address, port: uri.port ?? 5060))
    }

    // MARK: - Forking

    private func targets(_ request: SIPMessage) -> [Hop] {
        let user = request.requestURI?.sip?.user
        let source = request.topVia?.replyAddress?.address
        let kiosks = self.world.kiosks.filter { $0.address.address != source }
        if let named = kiosks.first(where: { ByteString(utf8Of: $0.name) == user }) { return [self.hop(to: named)] }
        let agents = self.world.agents.filter { $0.address.address != source }
        if let named = agents.first(where: { ByteString(utf8Of: $0.name) == user }) { return [named.hop] }
        var all = kiosks.map { self.hop(to: $0) } + agents.map { $0.hop }
        var chosen: [Hop] = []
        let count = 1 + Int(self.world.draw.below(UInt64(self.world.options.forksMax)))
        while chosen.count < count, !all.isEmpty {
            chosen.append(all.remove(at: Int(self.world.draw.below(UInt64(all.count)))))
        }
        return chosen
    }

    private func hop(to kiosk: KioskNode) -> Hop {
        Hop(transport: kiosk.options.usesTCP ? .tcp : .udp, address: kiosk.address)
    }

    private func fork(_ request: SIPMessage, on flow: Flow, to targets: [Hop]) {
        let context = Context(request, flow, self.serverKey(request))
        self.answer(request, with: SIPMessage(respondingTo: request, .trying), on: flow)
        guard !targets.isEmpty else { return self.answer(request, .temporarilyUnavailable, on: flow) }
        self.contexts.append(context)
        for target in targets {
            let branch = Branch()
            context.branches.append(branch)
            guard let copy = self.copy(of: request, on: flow, to: target) else { continue }
            branch.client = self.start(copy, to: target) { [weak self] in self?.answered(context, branch, $0) }
        }
    }

    private func copy(of request: SIPMessage, on flow: Flow, to target: Hop) -> SIPMessage? {
        guard var copy = self.lowered(request), request.to?.tag == nil else { return self.lowered(request) }
        var uri = SIPURI(user: request.requestURI?.sip?.user, host: .address(target.address.address), port: 5060)
        if target.transport == .tcp { uri.parameters.set("transport", "tcp") }
        copy.startLine = .request(.invite, .sip(uri))
        switch self.world.options.recordRouting {
        case .none: break
        case .loose: copy.prepend(.recordRoute, self.route(isLoose: true, target.transport, flow.transport))
        case .strict: copy.prepend(.recordRoute, self.route(isLoose: false, target.transport, flow.transport))
        case .double:
            copy.prepend(.recordRoute, self.route(isLoose: true, flow.transport, flow.transport))
            copy.prepend(.recordRoute, self.route(isLoose: true, target.transport, target.transport))
        }
        return copy
    }

    /// One entry for two sides names a transport only where both have the same.
    private func route(isLoose: Bool, _ one: SIPTransport, _ other: SIPTransport) -> ByteString {
        var uri = SIPURI(user: "rr", host: .address(self.address.address), port: self.address.port)
        if one == other, one == .tcp { uri.parameters.set("transport", "tcp") }
        if isLoose { uri.parameters.set("lr", nil) }
        return NameAddr(uri: .sip(uri)).printed
    }

    /// A 2xx to an INVITE that was forgotten: back by the next Via.
    override func receivedStray(_ response: SIPMessage, on flow: Flow) {
        guard response.topVia?.host == .address(self.address.address) else { return }
        let response = self.popped(response)
        guard let via = response.topVia, let back = via.replyAddress, let transport = SIPTransport(via.transport),
            case .address(let host) = via.host
        else { return }
        let stamped = self.flow(to: Hop(transport: transport, address: back))
        let streams = self.world.network.connections
        if transport == .udp || streams.contains(where: { $0.end(of: self, on: stamped) != nil }) {
            return self.world.send(Parcel(response), from: self, on: stamped)
        }
        // The stream is gone: to where the sender listens (RFC 3261 section 18.2.2).
        let listening = Hop(transport: transport, address: SocketAddress(host, port: via.sentByPort))
        self.world.send(Parcel(response), from: self, on: self.flow(to: listening))
    }

    // MARK: - CANCEL

    private func receivedCancel(_ request: SIPMessage, on flow: Flow) {
        let key = self.serverKey(request, as: .invite)
        guard let context = self.contexts.first(where: { $0.key == key }) else {
            let status = StatusCode.callOrTransactionDoesNotExist
            let response = SIPMessage(respondingTo: request, status, toTag: self.newToken())
            return self.world.send(Parcel(response), from: self, on: Self.reply(to: request, on: flow))
        }
        let response = SIPMessage(respondingTo: request, .ok, toTag: "px")
        self.world.send(Parcel(response), from: self, on: Self.reply(to: request, on: flow))
        for branch in context.branches where !branch.isOver { self.cancelBranch(branch) }
    }

    /// CANCEL waits for a provisional answer (RFC 3261 section 9.1).
    func cancelBranch(_ branch: Branch) {
        guard let client = branch.client, !client.isOver else { return }
        guard client.hasProvisional else {
            branch.wantsCancel = true
            return
        }
        branch.wantsCancel = false
        self.cancel(client)
    }
}
