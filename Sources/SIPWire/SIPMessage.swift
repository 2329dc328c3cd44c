// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The first line of a message, RFC 3261 sections 7.1 and 7.2.
public enum StartLine: Hashable, Sendable {
    case request(Method, URI)
    case response(StatusCode, reason: ByteString)
}

/// One header field. `value` is unfolded and trimmed, otherwise as it came.
public struct Header: Hashable, Sendable {
    public var name: HeaderName
    public var value: ByteString

    public init(_ name: HeaderName, _ value: ByteString) {
        self.name = name
        self.value = value
    }
}

/// A SIP request or response, RFC 3261 section 7: a start line, header fields in order, a body.
///
/// Fields keep their bytes; the typed views (`topVia`, `from`, `cseq` …) read them on demand. A message that came
/// from `parse` has a readable start line, Via, From, To, Call-ID and CSeq, and at most one of each field that must
/// be single.
public struct SIPMessage: Hashable, Sendable {
    public var startLine: StartLine
    public var headers: [Header]
    public var body: [UInt8]

    public init(startLine: StartLine, headers: [Header] = [], body: [UInt8] = []) {
        self.startLine = startLine
        self.headers = headers
        self.body = body
    }

    /// Nil for a response.
    public var method: Method? {
        switch self.startLine {
        case .request(let method, _): return method
        case .response: return nil
        }
    }

    /// Nil for a response.
    public var requestURI: URI? {
        switch self.startLine {
        case .request(_, let uri): return uri
        case .response: return nil
        }
    }

    /// Nil for a request.
    public var status: StatusCode? {
        switch self.startLine {
        case .request: return nil
        case .response(let status, _): return status
        }
    }

    public var isRequest: Bool { self.method != nil }
}

// MARK: - Fields by name

extension SIPMessage {
    /// The value of the first field of this name.
    public func first(_ name: HeaderName) -> ByteString? {
        self.headers.first { $0.name == name }?.value
    }

    /// The values of all fields of this name, in order, one for each field.
    public func fields(_ name: HeaderName) -> [ByteString] {
        var fields: [ByteString] = []
        for header in self.headers where header.name == name { fields.append(header.value) }
        return fields
    }

    /// The values of a list header: all fields of this name, cut at the commas outside quotes and angle brackets
    /// (RFC 3261 section 7.3.1). An empty value is kept, for it is a fault of the peer's that a view must see.
    public func values(_ name: HeaderName) -> [ByteString] {
        var values: [ByteString] = []
        for header in self.headers where header.name == name { values += HeaderList.split(header.value) }
        return values
    }

    public func contains(_ name: HeaderName) -> Bool {
        self.headers.contains { $0.name == name }
    }

    /// Adds a field below all others.
    public mutating func add(_ name: HeaderName, _ value: ByteString) {
        self.headers.append(Header(name, value))
    }

    /// Adds a field above all others.
    public mutating func prepend(_ name: HeaderName, _ value: ByteString) {
        self.headers.insert(Header(name, value), at: 0)
    }

    /// Leaves exactly one field of this name: in place of the first, or below all others where there was none.
    public mutating func set(_ name: HeaderName, _ value: ByteString) {
        guard let index = self.headers.firstIndex(where: { $0.name == name }) else {
            self.add(name, value)
            return
        }
        self.remove(name)
        self.headers.insert(Header(name, value), at: index)
    }

    public mutating func remove(_ name: HeaderName) {
        self.headers.removeAll { $0.name == name }
    }
}
