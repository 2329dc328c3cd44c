// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ConfigurationSection {
    /// Of `[network]`: what `callbox network` reads at the start of the board.
    static let link: [ConfigurationSetting] = [
        .init(
            "address", "dhcp", ConfigurationValue.linkAddresses,
            """
            `dhcp`, or up to four addresses of the help point with the length of their prefix: `192.0.2.10/24`.
            This and all below is looked at when the board starts. Where `wifi` is set, it is for Wi-Fi.
            """
        ) { $0.network.link.addresses = $1 },
        .init("gateway", "none", ConfigurationValue.gateways, "Up to two gateways, beside an `address` of its own.") {
            $0.network.link.gateways = $1
        },
        .init(
            "ntp", "auto", ConfigurationValue.timeServers,
            "Up to four time servers, names or addresses; `auto`: those that the network or the system names."
        ) { $0.network.link.timeServers = $1 },
        .init("vlan", "none", ConfigurationValue.vlan, "The VLAN (IEEE 802.1Q), 1 to 4094, on the cable.") {
            $0.network.link.vlan = $1
        },
        .init(
            "hostname", "auto", ConfigurationValue.hostname, "The board's name: letters, digits and hyphens."
        ) { $0.network.link.hostname = $1 },
        .init(
            "ssh_key", "none", ConfigurationValue.loginKey,
            """
            A public key of OpenSSH, one line as in `id_ed25519.pub`: whoever has its other half may log in as `root`
            by SSH. `none`: nobody may, and nothing listens.
            """
        ) { $0.network.link.loginKey = $1 },
        .init(
            "wifi", "none", ConfigurationValue.wifiName,
            "The name (SSID) of the Wi-Fi. A cable goes first as long as it is plugged in."
        ) { $0.network.link.wifi.name = $1 },
        .init(
            "wifi_password", "", ConfigurationValue.wifiPassword,
            "Its password, 8 to 63 characters. It is moved to the secrets file, as that of `[sip]`."
        ) { $0.network.link.wifi.password = $1 },
        .init(
            "wifi_security", "auto",
            Self.choice([("auto", .automatic), ("wpa2", .wpa2), ("wpa3", .wpa3), ("open", .open)]),
            "`wpa2`, `wpa3`, `auto` for either, `open` for none."
        ) { $0.network.link.wifi.security = $1 },
        .init(
            "wifi_country", "none", ConfigurationValue.country,
            "The country whose rules of radio hold, two letters: `DE`. Some channels are silent without it."
        ) { $0.network.link.wifi.country = $1 },
        .init(
            "auth", "none", Self.choice([("none", .none), ("peap", .peap), ("ttls", .ttls), ("tls", .tls)]),
            """
            IEEE 802.1X, to the switch, or to the access point where `wifi` is set: `peap` and `ttls` by a password
            (MSCHAPv2), `tls` by a certificate.
            """
        ) { $0.network.link.login.method = $1 },
        .init("auth_identity", "", ConfigurationValue.authUser, "Who the help point is there.") {
            $0.network.link.login.identity = $1
        },
        .init(
            "auth_password", "", ConfigurationValue.password,
            "The password there. It is moved to the secrets file, as that of `[sip]`."
        ) { $0.network.link.login.password = $1 },
        .init(
            "auth_ca", "none", ConfigurationValue.path,
            "A PEM file of whom to believe that it is the network that asks: `/boot/callbox/network-ca.pem`."
        ) { $0.network.link.login.authority = $1 },
        .init("auth_certificate", "none", ConfigurationValue.path, "For `tls`: a PEM file of the certificate.") {
            $0.network.link.login.certificate = $1
        },
        .init("auth_key", "none", ConfigurationValue.path, "For `tls`: a PEM file of its key, without a password.") {
            $0.network.link.login.key = $1
        },
    ]
}

// MARK: - Values

extension ConfigurationValue {
    static let linkAddressesMax = 4
    static let gatewaysMax = 2
    static let timeServersMax = 4
    static let hostnameBytesMax = 63

    private static func words(_ value: ByteString, max: Int, _ what: StaticString) throws(BadValue) -> [ByteString] {
        let words = value.split(on: ASCII.comma).map { $0.trimmed() }
        guard words.count <= max else {
            throw BadValue("names more than " + ByteString(decimal: max) + " " + ByteString(what))
        }
        return words
    }

    /// `ADDRESS/PREFIX`, several with commas; `dhcp` for an empty list.
    static func linkAddresses(_ value: ByteString) throws(BadValue) -> [LinkAddress] {
        if value.equalsIgnoringCase("dhcp") { return [] }
        var addresses: [LinkAddress] = []
        for word in try self.words(value, max: self.linkAddressesMax, "addresses") {
            let parts = word.split(on: ASCII.slash)
            guard parts.count == 2, let address = IPAddress(parts[0]), !address.isUnspecified,
                let prefix = parts[1].decimal(max: address.isV6 ? 128 : 32), prefix > 0
            else {
                throw BadValue(self.quoted(word) + " is not an address with its prefix, as in 192.0.2.10/24")
            }
            addresses.append(LinkAddress(address: address, prefix: Int(prefix)))
        }
        return addresses
    }

    /// `none` for an empty list.
    static func gateways(_ value: ByteString) throws(BadValue) -> [IPAddress] {
        if value.equalsIgnoringCase("none") { return [] }
        var gateways: [IPAddress] = []
        for word in try self.words(value, max: self.gatewaysMax, "gateways") {
            guard let address = IPAddress(word), !address.isUnspecified else {
                throw BadValue(self.quoted(word) + " is not an address, as in 192.0.2.1")
            }
            gateways.append(address)
        }
        return gateways
    }

    /// `auto` for an empty list.
    static func timeServers(_ value: ByteString) throws(BadValue) -> [ByteString] {
        if value.equalsIgnoringCase("auto") { return [] }
        let words = try self.words(value, max: self.timeServersMax, "servers")
        for word in words {
            guard IPAddress(word) != nil || word.split(on: ASCII.dot).allSatisfy({ self.isLabel($0) }) else {
                throw BadValue(self.quoted(word) + " is neither a name nor an address, as in pool.ntp.org")
            }
        }
        return words
    }

    /// Letters, digits and hyphens that do not stand at an end (RFC 1123 section 2.1).
    private static func isLabel(_ label: ByteString) -> Bool {
        !label.isEmpty && label.count <= self.hostnameBytesMax && label.bytes.first != ASCII.minus
            && label.bytes.last != ASCII.minus
            && label.bytes.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == ASCII.minus }
    }

    /// Empty for `auto`.
    static func hostname(_ value: ByteString) throws(BadValue) -> ByteString {
        if value.equalsIgnoringCase("auto") { return ByteString() }
        guard self.isLabel(value) else {
            throw BadValue(self.quoted(value) + " is not 1 to 63 letters, digits and hyphens")
        }
        return value
    }

    private static let keyTypes: [ByteString] = [
        "ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
    ]

    /// Empty for `none`. What may stand before the type in a list of keys is refused: it gives further rights.
    static func loginKey(_ value: ByteString) throws(BadValue) -> ByteString {
        if value.equalsIgnoringCase("none") { return ByteString() }
        let words = value.split(on: ASCII.space)
        guard words.count >= 2, self.keyTypes.contains(words[0]), words[1].hasPrefix("AAAA"),
            value.bytes.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            throw BadValue(self.quoted(value) + " is no public key, as in ssh-ed25519 AAAAC3Nz somebody@example.com")
        }
        return value
    }

    static func vlan(_ value: ByteString) throws(BadValue) -> Int? {
        value.equalsIgnoringCase("none") ? nil : try self.number(value, 1...4094, unit: "")
    }

    /// Up to 32 bytes (IEEE 802.11); empty for `none`.
    static func wifiName(_ value: ByteString) throws(BadValue) -> ByteString {
        if value.equalsIgnoringCase("none") { return ByteString() }
        guard value.count <= 32 else { throw BadValue(self.quoted(value) + " is longer than 32 bytes") }
        return value
    }

    /// Words of 8 to 63 printable characters, or a key in 64 of hexadecimal. Never quoted.
    static func wifiPassword(_ value: ByteString) throws(BadValue) -> ByteString {
        let isPrintable = value.bytes.allSatisfy { (0x20...0x7E).contains($0) }
        guard value.isEmpty || isPrintable && (8...63).contains(value.count) || SupplicantText.isRawKey(value) else {
            throw BadValue("is not 8 to 63 printable characters without accents")
        }
        return value
    }

    /// Empty for `none`.
    static func country(_ value: ByteString) throws(BadValue) -> ByteString {
        if value.equalsIgnoringCase("none") { return ByteString() }
        guard value.count == 2, value.bytes.allSatisfy({ ASCII.isLetter($0) }) else {
            throw BadValue(self.quoted(value) + " is not the two letters of a country, as in DE")
        }
        return ByteString(value.bytes.map { $0 & 0xDF })
    }
}
