// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The value of From, To, Contact, Route, Record-Route and their kin: an optional display name, a URI, parameters
/// (RFC 3261 sections 20.10 and 25.1).
public struct NameAddr: Hashable, Sendable {
    /// Without quotes and backslashes. Empty where there is none.
    public var displayName: ByteString
    public var uri: URI
    /// Parameters of the header value, not of the URI.
    public var parameters: Parameters

    public init(displayName: ByteString = ByteString(), uri: URI, parameters: Parameters = Parameters()) {
        self.displayName = displayName
        self.uri = uri
        self.parameters = parameters
    }

    public init(displayName: ByteString = ByteString(), _ uri: SIPURI, tag: ByteString? = nil) {
        self.init(displayName: displayName, uri: .sip(uri))
        self.tag = tag
    }

    /// Reads one value. Nil for a fault; in particular for an address without angle brackets that holds `?` or `,`.
    public init?(_ value: ByteString) {
        var scanner = HeaderScanner(value)
        scanner.skipBlanks()
        guard let (name, uri) = Self.bracketed(&scanner) ?? Self.bare(&scanner), let parameters = scanner.parameters()
        else { return nil }
        self.init(displayName: name, uri: uri, parameters: parameters)
    }

    public var tag: ByteString? {
        get { self.parameters.value("tag") }
        set {
            if let newValue { self.parameters.set("tag", newValue) } else { self.parameters.remove("tag") }
        }
    }

    /// Always with angle brackets, the display name in quotes.
    public var printed: ByteString {
        var text = ByteString()
        if !self.displayName.isEmpty { text = QuotedString.quoted(self.displayName) + " " }
        return text + "<" + self.uri.printed + ">" + self.parameters.printed
    }
}

// MARK: - The two forms

extension NameAddr {
    /// `[ display-name ] "<" URI ">"`. Moves nothing where the value has not this form.
    private static func bracketed(_ scanner: inout HeaderScanner) -> (ByteString, URI)? {
        var ahead = scanner
        guard let name = self.displayName(&ahead), ahead.take(ASCII.less), let text = ahead.upTo(ASCII.greater),
            let uri = URI(text)
        else { return nil }
        scanner = ahead
        return (name, uri)
    }

    /// A quoted string, or words; empty where neither stands here. Peers leave the quotes away around UTF-8, `&` and
    /// brackets as well; only what has a meaning in a list or a URI is not taken for a word.
    private static func displayName(_ scanner: inout HeaderScanner) -> ByteString? {
        if scanner.peek == ASCII.quote {
            guard let quoted = scanner.quotedString() else { return nil }
            scanner.skipBlanks()
            return QuotedString.unquoted(quoted)
        }
        return scanner.run(self.isWordByte).trimmed()
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case ASCII.less, ASCII.greater, ASCII.quote, ASCII.comma, ASCII.semicolon, ASCII.colon, ASCII.at: return false
        default: return byte == ASCII.tab || byte >= ASCII.space && byte != 0x7F
        }
    }

    /// A URI without brackets: it ends at the first semicolon, and may hold neither comma nor question mark (RFC 3261
    /// section 20.10).
    private static func bare(_ scanner: inout HeaderScanner) -> (ByteString, URI)? {
        let text = scanner.run {
            URI.isURIByte($0) && $0 != ASCII.semicolon && $0 != ASCII.comma && $0 != ASCII.question
        }
        guard let uri = URI(text) else { return nil }
        return (ByteString(), uri)
    }
}
