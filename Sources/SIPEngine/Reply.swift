// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Why a request is not taken: a status of 300–699 and what must be said with it.
struct Refusal {
    let status: StatusCode
    let headers: [Header]

    init(_ status: StatusCode, _ headers: [Header] = []) {
        self.status = status
        self.headers = headers
    }
}

// MARK: - Answers

extension SIPEngine {
    /// Answers without keeping state (RFC 3261 section 8.2.7).
    mutating func refuse(_ request: Inbound, _ refusal: Refusal) {
        var response = self.response(to: request, refusal.status, tag: self.statelessTag(for: request.message))
        response.headers += refusal.headers
        self.send(response.printed(), on: request.reply)
    }

    /// Answers within the request's transaction.
    mutating func refuse(_ request: Inbound, _ refusal: Refusal, _ id: UInt64, now: Instant) {
        var response = self.response(to: request, refusal.status, tag: nil)
        response.headers += refusal.headers
        self.answer(id, with: response, now: now)
    }

    /// A response with the headers that every one of its status has. `tag` goes to To where the request has none there.
    func response(to request: Inbound, _ status: StatusCode, tag: ByteString?) -> SIPMessage {
        var response = SIPMessage(respondingTo: request.message, status, toTag: tag)
        let isTarget = request.method == .invite || request.method == .update || request.method == .options
        if isTarget && status > .trying && status < StatusCode(300) {
            response.add(.contact, self.contact(request.flow, isSecure: request.message.requestURI?.sip?.isSecure))
        }
        if status.isSuccess && isTarget {
            response.headers.append(self.allowHeader)
            response.add(.supported, ByteString.list(Self.extensions))
        }
        self.addServer(to: &response)
        return response
    }

    func addServer(to response: inout SIPMessage) {
        if !self.configuration.userAgent.isEmpty { response.add(.server, self.configuration.userAgent) }
    }

    /// The same for every copy of a request, and different for every other.
    func statelessTag(for request: SIPMessage) -> ByteString {
        var hash = self.tagSecret
        for name in [HeaderName.callID, .from, .cseq, .via] {
            for byte in request.first(name)?.bytes ?? [] { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        }
        var tag = ByteString()
        tag.append(hex: hash, width: 16)
        return tag
    }
}

// MARK: - What we say of ourselves

extension SIPEngine {
    static let allowed: [Method] = [
        .invite, .ack, .cancel, .bye, .options, .info, .update, .prack, .refer, .message,
    ]
    /// Option tags that we understand in Require and write into Supported.
    static let extensions: [ByteString] = ["100rel", "timer", "replaces", "norefersub", "from-change"]

    var allowHeader: Header { Header(.allow, ByteString.list(Self.allowed.map { $0.token })) }

    /// Who we say we are in a request outside of a dialog.
    func from(_ flow: Flow, tag: ByteString, by sender: Sender) -> NameAddr {
        let identity =
            sender.identity ?? self.configuration.identity
            ?? self.uri(self.configuration.contactUser, on: flow)
        let name = sender.displayName ?? self.configuration.displayName
        return NameAddr(displayName: name, identity.asAddress, tag: tag)
    }

    func via(_ branch: ByteString, _ flow: Flow) -> Via {
        Via(transport: flow.transport, sentBy: flow.local, branch: branch)
    }

    /// `user` at the address of the flow.
    func uri(_ user: ByteString, on flow: Flow) -> SIPURI {
        SIPURI(
            user: user.isEmpty ? nil : SIPURI.escapedUser(user), host: .address(flow.local.address),
            port: flow.local.port)
    }

    /// Where the peer reaches us while the dialog lives: as we registered on that flow, or down the flow itself where
    /// the registrar's side knows it (RFC 5626 section 4.3); `sips:` where the call was asked for by such an address
    /// (RFC 3261 sections 8.1.1.8 and 12.1.1).
    func contact(_ flow: Flow, isSecure: Bool?) -> ByteString {
        let registration = self.registrations.first { $0.request.flow == flow }
        var uri = self.plainContact(flow, registration?.contactAddress, isSecure: isSecure ?? false)
        if registration?.isOutbound ?? false { uri.parameters.set("ob", nil) }
        return NameAddr(uri: .sip(uri)).printed
    }

    /// - Parameter seen: how others see the flow's own address; nil where it is as we see it.
    func plainContact(_ flow: Flow, _ seen: SocketAddress?, isSecure: Bool = false) -> SIPURI {
        var uri = self.uri(self.configuration.contactUser, on: flow)
        uri.isSecure = isSecure
        if let seen {
            uri.host = .address(seen.address)
            uri.port = seen.port
        }
        switch flow.transport {
        case .udp: break
        case .tcp: uri.parameters.set("transport", "tcp")
        case .tls: if !uri.isSecure { uri.parameters.set("transport", "tls") }
        }
        return uri
    }
}

extension SIPMessage {
    /// A route set, first hop first.
    mutating func add(_ routes: [NameAddr]) {
        for route in routes.prefix(SIPEngine.routesMax) { self.add(.route, route.printed) }
    }
}
