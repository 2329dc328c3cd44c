// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A way by which a part of a medium may be reached: the value of an `a=candidate` line (RFC 8839 section 5.1). UDP
/// only; what else there is in a description is passed over.
public struct ICECandidate: Hashable, Sendable {
    /// How its address was found (RFC 8445 section 5.1.1).
    public enum Kind: Hashable, Sendable {
        case host, serverReflexive, peerReflexive, relayed

        var word: ByteString {
            switch self {
            case .host: return "host"
            case .serverReflexive: return "srflx"
            case .peerReflexive: return "prflx"
            case .relayed: return "relay"
            }
        }

        init?(_ word: ByteString) {
            let all: [Kind] = [.host, .serverReflexive, .peerReflexive, .relayed]
            guard let kind = all.first(where: { $0.word == word }) else { return nil }
            self = kind
        }

        public var text: ByteString { self.word }
    }

    /// Equal for ways that share their fate: 1 to 32 letters of ICE.
    public var foundation: ByteString
    /// 1: RTP, and RTCP where they share a port; 2: RTCP.
    public var component: UInt8
    public var priority: UInt32
    public var address: SocketAddress
    public var kind: Kind
    /// The address behind it; nil for a host's.
    public var base: SocketAddress?

    public init(
        foundation: ByteString, component: UInt8, priority: UInt32, address: SocketAddress, kind: Kind,
        base: SocketAddress? = nil
    ) {
        self.foundation = foundation
        self.component = component
        self.priority = priority
        self.address = address
        self.kind = kind
        self.base = base
    }

    /// Reads one; nil for what cannot be used: another transport, a name for an address (`.local` ones among them), a
    /// group's or no address, port 0, a third component.
    public init?(_ value: ByteString) {
        let fields = Fields.split(value)
        guard fields.count >= 8, ICE.isWord(fields[0], 1...32), let component = fields[1].decimal(max: 2),
            component > 0, fields[2].equalsIgnoringCase("UDP"),
            let priority = fields[3].decimal(max: UInt64(UInt32.max)),
            let address = ICE.address(fields[4], port: fields[5]), fields[6] == "typ", let kind = Kind(fields[7])
        else { return nil }
        self.foundation = fields[0]
        self.component = UInt8(component)
        self.priority = UInt32(priority)
        self.address = address
        self.kind = kind
        if fields.count >= 12, fields[8] == "raddr", fields[10] == "rport" {
            self.base = ICE.address(fields[9], port: fields[11])
        }
    }

    public var printed: ByteString {
        var text = self.foundation + " "
        text.append(decimal: self.component)
        text.append(" UDP ")
        text.append(decimal: self.priority)
        text.append(" " + self.address.address.text + " ")
        text.append(decimal: self.address.port)
        text.append(" typ " + self.kind.word)
        // RFC 8839 section 5.1 wants it wherever the address is not the host's own.
        if self.kind != .host {
            let base = self.base ?? SocketAddress(.v4(0), port: 9)
            text.append(" raddr " + base.address.text + " rport ")
            text.append(decimal: base.port)
        }
        return text
    }
}

/// The words of RFC 8839 section 5.
enum ICE {
    /// Letters, digits, `+` and `/`, so many of them.
    static func isWord(_ word: ByteString, _ length: ClosedRange<Int>) -> Bool {
        length.contains(word.count)
            && word.bytes.allSatisfy {
                ASCII.isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(ASCII.lowercased($0))
                    || $0 == UInt8(ascii: "+") || $0 == ASCII.slash
            }
    }

    /// Nil for an address that nothing can be sent to from another host.
    static func address(_ text: ByteString, port: ByteString) -> SocketAddress? {
        guard let address = IPAddress(text), let port = port.decimal(max: 65_535), port > 0, self.isUsable(address)
        else { return nil }
        return SocketAddress(address, port: UInt16(port))
    }

    /// Neither unspecified nor loopback nor a group.
    static func isUsable(_ address: IPAddress) -> Bool {
        switch address {
        case .v4(let bits): return bits >> 24 != 0 && bits >> 24 != 127 && bits >> 28 < 0xE
        case .v6(let high, let low): return high >> 56 != 0xFF && !(high == 0 && low <= 1)
        }
    }
}
