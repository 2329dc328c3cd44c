// SPDX-License-Identifier: Apache-2.0
import Bytes

/// A file for those who bring the network up.
public struct LinkFile: Equatable {
    /// Below the folder that is given, as in `systemd/network/20-callbox-cable.network`.
    public var path: ByteString
    public var text: ByteString
    /// For root alone.
    public var isSecret: Bool
}

/// `[network]` as files of systemd-networkd (systemd.network(5), systemd.netdev(5)), of wpa_supplicant
/// (`SupplicantText`), with the name of the host, and with the key that may log in (sshd(8), AUTHORIZED_KEYS).
///
/// Cables (`e*`) and Wi-Fi (`wl*`) are both used where both are there, the cable first. What the file says of addresses
/// is for Wi-Fi where it names one, else for the cable; the other one asks. Values are numbers, addresses and names of
/// few characters when they come here: none can end its line.
public enum LinkFiles {
    static let cable: ByteString = "systemd/network/20-callbox-cable.network"
    static let vlanDevice: ByteString = "systemd/network/20-callbox-vlan.netdev"
    static let vlan: ByteString = "systemd/network/20-callbox-vlan.network"
    static let wifi: ByteString = "systemd/network/20-callbox-wifi.network"
    static let cableLogin: ByteString = "callbox-supplicant/cable.conf"
    static let wifiLogin: ByteString = "callbox-supplicant/wifi.conf"
    static let hostname: ByteString = "callbox-hostname"
    static let loginKey: ByteString = "callbox-login/authorized_keys"

    /// All that there may be: what is not written is not to be there.
    public static let paths = [
        Self.cable, Self.vlanDevice, Self.vlan, Self.wifi, Self.cableLogin, Self.wifiLogin, Self.hostname,
        Self.loginKey,
    ]

    /// Makes the key of WPA2, 32 bytes, of a password and the name of the Wi-Fi (IEEE 802.11i annex H.4).
    public typealias MakeKey = (_ password: ByteString, _ name: ByteString) -> [UInt8]

    /// - Parameter settings: with the passwords in it, wherever they came from.
    public static func files(_ settings: NetworkSettings, makeKey: MakeKey) -> [LinkFile] {
        let link = settings.link
        let hasWiFi = !link.wifi.name.isEmpty
        var files: [LinkFile] = []
        func add(_ path: ByteString, _ text: ByteString, isSecret: Bool = false) {
            files.append(LinkFile(path: path, text: text, isSecret: isSecret))
        }
        if let number = link.vlan {
            let name: ByteString = "vlan" + ByteString(decimal: number)
            add(self.cable, self.match("e*") + self.carrier(of: name))
            add(self.vlanDevice, self.device(name, number))
            add(self.vlan, self.match(name) + self.network(settings, isStatic: !hasWiFi, metric: 100))
        } else {
            add(self.cable, self.match("e*") + self.network(settings, isStatic: !hasWiFi, metric: 100))
        }
        if hasWiFi {
            add(self.wifi, self.match("wl*") + self.network(settings, isStatic: true, metric: 600))
            add(self.wifiLogin, SupplicantText.wifi(link, makeKey), isSecret: true)
        } else if link.login.method != .none {
            add(self.cableLogin, SupplicantText.cable(link), isSecret: true)
        }
        if !link.hostname.isEmpty { add(self.hostname, link.hostname + "\n") }
        if !link.loginKey.isEmpty { add(self.loginKey, link.loginKey + "\n") }
        return files
    }

    private static let head: ByteString = "# Made from callbox.conf at each start.\n"

    /// The help point does not wait for the network, and so nothing else does.
    private static func match(_ name: ByteString) -> ByteString {
        self.head + "[Match]\nName=" + name + "\n\n[Link]\nRequiredForOnline=no\n\n"
    }

    private static func device(_ name: ByteString, _ number: Int) -> ByteString {
        self.head + "[NetDev]\nName=" + name + "\nKind=vlan\n\n[VLAN]\nId=" + ByteString(decimal: number) + "\n"
    }

    /// A cable that only carries a VLAN.
    private static func carrier(of vlan: ByteString) -> ByteString {
        "[Network]\nVLAN=" + vlan + "\nDHCP=no\nIPv6AcceptRA=no\nLinkLocalAddressing=no\n"
    }

    private static func network(_ settings: NetworkSettings, isStatic: Bool, metric: Int) -> ByteString {
        let link = settings.link
        let addresses = isStatic ? link.addresses : []
        var text: ByteString = "[Network]\n"
        // Nothing here is to be found by who asks around.
        text += "LLMNR=no\nMulticastDNS=no\n"
        // Switched off, the help point may say goodbye after the network's own service has ended.
        text += "KeepConfiguration=dynamic-on-stop\n"
        text += addresses.isEmpty ? "DHCP=yes\n" : "DHCP=no\n"
        for address in addresses { text += "Address=" + address.text + "\n" }
        for server in settings.nameServers { text += "DNS=" + server.text + "\n" }
        for server in link.timeServers { text += "NTP=" + server + "\n" }
        for gateway in addresses.isEmpty ? [] : link.gateways {
            text += "\n[Route]\nGateway=" + gateway.text + "\nMetric=" + ByteString(decimal: metric) + "\n"
        }
        // Switches and servers know the board by the address on its label.
        text += "\n[DHCPv4]\nClientIdentifier=mac\nRouteMetric=" + ByteString(decimal: metric) + "\n"
        if !link.hostname.isEmpty { text += "Hostname=" + link.hostname + "\n" }
        if !settings.nameServers.isEmpty { text += "UseDNS=no\n" }
        if !link.timeServers.isEmpty { text += "UseNTP=no\n" }
        text += "\n[IPv6AcceptRA]\nRouteMetric=" + ByteString(decimal: metric) + "\n"
        if !settings.nameServers.isEmpty { text += "UseDNS=no\n\n[DHCPv6]\nUseDNS=no\n" }
        return text
    }

    // MARK: - What cannot work

    /// What of it cannot work, in sentences.
    public static func complaints(_ link: LinkSettings) -> [ByteString] {
        var lines: [ByteString] = []
        let login = link.login
        if !link.wifi.name.isEmpty, link.wifi.security != .open, link.wifi.password.isEmpty, login.method == .none {
            lines.append("[network] wifi has no wifi_password, and wifi_security does not say that it is open")
        }
        if login.method != .none, login.identity.isEmpty {
            lines.append("[network] auth needs auth_identity")
        }
        if login.method == .tls, login.certificate == nil || login.key == nil {
            lines.append("[network] auth = tls needs auth_certificate and auth_key")
        }
        if login.method == .peap || login.method == .ttls, login.password.isEmpty {
            lines.append("[network] auth needs auth_password")
        }
        if login.method != .none, login.authority == nil {
            lines.append("[network] auth without auth_ca tells the password to whoever pretends to be the network")
        }
        return lines
    }
}
