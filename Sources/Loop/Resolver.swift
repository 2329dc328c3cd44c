// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDNS
import CSystem

/// The answer to one question.
public struct ResolverAnswer {
    public var id: QuestionID
    public var answer: NameAnswer
}

/// The name service by c-ares, which works on a thread of its own; answers come through a mailbox. Whatever a server
/// sends, an answer is bounded; one that is lost on the way is a silent server to whoever asked.
public final class Resolver {
    public let answers = Mailbox<ResolverAnswer>(capacity: 128)
    private var channel: OpaquePointer?
    /// For the first try and for the longest: two of them fit into the time that a search has.
    private static let tryMs: Int32 = 700
    private static let longestTryMs: Int32 = 1000
    private static let tries: Int32 = 2
    static let recordsMax = 64
    /// Bytes of a name, as written (RFC 1035 section 2.3.4).
    static let nameBytesMax = 255

    /// Carries a question through the C callback.
    private final class Asked {
        let id: QuestionID
        let question: NameQuestion
        let answers: Mailbox<ResolverAnswer>

        init(id: QuestionID, question: NameQuestion, answers: Mailbox<ResolverAnswer>) {
            self.id = id
            self.question = question
            self.answers = answers
        }

        func answer(_ answer: NameAnswer) {
            self.answers.put(ResolverAnswer(id: self.id, answer: answer))
        }
    }

    /// - Parameter servers: the name servers to ask; empty for those that the system names.
    public init(servers: [SocketAddress] = []) {
        guard ares_library_init(ARES_LIB_INIT_ALL) == 0 else { return }
        var options = ares_options()
        options.timeout = Self.tryMs
        options.maxtimeout = Self.longestTryMs
        options.tries = Self.tries
        options.evsys = ARES_EVSYS_DEFAULT
        // How long an answer holds is for those to know who asked.
        options.qcache_max_ttl = 0
        let mask =
            Int32(ARES_OPT_TIMEOUTMS) | Int32(ARES_OPT_MAXTIMEOUTMS) | Int32(ARES_OPT_TRIES)
            | Int32(ARES_OPT_EVENT_THREAD) | Int32(ARES_OPT_QUERY_CACHE)
        guard ares_init_options(&self.channel, &options, mask) == Int32(ARES_SUCCESS.rawValue) else {
            self.channel = nil
            return
        }
        guard !servers.isEmpty else { return }
        var list = ByteString()
        for server in servers { list += (list.isEmpty ? "" : ",") + server.text }
        _ = list.withCString { ares_set_servers_ports_csv(self.channel, $0) }
    }

    /// The answer always comes, also where there is none.
    public func ask(_ id: QuestionID, _ question: NameQuestion) {
        let asked = Asked(id: id, question: question, answers: self.answers)
        switch question {
        case .naptr(let name): self.query(name, ARES_REC_TYPE_NAPTR, asked)
        case .srv(let name): self.query(name, ARES_REC_TYPE_SRV, asked)
        case .addresses(let name): self.findAddresses(name, asked)
        }
    }

    private static func isUsable(_ name: ByteString) -> Bool {
        !name.isEmpty && name.count <= self.nameBytesMax && !name.contains(0)
    }

    private static func answer(withoutRecords status: UInt32) -> NameAnswer {
        status == ARES_ENOTFOUND.rawValue || status == ARES_ENODATA.rawValue ? .none : .silent
    }

    // MARK: - NAPTR and SRV

    private func query(_ name: ByteString, _ type: ares_dns_rec_type_t, _ asked: Asked) {
        guard let channel = self.channel, Self.isUsable(name) else { return asked.answer(.silent) }
        let context = Unmanaged.passRetained(asked).toOpaque()
        _ = name.withCString { name in
            ares_query_dnsrec(
                channel, name, ARES_CLASS_IN, type,
                { context, status, _, record in
                    let asked = Unmanaged<Asked>.fromOpaque(context!).takeRetainedValue()
                    guard status == ARES_SUCCESS, let record else {
                        return asked.answer(Resolver.answer(withoutRecords: status.rawValue))
                    }
                    asked.answer(Resolver.answer(record, to: asked.question))
                }, context, nil)
        }
    }

    private static func answer(_ record: OpaquePointer, to question: NameQuestion) -> NameAnswer {
        var pointers: [NamingPointer] = []
        var services: [ServiceRecord] = []
        var ttl = UInt32.max
        let count = ares_dns_record_rr_cnt(record, ARES_SECTION_ANSWER)
        for index in 0..<count where pointers.count + services.count < self.recordsMax {
            guard let row = ares_dns_record_rr_get_const(record, ARES_SECTION_ANSWER, index) else { continue }
            let type = ares_dns_rr_get_type(row)
            if type == ARES_REC_TYPE_NAPTR {
                pointers.append(self.pointer(row))
            } else if type == ARES_REC_TYPE_SRV {
                services.append(self.service(row))
            } else {
                continue
            }
            ttl = min(ttl, ares_dns_rr_get_ttl(row))
        }
        switch question {
        case .naptr: return pointers.isEmpty ? .none : .found(.naptr(pointers), ttlSeconds: ttl)
        case .srv: return services.isEmpty ? .none : .found(.srv(services), ttlSeconds: ttl)
        case .addresses: return .silent
        }
    }

    private static func pointer(_ row: OpaquePointer) -> NamingPointer {
        NamingPointer(
            order: ares_dns_rr_get_u16(row, ARES_RR_NAPTR_ORDER),
            preference: ares_dns_rr_get_u16(row, ARES_RR_NAPTR_PREFERENCE),
            flags: self.text(row, ARES_RR_NAPTR_FLAGS), service: self.text(row, ARES_RR_NAPTR_SERVICES),
            replacement: self.text(row, ARES_RR_NAPTR_REPLACEMENT))
    }

    private static func service(_ row: OpaquePointer) -> ServiceRecord {
        ServiceRecord(
            priority: ares_dns_rr_get_u16(row, ARES_RR_SRV_PRIORITY),
            weight: ares_dns_rr_get_u16(row, ARES_RR_SRV_WEIGHT), port: ares_dns_rr_get_u16(row, ARES_RR_SRV_PORT),
            target: self.text(row, ARES_RR_SRV_TARGET))
    }

    private static func text(_ row: OpaquePointer, _ key: ares_dns_rr_key_t) -> ByteString {
        ByteString(cString: ares_dns_rr_get_str(row, key), countMax: self.nameBytesMax)
    }

    // MARK: - Addresses

    private func findAddresses(_ name: ByteString, _ asked: Asked) {
        guard let channel = self.channel, Self.isUsable(name) else { return asked.answer(.silent) }
        let context = Unmanaged.passRetained(asked).toOpaque()
        var hints = ares_addrinfo_hints()
        hints.ai_family = AF_UNSPEC
        name.withCString { name in
            ares_getaddrinfo(
                channel, name, nil, &hints,
                { context, status, _, result in
                    let asked = Unmanaged<Asked>.fromOpaque(context!).takeRetainedValue()
                    if status == Int32(ARES_SUCCESS.rawValue) {
                        asked.answer(Resolver.addresses(result))
                    } else {
                        asked.answer(Resolver.answer(withoutRecords: UInt32(bitPattern: status)))
                    }
                    ares_freeaddrinfo(result)
                }, context)
        }
    }

    /// As c-ares orders them, which is by RFC 6724.
    private static func addresses(_ result: UnsafeMutablePointer<ares_addrinfo>?) -> NameAnswer {
        var addresses: [IPAddress] = []
        var ttl = UInt32.max
        var node = result?.pointee.nodes
        while let current = node, addresses.count < self.recordsMax {
            var storage = sockaddr_storage()
            let length = min(Int(current.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
            memcpy(&storage, current.pointee.ai_addr, length)
            if let address = SocketAddress(storage)?.address, !addresses.contains(address) {
                addresses.append(address)
                ttl = min(ttl, UInt32(clamping: current.pointee.ai_ttl))
            }
            node = current.pointee.ai_next
        }
        return addresses.isEmpty ? .none : .found(.addresses(addresses), ttlSeconds: ttl)
    }
}
