// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// `[identity]`: how the help point names itself to servers and to the far end.
public struct IdentitySettings: Equatable, Sendable {
    /// The whole `User-Agent`; nil for the one that is composed, empty (`none`) for none.
    public var userAgent: ByteString?
    /// Parts of the composed one; nil for what the board and the program say of themselves, empty to leave it out.
    public var product: ByteString?
    public var version: ByteString?
    public var board: ByteString?
    public var architecture: ByteString?
    public var system: ByteString?
    public var build: ByteString?
    /// Whom the server is asked to assert (P-Preferred-Identity, RFC 3325); nil for nobody.
    public var preferred: SIPURI?
    /// What the server is asked to hide (Privacy, RFC 3323 and RFC 3325); empty asks for nothing.
    public var privacy = ByteString()
}

/// What the program and the board say of themselves. Empty where it is not known.
public struct BoardFacts: Equatable, Sendable {
    /// The board's model, as its device tree names it.
    public var board = ByteString()
    /// `arm64`, `armv7`, `x86-64`.
    public var architecture = ByteString()
    /// The operating system and its version.
    public var system = ByteString()
    /// What tells one build of a version from another.
    public var build = ByteString()

    public init() {}
}

extension IdentitySettings {
    /// `User-Agent` (RFC 3261 section 20.41): a product with its version, and the rest as a comment.
    func composedUserAgent(version: ByteString, _ facts: BoardFacts) -> ByteString {
        if let userAgent = self.userAgent { return UserAgent.text(userAgent) }
        let product = UserAgent.token(self.product ?? "callbox")
        let number = UserAgent.token(self.version ?? version)
        var agent: ByteString = product.isEmpty ? "callbox" : product
        if !number.isEmpty { agent += "/" + number }
        let parts = [
            self.board ?? facts.board, self.architecture ?? facts.architecture, self.system ?? facts.system,
            self.build ?? facts.build,
        ].map { UserAgent.comment($0) }.filter { !$0.isEmpty }
        guard let first = parts.first else { return agent }
        return agent + " (" + parts.dropFirst().reduce(first) { $0 + "; " + $1 } + ")"
    }

    /// What an INVITE has beside what every INVITE has.
    var headers: [Header] {
        var headers: [Header] = []
        if let preferred = self.preferred {
            headers.append(Header(.other("P-Preferred-Identity"), NameAddr(preferred).printed))
        }
        if !self.privacy.isEmpty { headers.append(Header(.privacy, self.privacy)) }
        return headers
    }
}

/// The grammar of `User-Agent`.
private enum UserAgent {
    private static let bytesMax = 60

    /// Without what would end the line or the comment.
    static func comment(_ text: ByteString) -> ByteString {
        let plain = text.bytes.filter { $0 >= ASCII.space && $0 < 0x7F && !Self.isDelimiter($0) }
        return ByteString(Array(plain.prefix(self.bytesMax))).trimmed()
    }

    static func token(_ text: ByteString) -> ByteString {
        ByteString(
            text.bytes.filter {
                ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == ASCII.minus || $0 == ASCII.dot || $0 == 0x5F
                    || $0 == ASCII.plus || $0 == UInt8(ascii: "~")
            }.prefix(self.bytesMax).map { $0 })
    }

    /// As the owner wrote it.
    static func text(_ text: ByteString) -> ByteString {
        ByteString(text.bytes.filter { $0 >= ASCII.space && $0 != 0x7F })
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "(") || byte == UInt8(ascii: ")") || byte == ASCII.backslash || byte == ASCII.semicolon
    }
}
