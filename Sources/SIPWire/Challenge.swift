// SPDX-License-Identifier: Apache-2.0

import Bytes

/// One challenge of WWW-Authenticate or Proxy-Authenticate, RFC 3261 sections 20.27, 20.44 and 25.1. What it asks for
/// is RFC 7616 and RFC 8760.
public struct Challenge: Hashable, Sendable {
    /// `Digest`, as written.
    public var scheme: ByteString
    /// As they came, quoted strings with their quotes; of a name that appears twice, the first counts.
    public var parameters: Parameters

    public var isDigest: Bool { self.scheme.equalsIgnoringCase("Digest") }
    /// Without quotes and backslashes.
    public var realm: ByteString? { self.parameters.text(of: "realm") }
    /// The bytes between the quotes: a nonce is sent back as it came.
    public var nonce: ByteString? { self.parameters.rawText(of: "nonce") }
    /// The bytes between the quotes, to be sent back as they came.
    public var opaque: ByteString? { self.parameters.rawText(of: "opaque") }
    /// The nonce was too old, the password may be right.
    public var isStale: Bool { self.parameters.text(of: "stale")?.equalsIgnoringCase("true") ?? false }
    /// A token, as written; nil means MD5.
    public var algorithm: ByteString? { self.parameters.text(of: "algorithm") }
    /// The qualities of protection on offer; empty where there are none, as before RFC 2617.
    public var qopOptions: [ByteString] {
        (self.parameters.text(of: "qop") ?? "").split(on: ASCII.comma).map { $0.trimmed() }.filter(Token.isToken)
    }
    /// The URIs it holds for, blanks between them; nil means the server's own.
    public var domain: ByteString? { self.parameters.text(of: "domain") }

    /// All challenges of one field. More than one in a field is not the grammar of RFC 3261, but is sent. What cannot
    /// be read ends the list.
    public static func list(_ value: ByteString) -> [Challenge] {
        var scanner = HeaderScanner(value)
        var challenges: [Challenge] = []
        scanner.skipBlanks()
        while challenges.count < SIPLimits.challenges, let challenge = Self.next(&scanner) {
            challenges.append(challenge)
        }
        return challenges
    }

    /// `auth-scheme LWS auth-param *(COMMA auth-param)`, and the comma before the next challenge.
    private static func next(_ scanner: inout HeaderScanner) -> Challenge? {
        guard let scheme = scanner.token(), scanner.takeBlanks() else { return nil }
        var list: [Parameters.Parameter] = []
        repeat {
            // Empty elements of a list mean nothing.
            while scanner.takeSpaced(ASCII.comma) {}
            guard let parameter = scanner.authParameter() else { break }
            guard list.count < SIPLimits.parameters else { return nil }
            list.append(parameter)
        } while scanner.takeSpaced(ASCII.comma)
        return list.isEmpty ? nil : Challenge(scheme: scheme, parameters: Parameters(list))
    }
}

extension HeaderScanner {
    /// `token EQUAL (token / quoted-string)`. Moves nothing where there is none: a token without `=` begins the next
    /// challenge.
    fileprivate mutating func authParameter() -> Parameters.Parameter? {
        var ahead = self
        guard let name = ahead.token(), ahead.takeSpaced(ASCII.equals) else { return nil }
        let value =
            ahead.quotedString()
            ?? ahead.run { $0 > ASCII.space && $0 != ASCII.comma && $0 != ASCII.quote && $0 != 0x7F }
        guard !value.isEmpty else { return nil }
        self = ahead
        return Parameters.Parameter(name, value)
    }
}
