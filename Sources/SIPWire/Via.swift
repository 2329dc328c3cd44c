// SPDX-License-Identifier: Apache-2.0

import Bytes

/// One hop of a Via header, RFC 3261 section 20.42.
public struct Via: Hashable, Sendable {
    /// `UDP`, `TCP`, … as written.
    public var transport: ByteString
    /// The sent-by host.
    public var host: Host
    /// The sent-by port; nil where the transport's own is meant.
    public var port: UInt16?
    public var parameters: Parameters

    public init(transport: SIPTransport, sentBy: SocketAddress, branch: ByteString, asksRport: Bool = true) {
        self.transport = transport.token
        self.host = .address(sentBy.address)
        self.port = sentBy.port
        self.parameters = Parameters([.init("branch", branch)])
        if asksRport { self.parameters.set("rport", nil) }
    }

    /// Reads one hop; nil for a fault.
    public init?(_ value: ByteString) {
        var scanner = HeaderScanner(value)
        guard let sent = SentPart(&scanner), sent.version == "2.0",
            let parameters = scanner.parameters(max: SIPLimits.hopParameters)
        else { return nil }
        self.init(sent, parameters)
    }

    /// Reads a hop as far as it can be read: any version, faulty parameters left out. Only to answer a bad request.
    init?(lenient value: ByteString) {
        var scanner = HeaderScanner(value)
        guard let sent = SentPart(&scanner) else { return nil }
        self.init(sent, scanner.readableParameters())
    }

    private init(_ sent: SentPart, _ parameters: Parameters) {
        self.transport = sent.transport
        self.host = sent.host
        self.port = sent.port
        self.parameters = parameters
    }

    /// What every branch of RFC 3261 begins with.
    public static let magicCookie: ByteString = "z9hG4bK"

    public var branch: ByteString? { self.parameters.value("branch") }

    /// The branch where it identifies a transaction by itself: with the magic cookie and something after it. Nil means
    /// the rules of RFC 2543 (RFC 3261 section 17.2.3).
    public var transactionBranch: ByteString? {
        guard let branch = self.branch, branch.count > Self.magicCookie.count,
            branch.hasPrefixIgnoringCase(Self.magicCookie)
        else { return nil }
        return branch
    }

    /// The transport's default port where none is written.
    public var sentByPort: UInt16 { self.port ?? (SIPTransport(self.transport) ?? .udp).standardPort }

    public func hasSameSentBy(as other: Via) -> Bool {
        self.host.matches(other.host) && self.sentByPort == other.sentByPort
    }

    public var received: IPAddress? { self.parameters.value("received").flatMap { IPAddress(unbracketing: $0) } }
    /// The sender wants the response at the port it sent from (RFC 3581).
    public var asksRport: Bool { self.parameters.contains("rport") }
    public var rport: UInt16? { self.parameters.value("rport").flatMap { Port.parse($0) } }
    public var maddr: Host? { self.parameters.value("maddr").flatMap { Host($0) } }

    /// What a server does to the top Via of a request as it comes in: `received` where the source is not the sent-by
    /// address or where `rport` is asked for (RFC 3261 section 18.2.1, RFC 3581 section 4), and the port itself. At
    /// most one parameter more: a hop that was taken can be read again.
    public mutating func stamp(source: SocketAddress) {
        if self.asksRport {
            self.parameters.set("rport", ByteString(decimal: source.port))
            self.parameters.set("received", source.address.text)
        } else if self.host != .address(source.address) {
            self.parameters.set("received", source.address.text)
        } else {
            // A sender's own `received` would send our reply to a third party.
            self.parameters.remove("received")
        }
    }

    /// Where a response over an unreliable transport goes (RFC 3261 section 18.2.2, RFC 3581 section 4), read from a
    /// stamped Via. Nil where only a name is given and it was never stamped.
    public var replyAddress: SocketAddress? {
        if let received = self.received { return SocketAddress(received, port: self.rport ?? self.sentByPort) }
        switch self.host {
        case .address(let address): return SocketAddress(address, port: self.sentByPort)
        case .name: return nil
        }
    }

    public var printed: ByteString {
        var text: ByteString = "SIP/2.0/"
        text.append(self.transport)
        text.append(byte: ASCII.space)
        text.append(self.host.printed)
        if let port = self.port {
            text.append(byte: ASCII.colon)
            text.append(decimal: port)
        }
        return text + self.parameters.printed
    }
}

/// `sent-protocol LWS sent-by`, with blanks wherever the grammar lets them stand.
private struct SentPart {
    var version: ByteString
    var transport: ByteString
    var host: Host
    var port: UInt16?

    init?(_ scanner: inout HeaderScanner) {
        scanner.skipBlanks()
        guard let name = scanner.token(), name.equalsIgnoringCase("SIP"), scanner.takeSpaced(ASCII.slash),
            let version = scanner.token(), scanner.takeSpaced(ASCII.slash), let transport = scanner.token()
        else { return nil }
        let end = scanner.position
        scanner.skipBlanks()
        guard scanner.position > end, let host = Host(Self.hostText(&scanner)) else { return nil }
        self.version = version
        self.transport = transport
        self.host = host
        if scanner.takeSpaced(ASCII.colon) {
            guard let port = Port.parse(scanner.run(ASCII.isDigit)) else { return nil }
            self.port = port
        }
    }

    private static func hostText(_ scanner: inout HeaderScanner) -> ByteString {
        guard scanner.peek == ASCII.openBracket else { return scanner.run(Host.isNameByte) }
        let text = scanner.run { $0 != ASCII.closeBracket && $0 != ASCII.space && $0 != ASCII.semicolon }
        return scanner.take(ASCII.closeBracket) ? text + "]" : text
    }
}

/// Ports in URIs and Vias.
enum Port {
    /// 1...65535 in decimal digits.
    static func parse(_ text: ByteString) -> UInt16? {
        guard let value = text.decimal(max: 65_535), value > 0 else { return nil }
        return UInt16(value)
    }
}

extension IPAddress {
    /// As `init(_:)`, and IPv6 may stand in brackets, as some peers write `received`.
    init?(unbracketing text: ByteString) {
        if text.bytes.first == ASCII.openBracket, text.bytes.last == ASCII.closeBracket, text.count > 2 {
            self.init(text.slice(1..<text.count - 1))
        } else {
            self.init(text)
        }
    }
}
