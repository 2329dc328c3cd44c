// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A `sip:` or `sips:` URI, RFC 3261 section 19.1. User, parameters and headers keep their `%HH` escapes.
///
/// `==` compares what is written; `isEquivalent(to:)` compares as section 19.1.4 asks.
public struct SIPURI: Hashable, Sendable {
    /// `sips:`.
    public var isSecure: Bool
    /// Escaped; nil where there is no `@`.
    public var user: ByteString?
    /// Escaped.
    public var password: ByteString?
    public var host: Host
    public var port: UInt16?
    public var parameters: Parameters
    /// `?name=value&name=value`, escaped.
    public var headers: [Parameters.Parameter]

    public init(
        isSecure: Bool = false, user: ByteString? = nil, host: Host, port: UInt16? = nil,
        parameters: Parameters = Parameters()
    ) {
        self.isSecure = isSecure
        self.user = user
        self.password = nil
        self.host = host
        self.port = port
        self.parameters = parameters
        self.headers = []
    }

    /// `transport` parameter as written.
    public var transport: ByteString? { self.parameter("transport")?.value }
    /// Loose routing (RFC 3261 section 16.12).
    public var isLooseRoute: Bool { self.parameter("lr") != nil }
    public var maddr: Host? { self.parameter("maddr")?.value.flatMap { Host($0) } }
    /// The user with its escapes resolved: for people's eyes only.
    public var decodedUser: ByteString? { self.user.map { Escape.decoded($0) } }

    /// The value of the first header of this name, escapes resolved (RFC 3261 section 19.1.5): what a Refer-To says
    /// about Replaces. Nil where it is missing, or holds a control character, which no header field may get from here.
    public func header(_ name: ByteString) -> ByteString? {
        let found = self.headers.first { Escape.decoded($0.name).equalsIgnoringCase(name) }
        guard let value = found?.value.map({ Escape.decoded($0) }),
            value.bytes.allSatisfy({ $0 >= ASCII.space && $0 != 0x7F })
        else { return nil }
        return value
    }

    /// `text` with every byte escaped that may not stand in the user part.
    public static func escapedUser(_ text: ByteString) -> ByteString {
        Escape.escaped(text, keeping: Escape.isUserByte)
    }

    /// Finds a parameter even where the peer escaped letters of its name.
    private func parameter(_ name: ByteString) -> Parameters.Parameter? {
        self.parameters.list.first { Escape.normalized($0.name).equalsIgnoringCase(name) }
    }

    public var printed: ByteString {
        var text: ByteString = self.isSecure ? "sips:" : "sip:"
        if let user = self.user {
            text.append(user)
            if let password = self.password { text += ":" + password }
            text.append(byte: ASCII.at)
        }
        text.append(self.host.printed)
        if let port = self.port {
            text.append(byte: ASCII.colon)
            text.append(decimal: port)
        }
        text.append(self.parameters.printed)
        for (index, header) in self.headers.enumerated() {
            text.append(byte: index == 0 ? ASCII.question : ASCII.ampersand)
            text.append(header.name)
            if let value = header.value { text += "=" + value }
        }
        return text
    }
}

// MARK: - Reading

extension SIPURI {
    /// Reads a whole `sip:`/`sips:` URI without angle brackets; nil for a fault anywhere in it.
    public init?(_ text: ByteString) {
        guard text.bytes.allSatisfy(URI.isURIByte), Escape.isWellFormed(text),
            let colon = text.firstIndex(of: ASCII.colon)
        else { return nil }
        let scheme = text.slice(0..<colon)
        guard scheme.equalsIgnoringCase("sip") || scheme.equalsIgnoringCase("sips") else { return nil }
        var hostStart = colon + 1
        var user: ByteString?
        var password: ByteString?
        if let at = text.firstIndex(of: ASCII.at) {
            guard let info = Self.userInfo(text.slice(hostStart..<max(hostStart, at))) else { return nil }
            (user, password) = info
            hostStart = at + 1
        }
        let rest = text.slice(hostStart..<max(hostStart, text.count))
        let question = rest.firstIndex(of: ASCII.question) ?? rest.count
        let place = rest.slice(0..<question).split(on: ASCII.semicolon)
        guard let (host, port) = Self.hostPort(place[0]),
            let parameters = Self.pairs(place.dropFirst()),
            let headers = question == rest.count
                ? [] : Self.pairs(rest.slice(question + 1..<rest.count).split(on: ASCII.ampersand)[...])
        else { return nil }
        self.init(isSecure: scheme.count == 4, user: user, host: host, port: port, parameters: Parameters(parameters))
        self.password = password
        self.headers = headers
    }

    private static func userInfo(_ text: ByteString) -> (ByteString, ByteString?)? {
        let colon = text.firstIndex(of: ASCII.colon)
        let user = text.slice(0..<(colon ?? text.count))
        guard !user.isEmpty, user.bytes.allSatisfy({ Escape.isUserByte($0) || $0 == ASCII.percent || $0 == ASCII.hash })
        else { return nil }
        return (user, colon.map { text.slice($0 + 1..<max($0 + 1, text.count)) })
    }

    /// `host [":" port]`, the host possibly an IPv6 reference.
    private static func hostPort(_ text: ByteString) -> (Host, UInt16?)? {
        let hostEnd =
            text.firstIndex(of: ASCII.closeBracket).map { $0 + 1 } ?? text.firstIndex(of: ASCII.colon) ?? text.count
        guard let host = Host(text.slice(0..<hostEnd)) else { return nil }
        if hostEnd == text.count { return (host, nil) }
        guard text.bytes[hostEnd] == ASCII.colon, let port = Port.parse(text.slice(hostEnd + 1..<text.count)) else {
            return nil
        }
        return (host, port)
    }

    /// `name[=value]` parts; nil where one has no name, or there are too many.
    private static func pairs(_ parts: ArraySlice<ByteString>) -> [Parameters.Parameter]? {
        guard parts.count <= SIPLimits.parameters else { return nil }
        var pairs: [Parameters.Parameter] = []
        for part in parts {
            let equals = part.firstIndex(of: ASCII.equals)
            let name = part.slice(0..<(equals ?? part.count))
            guard !name.isEmpty, !name.contains(ASCII.at) else { return nil }
            pairs.append(.init(name, equals.map { part.slice($0 + 1..<max($0 + 1, part.count)) }))
        }
        return pairs
    }
}

// MARK: - Comparing

extension SIPURI {
    /// Parameters that make URIs differ when only one of them has it, even at its default.
    private static let decisive: [ByteString] = ["transport", "user", "ttl", "method", "maddr"]

    /// RFC 3261 section 19.1.4. Not transitive, so not `==`.
    public func isEquivalent(to other: SIPURI) -> Bool {
        guard self.isSecure == other.isSecure, self.port == other.port, self.host.matches(other.host),
            self.user.map({ Escape.normalized($0) }) == other.user.map({ Escape.normalized($0) }),
            self.password.map({ Escape.normalized($0) }) == other.password.map({ Escape.normalized($0) })
        else { return false }
        return self.parametersAgree(with: other) && other.parametersAgree(with: self)
            && self.headersAgree(with: other) && other.headersAgree(with: self)
    }

    /// Of a name that appears twice, which no URI should have, the first counts.
    private func parametersAgree(with other: SIPURI) -> Bool {
        self.parameters.list.allSatisfy { parameter in
            let name = Escape.normalized(parameter.name)
            guard let mine = self.parameter(name), let theirs = other.parameter(name) else {
                return !Self.decisive.contains { $0.equalsIgnoringCase(name) }
            }
            return Self.agree(mine.value, theirs.value)
        }
    }

    /// Headers are never ignored: the same ones, in any order.
    private func headersAgree(with other: SIPURI) -> Bool {
        self.headers.count == other.headers.count
            && self.headers.allSatisfy { mine in
                other.headers.contains { $0.name.equalsIgnoringCase(mine.name) && Self.agree($0.value, mine.value) }
            }
    }

    private static func agree(_ left: ByteString?, _ right: ByteString?) -> Bool {
        Escape.normalized(left ?? "").equalsIgnoringCase(Escape.normalized(right ?? ""))
    }
}
