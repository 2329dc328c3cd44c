// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import KioskEngine

/// What `[network]` becomes: files of systemd-networkd and wpa_supplicant.
final class LinkFilesTests: XCTestCase {
    private func settings(_ lines: String, problems: [String] = []) -> NetworkSettings {
        let (configuration, found) = Configuration.parse(Array("[call]\nuri = sip:a@b\n[network]\n\(lines)".utf8))
        XCTAssertEqual(found.map { $0.sentence.string }, problems, lines)
        return configuration.network
    }

    /// Not a key, but what it was made of.
    private let made: LinkFiles.MakeKey = { password, name in (password + "@" + name).bytes }

    private func files(_ lines: String) -> [String: String] {
        var texts: [String: String] = [:]
        for file in LinkFiles.files(self.settings(lines), makeKey: self.made) {
            XCTAssertTrue(LinkFiles.paths.contains(file.path))
            XCTAssertEqual(file.isSecret, file.path.hasPrefix("callbox-supplicant/"))
            texts[file.path.string] = file.text.string
        }
        return texts
    }

    private func cable(_ lines: String) -> String { self.files(lines)[LinkFiles.cable.string] ?? "" }

    private func has(_ text: String, _ line: String) -> Bool {
        text.split(separator: "\n").contains { $0 == line }
    }

    func testWithoutASettingACableAsks() {
        let files = self.files("")
        XCTAssertEqual(Array(files.keys), [LinkFiles.cable.string])
        let text = self.cable("")
        for line in [
            "Name=e*", "DHCP=yes", "LLMNR=no", "MulticastDNS=no", "RequiredForOnline=no",
            "KeepConfiguration=dynamic-on-stop",
        ] {
            XCTAssertTrue(self.has(text, line), line)
        }
        XCTAssertFalse(text.contains("Address=") || text.contains("Gateway=") || text.contains("NTP="))
    }

    func testAnAddressOfItsOwnWithAllThatBelongsToIt() {
        let text = self.cable(
            """
            address = 192.0.2.10/24, 2001:db8::10/64
            gateway = 192.0.2.1, 2001:db8::1
            dns = 192.0.2.53, [2001:db8::53]:5300
            ntp = 192.0.2.123, time.example.com
            """)
        for line in [
            "DHCP=no", "Address=192.0.2.10/24", "Address=2001:db8::10/64", "Gateway=192.0.2.1", "Gateway=2001:db8::1",
            "DNS=192.0.2.53:53", "DNS=[2001:db8::53]:5300", "NTP=192.0.2.123", "NTP=time.example.com",
        ] { XCTAssertTrue(self.has(text, line), line) }
        XCTAssertFalse(
            self.cable("gateway = 192.0.2.1").contains("Gateway"), "a gateway belongs to an address of its own")
    }

    func testAKeyMayLogInAndNothingElseIsTakenForOne() {
        let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHq3 somebody@example.com"
        XCTAssertEqual(self.files("ssh_key = \(key)")[LinkFiles.loginKey.string], key + "\n")
        XCTAssertNil(self.files("ssh_key = none")[LinkFiles.loginKey.string])
        for wrong in ["ssh-ed25519", "command=\"sh\" \(key)", "ssh-dss AAAAB3 a", "ssh-ed25519 ÄAAA", "-----BEGIN"] {
            let (configuration, problems) = Configuration.parse(Array("[network]\nssh_key = \(wrong)\n".utf8))
            XCTAssertTrue(configuration.network.link.loginKey.isEmpty, wrong)
            XCTAssertTrue(problems.contains { $0.section == "network" }, wrong)
        }
    }

    func testAVLANLiesOnTheCable() {
        let files = self.files("vlan = 42\naddress = 192.0.2.10/24\nhostname = gate-3")
        XCTAssertTrue(self.has(files[LinkFiles.cable.string] ?? "", "VLAN=vlan42"))
        XCTAssertTrue(self.has(files[LinkFiles.cable.string] ?? "", "LinkLocalAddressing=no"))
        for line in ["Name=vlan42", "Kind=vlan", "Id=42"] {
            XCTAssertTrue(self.has(files[LinkFiles.vlanDevice.string] ?? "", line), line)
        }
        XCTAssertTrue(self.has(files[LinkFiles.vlan.string] ?? "", "Address=192.0.2.10/24"))
        XCTAssertEqual(files[LinkFiles.hostname.string], "gate-3\n")
        XCTAssertTrue(self.has(files[LinkFiles.vlan.string] ?? "", "Hostname=gate-3"))
    }

    func testWiFi() {
        let head = "wifi = Gate\nwifi_password = pass word\"#1\n"
        let files = self.files(head + "wifi_country = de\naddress = 192.0.2.10/24")
        XCTAssertTrue(self.has(files[LinkFiles.wifi.string] ?? "", "Name=wl*"))
        XCTAssertTrue(self.has(files[LinkFiles.wifi.string] ?? "", "Address=192.0.2.10/24"))
        XCTAssertTrue(self.has(files[LinkFiles.cable.string] ?? "", "DHCP=yes"))
        let key = "psk=7061737320776f72642223314047617465"
        let word = "sae_password=7061737320776f7264222331"
        for (security, expected) in [
            ("auto", ["key_mgmt=WPA-PSK WPA-PSK-SHA256 SAE", key, word]),
            ("wpa2", ["key_mgmt=WPA-PSK WPA-PSK-SHA256", key]),
            ("wpa3", ["key_mgmt=SAE", "ieee80211w=2", word]), ("open", ["key_mgmt=NONE"]),
        ] {
            let text = self.files(head + "wifi_security = \(security)")[LinkFiles.wifiLogin.string] ?? ""
            XCTAssertTrue(self.has(text, "ssid=47617465"), security)
            for line in expected { XCTAssertTrue(self.has(text, line), "\(security) \(line) in \(text)") }
            XCTAssertEqual(text.contains("psk="), expected.contains { $0.hasPrefix("psk") }, security)
            XCTAssertEqual(text.contains("sae_"), expected.contains { $0.hasPrefix("sae") }, security)
        }
        XCTAssertTrue(self.has(files[LinkFiles.wifiLogin.string] ?? "", "country=DE"))
        let raw = String(repeating: "0aF9", count: 16)
        let text = self.files("wifi = a\nwifi_password = \(raw)")[LinkFiles.wifiLogin.string] ?? ""
        XCTAssertTrue(self.has(text, "psk=\(raw)"))
        XCTAssertFalse(text.contains("SAE"))
    }

    func testLogins() {
        let word = "auth_identity = gate\nauth_password = hunter2\nauth_ca = /boot/callbox/ca.pem\n"
        for (method, expected) in [("peap", "eap=PEAP"), ("ttls", "eap=TTLS")] {
            let text = self.files(word + "auth = \(method)")[LinkFiles.cableLogin.string] ?? ""
            for line in [
                "ap_scan=0", "key_mgmt=IEEE8021X", "identity=67617465", "password=68756e74657232", expected,
                "phase2=\"auth=MSCHAPV2\"", "ca_cert=2f626f6f742f63616c6c626f782f63612e70656d",
            ] { XCTAssertTrue(self.has(text, line), "\(method) \(line)") }
        }
        let files = ["auth_certificate = /a", "auth_key = /b"].joined(separator: "\n")
        let text = self.files("auth = tls\nauth_identity = gate\n" + files)[LinkFiles.cableLogin.string] ?? ""
        for line in ["eap=TLS", "client_cert=2f61", "private_key=2f62"] { XCTAssertTrue(self.has(text, line), line) }
        XCTAssertFalse(text.contains("password"))
        let wifi = self.files("wifi = a\n" + word + "auth = peap")
        XCTAssertNil(wifi[LinkFiles.cableLogin.string])
        XCTAssertTrue(self.has(wifi[LinkFiles.wifiLogin.string] ?? "", "key_mgmt=WPA-EAP WPA-EAP-SHA256"))
    }

    /// Every line is one of ours, whatever the values are.
    func testNoValueMakesALine() {
        let evil = ["a\\nkey_mgmt=NONE", "}\\nnetwork={", "\"", "\"\\", "a\tb", "=#;", "ä\u{202E}b", "'$(reboot)'"]
        let known = [
            "#", "country", "network={", "}", "ssid", "scan_ssid", "key_mgmt", "ieee80211w", "psk", "sae_password",
            "identity", "eap", "phase2", "password", "ca_cert",
        ]
        for value in evil {
            for method in ["none", "peap"] {
                let lines =
                    "wifi = \(value)\nwifi_password = 12345678\(value)\nauth = \(method)\n"
                    + "auth_identity = \(value)\nauth_password = \(value)\nauth_ca = /\(value)\n"
                let (configuration, _) = Configuration.parse(Array("[network]\n\(lines)".utf8))
                let files = LinkFiles.files(configuration.network, makeKey: self.made)
                for file in files where file.isSecret {
                    for line in file.text.string.split(separator: "\n") {
                        let word = line.hasPrefix("#") ? "#" : line.split(separator: "=").first.map(String.init) ?? ""
                        let isKnown = known.contains(word) || known.contains(String(line))
                        XCTAssertTrue(isKnown, "\(value): \(line)")
                    }
                    XCTAssertEqual(file.text.string.split(separator: "\n").filter { $0 == "network={" }.count, 1)
                }
            }
        }
    }

    func testWhatIsNoSuchThingIsToldAndNotUsed() {
        let address = "is not an address with its prefix, as in 192.0.2.10/24; dhcp is used"
        let long = String(repeating: "a", count: 33)
        for (line, reason) in [
            ("address = 192.0.2.10", "address: \"192.0.2.10\" " + address),
            ("address = 192.0.2.10/33", "address: \"192.0.2.10/33\" " + address),
            ("gateway = gate", "gateway: \"gate\" is not an address, as in 192.0.2.1; none is used"),
            ("ntp = a b", "ntp: \"a b\" is neither a name nor an address, as in pool.ntp.org; auto is used"),
            ("vlan = 4095", "vlan: \"4095\" is not a whole number from 1 to 4094; none is used"),
            ("hostname = a.b", "hostname: \"a.b\" is not 1 to 63 letters, digits and hyphens; auto is used"),
            ("wifi_country = D", "wifi_country: \"D\" is not the two letters of a country, as in DE; none is used"),
            ("wifi_password = short", "wifi_password: is not 8 to 63 printable characters without accents"),
            ("wifi = " + long, "wifi: \"" + long + "\" is longer than 32 bytes; none is used"),
        ] {
            let settings = self.settings(line, problems: ["line 4, [network] \(reason)"])
            XCTAssertEqual(settings.link, LinkSettings())
        }
        _ = self.settings(
            "wifi_password hunter2hunter2",
            problems: ["line 4: a line with a password is neither [section] nor key = value"])
    }

    func testWhatCannotWorkIsTold() {
        let link = { (lines: String) in LinkFiles.complaints(self.settings(lines).link).map { $0.string } }
        XCTAssertEqual(link(""), [])
        XCTAssertEqual(link("wifi = a").count, 1)
        XCTAssertEqual(link("wifi = a\nwifi_security = open"), [])
        XCTAssertEqual(link("auth = peap").count, 3)
        XCTAssertEqual(link("auth = tls\nauth_identity = a\nauth_ca = /a").count, 1)
    }

    func testPasswordsAreMovedAndAreNobodyElses() {
        let text = "[network]\nwifi_password = 12345678\nauth_password = x\n[sip]\npassword = p\n"
        let moved = Configuration.withoutPassword(Array(text.utf8), movedTo: "s") ?? []
        XCTAssertEqual(
            String(decoding: moved, as: UTF8.self),
            "[network]\n# The password is in s now.\nwifi_password =\nauth_password =\n[sip]\npassword =\n")
        let credentials = Configuration.parse(Array(text.utf8)).0.credentials
        XCTAssertEqual(credentials.map { PasswordUse($0) }, [.sip, .wifi, .login])
        let file = credentials.reduce([UInt8]()) { SecretsText.adding($1, to: $0) }
        XCTAssertEqual(Set(SecretsText.parse(file).credentials.map { $0.password }), ["12345678", "x", "p"])
        var passwords = Passwords()
        passwords.replace(with: credentials)
        XCTAssertEqual(passwords.news()?.map { $0.password }, ["p"], "no SIP server is told those of the network")
    }
}
