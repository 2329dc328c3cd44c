// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import KioskEngine

/// The secrets file, and the way of a password from `callbox.conf` into it.
final class SecretsTextTests: XCTestCase {
    private func parse(_ text: String) -> [Credential] { SecretsText.parse(Array(text.utf8)).credentials }

    func testLinesAreRealmUserAndPassword() {
        let read = self.parse(
            "# ours\r\n* door secret\r\n\r\n\"A PBX\" \"the door\"  two words # no comment \n r\tu\tp")
        XCTAssertEqual(
            read,
            [
                Credential(username: "door", password: "secret"),
                Credential(username: "the door", password: "two words # no comment", realm: "A PBX"),
                Credential(username: "u", password: "p", realm: "r"),
            ])
        XCTAssertEqual(self.parse("* u \" p \"").first?.password, " p ")
        XCTAssertEqual(self.parse("* u \"\"p\"").first?.password, "\"p")
    }

    func testFaultyLinesAreToldWithoutTheirText() {
        let long = String(repeating: "a", count: 300)
        for line in [
            "secret", "* secret", "*  ", "\"* secret x", "\"\" u secret", "* u \(long)", "* \(long) secret",
            "* u sec\u{1}ret", "\"",
        ] {
            let (credentials, problems) = SecretsText.parse(Array(line.utf8))
            XCTAssertEqual(credentials, [], line)
            XCTAssertEqual(problems, ["line 1 of the secrets file is not REALM USER PASSWORD and is not read"])
        }
        XCTAssertEqual(SecretsText.parse([0xFF, 0x00, 0x80]).credentials, [])
        let many = String(repeating: "* u p\n", count: 100)
        XCTAssertEqual(self.parse(many).count, 16)
        XCTAssertEqual(SecretsText.parse(Array(many.utf8)).problems.count, 1)
    }

    func testWhatIsAddedIsReadAgain() {
        for password in ["p", " p ", "\"", "\"p\"", "two words", "#", "p#q", "*"] {
            for user in ["u", "the door", "*", "#"] {
                let credential = Credential(username: ByteString(utf8Of: user), password: ByteString(utf8Of: password))
                let file = SecretsText.adding(credential, to: Array("r u x\n* \(user) old\n* \"\(user)\" older".utf8))
                let kept = Credential(username: "u", password: "x", realm: "r")
                let isWord = !user.contains(" ")
                let (credentials, problems) = SecretsText.parse(file)
                XCTAssertEqual(problems, [], "\(user) \(password)")
                XCTAssertEqual(credentials.dropFirst().first, kept)
                XCTAssertEqual(credentials.first, credential, "\(user) \(password)")
                if isWord { XCTAssertEqual(credentials.count, 2) }
            }
        }
    }

    // MARK: - Out of callbox.conf

    private func moved(_ text: String) -> String? {
        Configuration.withoutPassword(Array(text.utf8), movedTo: "/data/secrets")
            .map { String(decoding: $0, as: UTF8.self) }
    }

    func testThePasswordIsTakenOutAndNothingElseIsChanged() {
        for end in ["\n", "\r\n", "\r"] {
            let text = [
                "\u{FEFF}# mine ", "[call]", "uri = sip:a@b", "", "[SIP] # ours", " Password\t= \"a # b\" # it",
            ]
            let rest = ["name = x ", "[rtp]", "password = kept", "", ""]
            let expected = text.dropLast() + ["# The password is in /data/secrets now.", "password ="] + rest
            XCTAssertEqual(
                self.moved((text + rest).joined(separator: end)), expected.joined(separator: end), "\(end.utf8.count)")
        }
        XCTAssertEqual(
            self.moved("[sip]\npassword = a\npassword = b"),
            "[sip]\n# The password is in /data/secrets now.\npassword =\npassword =")
    }

    func testWhereThereIsNoneNothingIsDone() {
        for text in ["", "[sip]", "[sip]\npassword =", "[sip]\n#password = x", "[call]\npassword = x", "password = x"] {
            XCTAssertNil(self.moved(text), text)
        }
        let wide = Array("[sip]\npassword = x\n".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        XCTAssertNil(Configuration.withoutPassword([0xFF, 0xFE] + wide, movedTo: "x"))
        XCTAssertEqual(Configuration.parse([0xFF, 0xFE] + wide).0.sip.password, "x")
    }

    func testAnEmptyPasswordIsNoProblemAndAWrongOneIsNotShown() {
        let head = "[call]\nuri = sip:a@b\n[sip]\n"
        for (line, expected) in [
            ("password =", []), ("auth_user =", []), ("password = \"\"", []),
            ("password hunter2", ["line 4: a line with a password is neither [section] nor key = value"]),
            ("password = " + String(repeating: "h", count: 300), ["line 4, [sip] password: is too long"]),
            ("auth_user = a\"b", ["line 4, [sip] auth_user: is too long, or has a quotation mark in it"]),
        ] {
            let (_, problems) = Configuration.parse(Array((head + line).utf8))
            XCTAssertEqual(problems.map { $0.sentence.string }, expected, line)
        }
        let (configuration, _) = Configuration.parse(Array((head + "user = door\npassword = x").utf8))
        XCTAssertEqual(configuration.sip.credentials, [Credential(username: "door", password: "x")])
        XCTAssertEqual(Configuration().sip.credentials, [])
    }
}
