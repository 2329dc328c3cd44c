// SPDX-License-Identifier: Apache-2.0

/// One question to the name service. Names are lower case, without a dot at the end.
public enum NameQuestion: Hashable, Sendable {
    /// Which services a domain has (RFC 3403).
    case naptr(ByteString)
    /// Which hosts give a service (RFC 2782).
    case srv(ByteString)
    /// A and AAAA together, and what the board's own table of hosts says.
    case addresses(ByteString)
}

/// Names one question; never given before.
public struct QuestionID: Hashable, Sendable {
    public let number: UInt64

    public init(_ number: UInt64) {
        self.number = number
    }
}

/// A NAPTR record, as far as SIP needs it (RFC 3263 section 4.1).
public struct NamingPointer: Equatable, Sendable {
    public var order: UInt16
    public var preference: UInt16
    public var flags: ByteString
    public var service: ByteString
    public var replacement: ByteString

    public init(
        order: UInt16, preference: UInt16, flags: ByteString, service: ByteString, replacement: ByteString
    ) {
        self.order = order
        self.preference = preference
        self.flags = flags
        self.service = service
        self.replacement = replacement
    }
}

/// An SRV record (RFC 2782).
public struct ServiceRecord: Equatable, Sendable {
    public var priority: UInt16
    public var weight: UInt16
    public var port: UInt16
    /// Empty (the root) where the service is decidedly not there.
    public var target: ByteString

    public init(priority: UInt16, weight: UInt16, port: UInt16, target: ByteString) {
        self.priority = priority
        self.weight = weight
        self.port = port
        self.target = target
    }
}

public enum NameRecords: Equatable, Sendable {
    case naptr([NamingPointer])
    case srv([ServiceRecord])
    /// Best first (RFC 6724).
    case addresses([IPAddress])

    public var isEmpty: Bool {
        switch self {
        case .naptr(let records): return records.isEmpty
        case .srv(let records): return records.isEmpty
        case .addresses(let addresses): return addresses.isEmpty
        }
    }

    /// Whether these are the records that the question was about.
    public func answers(_ question: NameQuestion) -> Bool {
        switch (self, question) {
        case (.naptr, .naptr), (.srv, .srv), (.addresses, .addresses): return true
        case (.naptr, _), (.srv, _), (.addresses, _): return false
        }
    }
}

/// The answer to a question.
public enum NameAnswer: Equatable, Sendable {
    /// They hold for so many seconds.
    case found(NameRecords, ttlSeconds: UInt32)
    /// There is no such name, or it has no such records.
    case none
    /// Nobody answered, or nothing that can be used.
    case silent
}
