// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// How the board is on its network: what `[network]` says beside name servers and marks. The kiosk itself does nothing
/// with it; `callbox network` writes it down for those that do (`LinkFiles`).
public struct LinkSettings: Equatable, Sendable {
    /// With the length of the prefix; empty: they are asked for (DHCP).
    public var addresses: [LinkAddress] = []
    public var gateways: [IPAddress] = []
    /// Names or addresses; empty: those that DHCP or the system name.
    public var timeServers: [ByteString] = []
    /// IEEE 802.1Q; nil for none.
    public var vlan: Int?
    /// Empty: the system's own.
    public var hostname = ByteString()
    /// An OpenSSH public key, with whose secret half root may log in; empty: nobody may.
    public var loginKey = ByteString()
    public var wifi = WiFiSettings()
    public var login = LinkLogin()

    public init() {}

    /// What the file itself has to say.
    public var credentials: [Credential] {
        var credentials: [Credential] = []
        if !self.wifi.password.isEmpty { credentials.append(PasswordUse.wifi.credential(self.wifi.password)) }
        if !self.login.password.isEmpty { credentials.append(PasswordUse.login.credential(self.login.password)) }
        return credentials
    }
}

public struct LinkAddress: Equatable, Sendable {
    public var address: IPAddress
    /// In bits.
    public var prefix: Int

    public var text: ByteString { self.address.text + "/" + ByteString(decimal: self.prefix) }
}

public struct WiFiSettings: Equatable, Sendable {
    public enum Security: Sendable {
        /// Either of the next two, as the access point wants it.
        case automatic
        case wpa2
        case wpa3
        case open
    }

    /// Empty: no Wi-Fi.
    public var name = ByteString()
    public var password = ByteString()
    public var security = Security.automatic
    /// ISO 3166-1, two letters; empty where nobody says.
    public var country = ByteString()
}

/// IEEE 802.1X: who we are to the switch or the access point.
public struct LinkLogin: Equatable, Sendable {
    public enum Method: Sendable {
        case none, peap, ttls, tls
    }

    public var method = Method.none
    public var identity = ByteString()
    public var password = ByteString()
    /// PEM files; nil for none.
    public var authority: ByteString?
    public var certificate: ByteString?
    public var key: ByteString?
}

/// What a password is for: its realm says so. What is not for SIP no SIP server is ever told.
public enum PasswordUse: Equatable, Sendable {
    case sip, relay, wifi, login

    public init(_ credential: Credential) {
        switch credential.realm {
        case ICESettings.realm: self = .relay
        case Self.wifiRealm: self = .wifi
        case Self.loginRealm: self = .login
        default: self = .sip
        }
    }

    private static let wifiRealm: ByteString = "wifi:"
    private static let loginRealm: ByteString = "802.1x:"

    /// Of the two that are used once: the name that stands beside them in the secrets file means nothing.
    func credential(_ password: ByteString) -> Credential {
        Credential(username: "network", password: password, realm: self == .wifi ? Self.wifiRealm : Self.loginRealm)
    }
}
