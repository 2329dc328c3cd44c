// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

extension ConfigurationSection {
    static let ice = ConfigurationSection(
        "ice", "Finding a way for sound and picture through routers that translate addresses (ICE).",
        [
            .init(
                "use", "offered", Self.choice([("off", .off), ("offered", .offered), ("on", .on)]),
                """
                `off`; `offered`, where the other side offers it; `on`, we offer it too, and a call waits up to a
                second for what servers say.
                """
            ) { $0.ice.use = $1 },
            .init(
                "stun", "none", ConfigurationValue.stunServer,
                "A server that tells how our address looks from outside, with `:port` where it is not 3478.",
                example: "none"
            ) { $0.ice.stun = $1 },
            .init(
                "turn", "none", ConfigurationValue.relays,
                """
                Up to three relays for sound and picture where nothing else works, best first:
                `turn:relay.example.com`, `turn:192.0.2.7:3478?transport=tcp`, `turns:relay.example.com:5349` (TLS).
                """
            ) { $0.ice.relays = $1 },
            .init("turn_user", "", ConfigurationValue.authUser, "Our name at the relays.") { $0.ice.user = $1 },
            .init(
                "turn_password", "", ConfigurationValue.password,
                "The password there. It is moved to the secrets file, as that of `[sip]`."
            ) { $0.ice.password = $1 },
        ])
}

// MARK: - Values

extension ConfigurationValue {
    /// `HOST` or `HOST:PORT`; nil for `none`.
    static func stunServer(_ value: ByteString) throws(BadValue) -> ICEServerName? {
        if value.equalsIgnoringCase("none") { return nil }
        let plain = value.hasPrefixIgnoringCase("stun:") ? value.slice(5..<value.count) : value
        guard let server = ICEServerName(plain, standard: 3478, .udp) else {
            throw BadValue(self.quoted(value) + " is not the name or address of a server, as in stun.example.com:3478")
        }
        return server
    }

    /// A list of URIs of RFC 7065; `none` for an empty one.
    static func relays(_ value: ByteString) throws(BadValue) -> [ICEServerName] {
        if value.equalsIgnoringCase("none") { return [] }
        var relays: [ICEServerName] = []
        for word in value.split(on: ASCII.comma) {
            guard let relay = self.relay(word.trimmed()) else {
                throw BadValue(self.quoted(word.trimmed()) + " is not a relay, as in turn:relay.example.com:3478")
            }
            if !relays.contains(relay) { relays.append(relay) }
        }
        guard relays.count <= ICESettings.relaysMax else {
            throw BadValue("names more than " + ByteString(decimal: ICESettings.relaysMax) + " relays")
        }
        return relays
    }

    private static func relay(_ value: ByteString) -> ICEServerName? {
        let parts = value.split(on: UInt8(ascii: "?"))
        guard parts.count <= 2 else { return nil }
        let query = parts.count == 2 ? parts[1].lowercasedASCII() : ByteString()
        guard query.isEmpty || query == "transport=udp" || query == "transport=tcp" else { return nil }
        if parts[0].hasPrefixIgnoringCase("turns:") {
            // TLS over UDP is not spoken here.
            guard query != "transport=udp" else { return nil }
            return ICEServerName(parts[0].slice(6..<parts[0].count), standard: 5349, .tls)
        }
        guard parts[0].hasPrefixIgnoringCase("turn:") else { return nil }
        let transport = query == "transport=tcp" ? ICETransport.tcp : .udp
        return ICEServerName(parts[0].slice(5..<parts[0].count), standard: 3478, transport)
    }
}

extension ICEServerName {
    /// Reads `HOST` or `HOST:PORT`.
    init?(_ text: ByteString, standard: UInt16, _ transport: ICETransport) {
        var name = text
        var port = standard
        if let colon = text.bytes.lastIndex(of: ASCII.colon), text.bytes.last != ASCII.closeBracket {
            guard let number = text.slice(colon + 1..<max(colon + 1, text.count)).decimal(max: 65_535), number > 0
            else { return nil }
            port = UInt16(number)
            name = text.slice(0..<colon)
        }
        guard let host = Host(name) else { return nil }
        self.init(host, port: port, transport: transport)
    }
}
