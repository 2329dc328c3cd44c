// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// A forking proxy (RFC 3261 section 16), written for the simulation: it keeps state for an INVITE outside of a dialog and
/// forwards everything else without.
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
    private var contexts: [Context] = []
    private let secret: UInt64

    init(world: World) {
        self.secret = world.options.seed
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
        if request.to?.tag != nil || request.method == .ack {
            self.forward(request, on: flow)
        } else if request.method == .invite {
            if self.isNew(request, on: flow) { self.fork(request, on: flow) }
        } else {
            self.forward(request, on: flow, to: self.targets(request).first)
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

    /// Without state (RFC 3261 section 16.11): copies of a request get the same branch.
    private func forward(_ request: SIPMessage, on flow: Flow, to target: Hop? = nil) {
        guard let forwards = request.maxForwards, forwards > 0, let branch = request.topVia?.branch else { return }
        let next = request.routes?.first?.uri.sip ?? request.requestURI?.sip
        guard let hop = target ?? next.flatMap({ self.hop(to: $0) }) else { return }
        var request = request
        request.set(.maxForwards, ByteString(decimal: forwards - 1))
        var hash = self.secret
        for byte in branch.bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        var token = Via.magicCookie + "px"
        token.append(hex: hash, width: 16)
        request.prepend(.via, Via(transport: hop.transport, sentBy: self.address, branch: token).printed)
        self.world.send(Parcel(request), from: self, on: self.flow(to: hop))
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

    private func fork(_ request: SIPMessage, on flow: Flow) {
        let context = Context(request, flow, self.serverKey(request))
        let targets = self.targets(request)
        self.answer(request, with: SIPMessage(respondingTo: request, .trying), on: flow)
        guard !targets.isEmpty else { return self.answer(request, .temporarilyUnavailable, on: flow) }
        self.contexts.append(context)
        for target in targets {
            let branch = Branch()
            context.branches.append(branch)
            branch.client = self.start(self.copy(of: request, on: flow, to: target), to: target) { [weak self] response in
                self?.answered(context, branch, response)
            }
        }
    }

    private func copy(of request: SIPMessage, on flow: Flow, to target: Hop) -> SIPMessage {
        var copy = request
        var uri = SIPURI(user: request.requestURI?.sip?.user, host: .address(target.address.address), port: 5060)
        if target.transport == .tcp { uri.parameters.set("transport", "tcp") }
        copy.startLine = .request(.invite, .sip(uri))
        copy.set(.maxForwards, ByteString(decimal: (request.maxForwards ?? 70) - 1))
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

    // MARK: - Answers

    private func answered(_ context: Context, _ branch: Branch, _ response: SIPMessage?) {
        guard self.contexts.contains(where: { $0 === context }) || response?.status?.isSuccess ?? false else { return }
        guard let response, let status = response.status else {
            return self.finished(context, branch, SIPMessage(respondingTo: context.request, .requestTimeout))
        }
        if status.isProvisional {
            if branch.wantsCancel { self.cancelBranch(branch) }
            if status != .trying, !context.isAnswered { self.pass(response, of: context) }
        } else if status.isSuccess {
            branch.isOver = true
            context.isAnswered = true
            self.pass(response, of: context)
            for other in context.branches where !other.isOver { self.cancelBranch(other) }
        } else {
            self.finished(context, branch, response)
        }
    }

    /// A branch failed: the best answer goes back when it was the last (RFC 3261 section 16.7).
    private func finished(_ context: Context, _ branch: Branch, _ response: SIPMessage) {
        branch.isOver = true
        let value = response.status?.value ?? 999
        if context.best == nil || value < context.best?.status?.value ?? 0 || value >= 600 { context.best = response }
        if value >= 600 { for other in context.branches where !other.isOver { self.cancelBranch(other) } }
        guard !context.isAnswered, context.branches.allSatisfy({ $0.isOver }), var best = context.best else { return }
        context.isAnswered = true
        if best.to?.tag == nil {
            best = SIPMessage(respondingTo: context.request, .requestTimeout, toTag: self.newToken())
        } else {
            best = self.popped(best)
        }
        self.answer(context.request, with: best, on: context.flow)
        self.repeatFailure(context, afterMs: Element.t1Ms, since: self.world.now)
    }

    private func repeatFailure(_ context: Context, afterMs: Int, since: Instant) {
        guard context.flow.transport == .udp else { return }
        self.world.after(ms: afterMs) { [weak self] world in
            guard let self, !context.isAcknowledged, world.now < since + .milliseconds(Element.transactionMs),
                let answer = self.servers.first(where: { $0.key == context.key })?.answer
            else { return }
            world.send(answer, from: self, on: Element.reply(to: context.request, on: context.flow))
            self.repeatFailure(context, afterMs: min(afterMs * 2, Element.t2Ms), since: since)
        }
    }

    private func popped(_ response: SIPMessage) -> SIPMessage {
        var response = response
        if let index = response.headers.firstIndex(where: { $0.name == .via }) { response.headers.remove(at: index) }
        return response
    }

    private func pass(_ response: SIPMessage, of context: Context) {
        self.answer(context.request, with: self.popped(response), on: context.flow)
    }

    /// An answer to what was forwarded without state: back by the next Via.
    override func receivedStray(_ response: SIPMessage, on flow: Flow) {
        guard response.topVia?.host == .address(self.address.address) else { return }
        let response = self.popped(response)
        guard let via = response.topVia, let back = via.replyAddress, let transport = SIPTransport(via.transport) else {
            return
        }
        var hop = Hop(transport: transport, address: back)
        if transport == .tcp, !self.world.network.connections.contains(where: { $0.end(of: self, on: self.flow(to: hop)) != nil })
        {
            // The stream is gone: to where the sender listens (RFC 3261 section 18.2.2).
            guard case .address(let host) = via.host else { return }
            hop.address = SocketAddress(host, port: via.sentByPort)
        }
        self.world.send(Parcel(response), from: self, on: self.flow(to: hop))
    }

    // MARK: - CANCEL

    private func receivedCancel(_ request: SIPMessage, on flow: Flow) {
        let key = self.serverKey(request, as: .invite)
        guard let context = self.contexts.first(where: { $0.key == key }) else {
            if request.to?.tag != nil {
                var request = request
                self.takeRoutes(&request)
                return self.forward(request, on: flow)
            }
            let status = StatusCode.callOrTransactionDoesNotExist
            let response = SIPMessage(respondingTo: request, status, toTag: self.newToken())
            return self.world.send(Parcel(response), from: self, on: Self.reply(to: request, on: flow))
        }
        let response = SIPMessage(respondingTo: request, .ok, toTag: "px")
        self.world.send(Parcel(response), from: self, on: Self.reply(to: request, on: flow))
        for branch in context.branches where !branch.isOver { self.cancelBranch(branch) }
    }

    /// CANCEL waits for a provisional answer (RFC 3261 section 9.1).
    private func cancelBranch(_ branch: Branch) {
        guard let client = branch.client, !client.isOver else { return }
        guard client.hasProvisional else {
            branch.wantsCancel = true
            return
        }
        branch.wantsCancel = false
        self.cancel(client)
    }
}
