// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The fields that every message has and every lookup needs.
public struct Envelope: Hashable, Sendable {
    public var via: Via
    public var from: NameAddr
    public var to: NameAddr
    public var callID: CallID
    public var cseq: CSeq
}

// MARK: - Typed views of the fields

extension SIPMessage {
    /// Never nil for a message that came from `parse`.
    public var envelope: Envelope? {
        guard let via = self.topVia, let from = self.from, let to = self.to, let callID = self.callID,
            let cseq = self.cseq
        else { return nil }
        return Envelope(via: via, from: from, to: to, callID: callID, cseq: cseq)
    }

    public var topVia: Via? {
        self.first(.via).flatMap { HeaderList.split($0).first }.flatMap { Via($0) }
    }

    /// All hops, top first; nil where one of them cannot be read.
    public var vias: [Via]? { Self.all(self.values(.via)) { Via($0) } }

    /// Replaces the top hop, for `received` and `rport`. The hops below it stay as they are.
    public mutating func replaceTopVia(_ via: Via) {
        guard let index = self.headers.firstIndex(where: { $0.name == .via }) else { return }
        let hops = HeaderList.split(self.headers[index].value)
        self.headers[index].value = hops.dropFirst().reduce(via.printed) { $0 + ", " + $1 }
    }

    public var from: NameAddr? { self.first(.from).flatMap { NameAddr($0) } }
    public var to: NameAddr? { self.first(.to).flatMap { NameAddr($0) } }
    public var callID: CallID? { self.first(.callID).flatMap { CallID($0) } }
    public var cseq: CSeq? { self.first(.cseq).flatMap { CSeq($0) } }

    /// 0...255; nil where missing or out of range, which counts as missing (RFC 4475 section 3.1.2.4).
    public var maxForwards: Int? { self.first(.maxForwards)?.decimal(max: 255).map { Int($0) } }

    /// Addresses of the Contact fields; empty where there are none or it is `*`. Nil for a fault.
    public var contacts: [NameAddr]? {
        let values = self.values(.contact)
        return values == ["*"] ? [] : Self.all(values) { NameAddr($0) }
    }

    /// In the order of the message. Nil for a fault.
    public var routes: [NameAddr]? { Self.all(self.values(.route)) { NameAddr($0) } }
    /// In the order of the message. Nil for a fault.
    public var recordRoutes: [NameAddr]? { Self.all(self.values(.recordRoute)) { NameAddr($0) } }

    public var contentType: ContentType? { self.first(.contentType).flatMap { ContentType($0) } }
    /// Content codings of the body; `identity` left out.
    public var contentEncodings: [ByteString] {
        self.tokens(.contentEncoding).filter { !$0.equalsIgnoringCase("identity") }
    }

    /// Whether a session description may come back: nobody who names what it takes leaves that out, unless it means it
    /// (RFC 3261 section 20.1).
    public var acceptsSDP: Bool {
        let types = self.values(.accept).compactMap { ContentType($0) }
        return types.isEmpty || types.contains { $0.isSDP || $0.matches("application", "*") || $0.matches("*", "*") }
    }

    /// Methods of Allow; nil where there is no such field, which says nothing about what is allowed.
    public var allow: [Method]? {
        self.contains(.allow) ? self.tokens(.allow).compactMap { Method($0) } : nil
    }
    public var supported: [ByteString] { self.tokens(.supported) }
    public var require: [ByteString] { self.tokens(.require) }
    public var proxyRequire: [ByteString] { self.tokens(.proxyRequire) }
    public var unsupported: [ByteString] { self.tokens(.unsupported) }
    public var reasons: [Reason] { self.values(.reason).compactMap { Reason($0) } }
    public var retryAfter: RetryAfter? { self.first(.retryAfter).flatMap { RetryAfter($0) } }
    /// Seconds; nil where missing or not a number below 2^32.
    public var expiresSeconds: UInt32? {
        self.first(.expires)?.decimal(max: UInt64(UInt32.max)).map { UInt32($0) }
    }

    /// The non-empty values of a list of tokens.
    public func tokens(_ name: HeaderName) -> [ByteString] {
        self.values(name).filter { Token.isToken($0) }
    }

    /// All or nothing.
    private static func all<View>(_ values: [ByteString], _ read: (ByteString) -> View?) -> [View]? {
        guard values.count <= SIPLimits.listValues else { return nil }
        var views: [View] = []
        for value in values {
            guard let view = read(value) else { return nil }
            views.append(view)
        }
        return views
    }
}
