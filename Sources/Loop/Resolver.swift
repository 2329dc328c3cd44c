// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDNS
import CSystem

/// The answer to one question.
public struct ResolverAnswer {
    /// The number given with the question.
    public var id: UInt64
    /// Best first (RFC 6724 order); empty where the name is unknown or nobody answered.
    public var addresses: [SocketAddress]
}

/// Host names to addresses by c-ares, which works on a thread of its own; answers come through a mailbox.
public final class Resolver {
    public let answers = Mailbox<ResolverAnswer>(capacity: 16)
    private var channel: OpaquePointer?
    private static let questionTimeoutMs: Int32 = 2000
    private static let tries: Int32 = 2
    static let addressesMax = 8

    /// Carries a question through the C callback.
    private final class Question {
        let id: UInt64
        let port: UInt16
        let answers: Mailbox<ResolverAnswer>

        init(id: UInt64, port: UInt16, answers: Mailbox<ResolverAnswer>) {
            self.id = id
            self.port = port
            self.answers = answers
        }
    }

    public init() {
        guard ares_library_init(ARES_LIB_INIT_ALL) == 0 else { return }
        var options = ares_options()
        options.timeout = Self.questionTimeoutMs
        options.tries = Self.tries
        options.evsys = ARES_EVSYS_DEFAULT
        let mask = Int32(ARES_OPT_TIMEOUTMS) | Int32(ARES_OPT_TRIES) | Int32(ARES_OPT_EVENT_THREAD)
        if ares_init_options(&self.channel, &options, mask) != Int32(ARES_SUCCESS.rawValue) { self.channel = nil }
    }

    /// Asks for all addresses of `host`. The answer always comes, also when it is empty.
    public func resolve(_ host: ByteString, port: UInt16, id: UInt64) {
        guard let channel = self.channel, !host.contains(0) else {
            self.answers.put(ResolverAnswer(id: id, addresses: []))
            return
        }
        let question = Unmanaged.passRetained(Question(id: id, port: port, answers: self.answers))
        var hints = ares_addrinfo_hints()
        hints.ai_family = AF_UNSPEC
        host.withCString { name in
            ares_getaddrinfo(
                channel, name, nil, &hints,
                { context, status, _, result in
                    let question = Unmanaged<Question>.fromOpaque(context!).takeRetainedValue()
                    var addresses: [SocketAddress] = []
                    if status == Int32(ARES_SUCCESS.rawValue) {
                        addresses = Resolver.addresses(result, port: question.port)
                    }
                    ares_freeaddrinfo(result)
                    question.answers.put(ResolverAnswer(id: question.id, addresses: addresses))
                }, question.toOpaque())
        }
    }

    private static func addresses(_ result: UnsafeMutablePointer<ares_addrinfo>?, port: UInt16) -> [SocketAddress] {
        var addresses: [SocketAddress] = []
        var node = result?.pointee.nodes
        while let current = node, addresses.count < self.addressesMax {
            var storage = sockaddr_storage()
            let length = min(Int(current.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
            memcpy(&storage, current.pointee.ai_addr, length)
            if var address = SocketAddress(storage) {
                address.port = port
                addresses.append(address)
            }
            node = current.pointee.ai_next
        }
        return addresses
    }
}
