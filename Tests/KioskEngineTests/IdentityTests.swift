// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import KioskEngine

/// How the help point names itself, and where it says it stands.
final class IdentityTests: XCTestCase {
    private func configuration(_ text: String) -> Configuration {
        let (configuration, problems) = Configuration.parse(Array(("[call]\nuri = sip:desk@far\n" + text).utf8))
        XCTAssertEqual(problems.map { $0.sentence.string }, [])
        return configuration
    }

    private func agent(_ text: String) -> String {
        var facts = BoardFacts()
        facts.board = "Raspberry Pi 4 (rev \u{1}1.2)"
        facts.architecture = "arm64"
        facts.system = "Debian 13"
        return self.configuration(text).identity.composedUserAgent(version: "1.2", facts).string
    }

    func testTheUserAgentIsComposedAndEachPartCanBeReplaced() {
        XCTAssertEqual(self.agent(""), "callbox/1.2 (Raspberry Pi 4 rev 1.2; arm64; Debian 13)")
        XCTAssertEqual(
            self.agent("[identity]\nproduct = Door Co\nversion = none\n"),
            "DoorCo (Raspberry Pi 4 rev 1.2; arm64; Debian 13)")
        XCTAssertEqual(self.agent("[identity]\nboard = none\narchitecture = none\nsystem = none\n"), "callbox/1.2")
        XCTAssertEqual(
            self.agent("[identity]\nbuild = a;b(c\n"), "callbox/1.2 (Raspberry Pi 4 rev 1.2; arm64; Debian 13; abc)")
        XCTAssertEqual(self.agent("[identity]\nuser_agent = Gate 7\n"), "Gate 7")
        XCTAssertEqual(self.agent("[identity]\nuser_agent = none\n"), "")
    }

    private func invite(_ text: String) throws -> SIPMessage {
        let scene = Scene(text)
        scene.press(.call)
        let bytes = try XCTUnwrap(scene.offers.last)
        return try SIPMessage.parse(Array(bytes.utf8), framing: .datagram)
    }

    func testCallsNameTheirButtonAndWhoCalls() throws {
        let plain = try self.invite("")
        XCTAssertEqual(plain.first(.other("X-Callbox-Button")), "call")
        XCTAssertNil(plain.first(.privacy))
        XCTAssertEqual(plain.contentType?.isSDP, true)
        let other = try self.invite(
            """
            [button.call]
            name = Gate 7
            label = gate
            [identity]
            preferred = sip:gate7@example.com
            privacy = id, critical
            """)
        XCTAssertEqual(other.from?.displayName, "Gate 7")
        XCTAssertEqual(other.first(.other("X-Callbox-Button")), "gate")
        XCTAssertEqual(other.first(.other("P-Preferred-Identity")), "<sip:gate7@example.com>")
        XCTAssertEqual(other.first(.privacy), "id;critical")
        XCTAssertNil(try self.invite("[button.call]\nlabel = none\n").first(.other("X-Callbox-Button")))
    }

    func testTheLocationGoesAlongWithTheOffer() throws {
        let invite = try self.invite(
            """
            [location]
            latitude = -52.5163
            longitude = 13.3777
            uncertainty = 20
            country = DE
            street = Unter <den> Linden & mehr
            routing = no
            """)
        XCTAssertEqual(invite.first(.other("Geolocation")), "<cid:location@callbox.invalid>")
        XCTAssertEqual(invite.first(.other("Geolocation-Routing")), "no")
        XCTAssertTrue(invite.supported.contains("geolocation"))
        XCTAssertEqual(invite.contentType?.matches("multipart", "mixed"), true)
        let body = String(decoding: invite.body, as: UTF8.self)
        for piece in [
            "Content-Type: application/sdp\r\n\r\nv=0\r\n", "Content-ID: <location@callbox.invalid>",
            "<gml:pos>-52.5163 13.3777</gml:pos>", ">20</gs:radius>", "<ca:country>DE</ca:country>",
            "<ca:RD>Unter &lt;den&gt; Linden &amp; mehr</ca:RD>", "</presence>",
        ] { XCTAssertTrue(body.contains(piece), piece) }
        let byReference = try self.invite("[location]\nuri = https://example.com/here\n")
        XCTAssertEqual(byReference.first(.other("Geolocation")), "<https://example.com/here>")
        XCTAssertEqual(byReference.contentType?.isSDP, true)
    }

    func testPlacesThatCannotBeAreRefused() {
        for value in [
            "latitude = 90.1", "latitude = 91", "latitude = --1", "latitude = 1.", "latitude = north",
            "longitude = 181",
            "longitude = 1e3", "uncertainty = 0", "uri = ftp://x", "uri = https:",
            "country = \(String(repeating: "x", count: 201))",
        ] {
            let text = "[call]\nuri = sip:a@b\n[location]\n\(value)\n"
            let (configuration, problems) = Configuration.parse(Array(text.utf8))
            XCTAssertEqual(problems.map { $0.line }, [4], value)
            XCTAssertTrue(configuration.location.isEmpty, value)
        }
    }
}
