// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Files of wpa_supplicant (wpa_supplicant.conf(5)). Whatever people name or choose is written in hexadecimal, as its
/// parser takes it for every text: no quotation mark or line end in it means anything.
enum SupplicantText {
    static func wifi(_ link: LinkSettings, _ makeKey: LinkFiles.MakeKey) -> ByteString {
        let wifi = link.wifi
        var text: ByteString = "# Made from callbox.conf at each start.\n"
        if !wifi.country.isEmpty { text += "country=" + wifi.country + "\n" }
        text += "network={\nssid=" + self.hex(wifi.name) + "\nscan_ssid=1\n"
        if link.login.method != .none {
            text += "key_mgmt=WPA-EAP WPA-EAP-SHA256\nieee80211w=1\n" + self.login(link.login)
        } else {
            text += self.key(wifi, makeKey)
        }
        return text + "}\n"
    }

    /// For a switch; there is nothing to be looked for.
    static func cable(_ link: LinkSettings) -> ByteString {
        "# Made from callbox.conf at each start.\nap_scan=0\nnetwork={\nkey_mgmt=IEEE8021X\neapol_flags=0\n"
            + self.login(link.login) + "}\n"
    }

    private static func key(_ wifi: WiFiSettings, _ makeKey: LinkFiles.MakeKey) -> ByteString {
        // A key as it is, in place of words that it is made from, is for WPA2 alone.
        let isRaw = self.isRawKey(wifi.password)
        // The one text that means something else in hexadecimal: the key, which is made here. In quotation marks it
        // would be cut at `"#`.
        let key = isRaw ? wifi.password : self.hex(ByteString(makeKey(wifi.password, wifi.name)))
        let psk: ByteString = "psk=" + key + "\n"
        let sae: ByteString = "sae_password=" + self.hex(wifi.password) + "\n"
        switch wifi.security {
        case .open: return "key_mgmt=NONE\n"
        case .wpa2: return "key_mgmt=WPA-PSK WPA-PSK-SHA256\nieee80211w=1\n" + psk
        case .wpa3: return "key_mgmt=SAE\nieee80211w=2\n" + sae
        case .automatic:
            if isRaw { return "key_mgmt=WPA-PSK WPA-PSK-SHA256\nieee80211w=1\n" + psk }
            return "key_mgmt=WPA-PSK WPA-PSK-SHA256 SAE\nieee80211w=1\n" + psk + sae
        }
    }

    private static func login(_ login: LinkLogin) -> ByteString {
        var text: ByteString = "identity=" + self.hex(login.identity) + "\n"
        switch login.method {
        case .none: return ByteString()
        case .peap: text += "eap=PEAP\nphase2=\"auth=MSCHAPV2\"\n"
        case .ttls: text += "eap=TTLS\nphase2=\"auth=MSCHAPV2\"\n"
        case .tls: text += "eap=TLS\n"
        }
        if login.method != .tls { text += "password=" + self.hex(login.password) + "\n" }
        if let authority = login.authority { text += "ca_cert=" + self.hex(authority) + "\n" }
        guard login.method == .tls else { return text }
        if let certificate = login.certificate { text += "client_cert=" + self.hex(certificate) + "\n" }
        if let key = login.key { text += "private_key=" + self.hex(key) + "\n" }
        return text
    }

    private static func hex(_ text: ByteString) -> ByteString {
        var hex = ByteString()
        for byte in text.bytes { hex.append(hex: UInt64(byte), width: 2) }
        return hex
    }

    /// 256 bits in hexadecimal.
    static func isRawKey(_ password: ByteString) -> Bool {
        password.count == 64 && password.bytes.allSatisfy { ASCII.hexValue($0) != nil }
    }
}
