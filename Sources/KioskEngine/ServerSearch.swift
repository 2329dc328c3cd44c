// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Whom to find.
struct ServerQuery: Equatable {
    /// What the look-up begins with: the host, or `maddr` (RFC 3263 section 4).
    let target: Host
    let port: UInt16?
    /// Nil where the domain may choose.
    let transport: SIPTransport?
    let isSecure: Bool
    /// What a certificate must name.
    let name: ByteString

    /// - Parameter standard: the transport where the URI names none. UDP is what every SIP element speaks and no wish:
    ///   then the domain may choose.
    init(_ uri: SIPURI, standard: SIPTransport) {
        self.target = uri.maddr ?? uri.host
        self.port = uri.port
        self.isSecure = uri.isSecure
        let named = uri.transport.flatMap { SIPTransport($0) } ?? (standard == .udp ? nil : standard)
        // sips with transport=tcp is TLS over TCP (RFC 3261 section 26.2.2).
        self.transport = uri.isSecure && named == .tcp ? .tls : named
        switch uri.host {
        case .name(let name): self.name = name
        case .address(let address): self.name = address.text
        }
    }
}

/// RFC 3263 section 4 as a function of what is known of the names: either where the server is, or what is to be asked
/// first. It has no steps to lose track of: after each answer it is done anew.
struct ServerSearch {
    static let hopsMax = 16
    /// Hosts of one service that are looked at.
    private static let hostsMax = 8
    private static let pointersMax = 4

    private let names: NameTable
    private let now: Instant
    /// Old records will do, and what is not known by now is taken for unknown.
    private let isLast: Bool
    /// What is wanted of the name service, known or not.
    private(set) var questions: [NameQuestion] = []
    /// It is not known yet which services there are, or whether there are none.
    private(set) var isUndecided = false
    /// Something else is not known yet: addresses of a host.
    private(set) var isOpen = false
    /// It was gone on without records that were not there lately, and may be by now.
    private(set) var isDoubtful = false
    private(set) var hops: [Hop] = []
    private let wasAsked: [NameQuestion]
    private let mayAsk: Bool

    /// - Parameters:
    ///   - wasAsked: what it makes no sense to ask again.
    ///   - mayAsk: whether anything more may be asked at all.
    init(
        _ query: ServerQuery, _ names: NameTable, after wasAsked: [NameQuestion], mayAsk: Bool, isLast: Bool,
        now: Instant
    ) {
        self.mayAsk = mayAsk
        self.names = names
        self.now = now
        self.isLast = isLast
        self.wasAsked = wasAsked
        if query.isSecure, query.transport == .udp { return }
        switch query.target {
        case .address(let address):
            let transport = query.transport ?? (query.isSecure ? .tls : .udp)
            self.add(SocketAddress(address, port: query.port ?? transport.standardPort), transport, query)
        case .name(let name):
            self.find(Self.plain(name), query)
        }
    }

    private static func plain(_ name: ByteString) -> ByteString {
        let lower = name.lowercasedASCII()
        return lower.bytes.last == ASCII.dot ? lower.slice(0..<lower.count - 1) : lower
    }

    // MARK: - The steps of section 4

    private mutating func find(_ name: ByteString, _ query: ServerQuery) {
        let standard = query.transport ?? (query.isSecure ? .tls : .udp)
        if let port = query.port {
            return self.addAddresses(of: name, port: port, standard, query)
        }
        guard let transport = query.transport else { return self.findFreely(name, standard, query) }
        // All at once, so that the time of one answer is enough where the earlier one says nothing.
        self.want(.addresses(name))
        if self.addService(Self.service(transport, of: name), transport, query) == .absent {
            self.addAddresses(of: name, port: transport.standardPort, standard, query)
        }
    }

    /// The domain chooses the transport (section 4.1).
    private mutating func findFreely(_ name: ByteString, _ standard: SIPTransport, _ query: ServerQuery) {
        let transports: [SIPTransport] = query.isSecure ? [.tls] : [.tls, .udp, .tcp]
        let pointers = self.records(.naptr(name))
        for transport in transports { self.want(.srv(Self.service(transport, of: name))) }
        self.want(.addresses(name))
        var isOffered = false
        if case .naptr(let list)? = pointers {
            for (transport, service) in Self.usable(list, query) {
                if self.addService(service, transport, query) != .absent { isOffered = true }
            }
        }
        if isOffered || self.isUndecided { return }
        for transport in transports {
            let service = Self.service(transport, of: name)
            if self.addService(service, transport, query) != .absent { isOffered = true }
        }
        if isOffered || self.isUndecided { return }
        self.addAddresses(of: name, port: standard.standardPort, standard, query)
    }

    static func service(_ transport: SIPTransport, of name: ByteString) -> ByteString {
        switch transport {
        case .udp: return "_sip._udp." + name
        case .tcp: return "_sip._tcp." + name
        case .tls: return "_sips._tcp." + name
        }
    }

    /// The pointers to services that we speak; a domain's NAPTR records may be about anything.
    private static func usable(
        _ pointers: [NamingPointer], _ query: ServerQuery
    ) -> [(transport: SIPTransport, service: ByteString)] {
        var usable: [(transport: SIPTransport, service: ByteString)] = []
        for pointer in pointers {
            let service = self.plain(pointer.replacement)
            guard usable.count < self.pointersMax, pointer.flags.equalsIgnoringCase("s"), !service.isEmpty,
                let transport = self.transport(pointer.service), !query.isSecure || transport == .tls,
                !usable.contains(where: { $0.service == service })
            else { continue }
            usable.append((transport, service))
        }
        return usable
    }

    private static func transport(_ service: ByteString) -> SIPTransport? {
        if service.equalsIgnoringCase("SIP+D2U") { return .udp }
        if service.equalsIgnoringCase("SIP+D2T") { return .tcp }
        return service.equalsIgnoringCase("SIPS+D2T") ? .tls : nil
    }

    private enum Service {
        case absent
        /// The domain has it, or says itself that it has not.
        case decided
    }

    /// The hosts of one service (section 4.2), as far as they are known.
    private mutating func addService(
        _ service: ByteString, _ transport: SIPTransport, _ query: ServerQuery
    ) -> Service {
        guard case .srv(let records)? = self.records(.srv(service)) else {
            return self.isUndecided ? .decided : .absent
        }
        for record in records.prefix(Self.hostsMax) where self.hops.count < Self.hopsMax {
            let host = Self.plain(record.target)
            if host.isEmpty { continue }
            if let address = IPAddress(host) {
                self.add(SocketAddress(address, port: record.port), transport, query)
            } else {
                self.addAddresses(of: host, port: record.port, transport, query)
            }
        }
        return .decided
    }

    private mutating func addAddresses(
        of name: ByteString, port: UInt16, _ transport: SIPTransport, _ query: ServerQuery
    ) {
        guard case .addresses(let addresses)? = self.records(.addresses(name)) else { return }
        for address in addresses { self.add(SocketAddress(address, port: port), transport, query) }
    }

    private mutating func add(_ remote: SocketAddress, _ transport: SIPTransport, _ query: ServerQuery) {
        let hop = Hop(transport, remote, name: query.name)
        guard self.hops.count < Self.hopsMax, !remote.address.isUnspecified, !self.hops.contains(hop) else { return }
        self.hops.append(hop)
    }

    // MARK: - What is known

    /// Nil where there are none, or where that is not known.
    private mutating func records(_ question: NameQuestion) -> NameRecords? {
        self.want(question)
        switch self.names.known(question, isOld: self.isLast, now: self.now) {
        case .records(let records): return records
        case .absent(let isOpen):
            if isOpen || self.isToBeAsked(question) { self.isDoubtful = true }
        case .open: self.leaveOpen(question)
        case .unknown: if self.isToBeAsked(question) { self.leaveOpen(question) }
        }
        return nil
    }

    private func isToBeAsked(_ question: NameQuestion) -> Bool {
        self.mayAsk && !self.wasAsked.contains(question)
    }

    private mutating func leaveOpen(_ question: NameQuestion) {
        guard !self.isLast else { return }
        switch question {
        case .naptr, .srv: self.isUndecided = true
        case .addresses: self.isOpen = true
        }
    }

    private mutating func want(_ question: NameQuestion) {
        if !self.questions.contains(question) { self.questions.append(question) }
    }
}
