// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import XCTest

final class SIPURITests: XCTestCase {
    func testEveryPartIsRead() throws {
        let uri = try XCTUnwrap(
            SIPURI("sips:al%20ice:pass@Example.com:5071;transport=tcp;lr;maddr=192.0.2.7?Subject=a%20b&Priority="))
        XCTAssertTrue(uri.isSecure)
        XCTAssertEqual(uri.user, "al%20ice")
        XCTAssertEqual(uri.decodedUser, "al ice")
        XCTAssertEqual(uri.password, "pass")
        XCTAssertEqual(uri.host, .name("Example.com"))
        XCTAssertEqual(uri.port, 5071)
        XCTAssertEqual(uri.transport, "tcp")
        XCTAssertTrue(uri.isLooseRoute)
        XCTAssertEqual(uri.maddr, .address(.v4(0xC000_0207)))
        XCTAssertEqual(uri.headers, [.init("Subject", "a%20b"), .init("Priority", "")])
    }

    func testWhatIsReadIsPrintedTheSame() {
        let uris: [ByteString] = [
            "sip:example.com", "sip:example.com:5070", "sips:a@[2001:db8::1]:5061", "sip:a:b@192.0.2.1;x;y=z?h=v&i=",
            "sip:%00@h", "sip:+1234;ext=5@h;user=phone", "sip:h?to=sip:bob%40biloxi.com", "sip:*72#@pbx",
        ]
        for uri in uris { XCTAssertEqual(SIPURI(uri)?.printed.string, uri.string) }
    }

    func testFaultyURIsAreNone() {
        let faulty: [ByteString] = [
            "", "sip", "sip:", "sip:@h", "sip:a@", "sip:a@b@c", "sip:h:", "sip:h:0", "sip:h:65536", "sip:h:99999999999",
            "sip:h:5060x", "sip:[2001:db8::1", "sip:[192.0.2.1]", "sip:2001:db8::1", "sip:h;", "sip:h;=v", "sip:h?",
            "sip:h?=v", "sip:a b@h", "sip:a<@h", "sip:%4@h", "sip:%zz@h", "sip:h;x=%4", "sip:-h", "sip:.h",
            "sip:h\u{7F}",
            "sip:hé", "tel:+123", "sip:a@h:5060:5060", "sip::pw@h", "sip:[]",
        ]
        for uri in faulty { XCTAssertNil(SIPURI(uri), uri.string) }
    }

    func testTooManyParametersAreNone() {
        var uri: ByteString = "sip:h"
        for _ in 0..<SIPLimits.parameters { uri.append(";a") }
        XCTAssertNotNil(SIPURI(uri))
        uri.append(";a")
        XCTAssertNil(SIPURI(uri))
    }

    func testOtherSchemesStayWhole() {
        XCTAssertEqual(URI("tel:+1-201-555-0123"), .other("tel:+1-201-555-0123"))
        XCTAssertEqual(URI("urn:service:sos"), .other("urn:service:sos"))
        for text in ["", ":", "a", "1a:b", "a b:c", "tel:", "http:a b", "x:<y>"] {
            XCTAssertNil(URI(ByteString(utf8Of: text)), text)
        }
        XCTAssertNil(URI("sip:"), "a faulty sip: URI is not some other URI")
    }

    func testUsersAreEscapedForPrinting() {
        XCTAssertEqual(SIPURI.escapedUser("Front door"), "Front%20door")
        XCTAssertEqual(SIPURI.escapedUser("a@b:c%d\"<>"), "a%40b%3Ac%25d%22%3C%3E")
        XCTAssertEqual(SIPURI.escapedUser("é"), "%C3%A9")
        XCTAssertEqual(SIPURI.escapedUser("+1;ext=5"), "+1;ext=5")
    }

    // MARK: - RFC 3261 section 19.1.4, its own examples

    private func equivalent(_ left: ByteString, _ right: ByteString) throws -> Bool {
        let left = try XCTUnwrap(SIPURI(left))
        let right = try XCTUnwrap(SIPURI(right))
        XCTAssertEqual(left.isEquivalent(to: right), right.isEquivalent(to: left), "comparison has no side")
        return left.isEquivalent(to: right)
    }

    func testEquivalentURIs() throws {
        let pairs: [(ByteString, ByteString)] = [
            ("sip:%61lice@atlanta.com;transport=TCP", "sip:alice@AtLanTa.CoM;Transport=tcp"),
            ("sip:carol@chicago.com", "sip:carol@chicago.com;newparam=5"),
            ("sip:carol@chicago.com", "sip:carol@chicago.com;security=on"),
            ("sip:carol@chicago.com;newparam=5", "sip:carol@chicago.com;security=on"),
            (
                "sip:biloxi.com;transport=tcp;method=REGISTER?to=sip:bob%40biloxi.com",
                "sip:biloxi.com;method=REGISTER;transport=tcp?to=sip:bob%40biloxi.com"
            ),
            (
                "sip:alice@atlanta.com?subject=project%20x&priority=urgent",
                "sip:alice@atlanta.com?priority=urgent&subject=project%20x"
            ),
        ]
        for (left, right) in pairs {
            XCTAssertTrue(try self.equivalent(left, right), "\(left.string) = \(right.string)")
        }
    }

    func testDifferentURIs() throws {
        let pairs: [(ByteString, ByteString)] = [
            ("SIP:ALICE@AtLanTa.CoM;Transport=udp", "sip:alice@AtLanTa.CoM;Transport=UDP"),
            ("sip:bob@biloxi.com", "sip:bob@biloxi.com:5060"),
            ("sip:bob@biloxi.com", "sip:bob@biloxi.com;transport=udp"),
            ("sip:bob@biloxi.com", "sip:bob@biloxi.com:6000;transport=tcp"),
            ("sip:carol@chicago.com", "sip:carol@chicago.com?Subject=next%20meeting"),
            ("sip:bob@phone21.boxesbybob.com", "sip:bob@192.0.2.4"),
            ("sip:carol@chicago.com;security=on", "sip:carol@chicago.com;security=off"),
            ("sip:a@h", "sips:a@h"), ("sip:a@h", "sip:h"), ("sip:a@h;maddr=192.0.2.1", "sip:a@h"),
            ("sip:a%3Bb@h", "sip:a;b@h"), ("sip:%2541@h", "sip:A@h"), ("sip:%253B@h", "sip:%3B@h"),
            ("sip:a:x@h", "sip:a:y@h"), ("sip:a@h?x=1", "sip:a@h?x=2"),
        ]
        for (left, right) in pairs {
            XCTAssertFalse(try self.equivalent(left, right), "\(left.string) ≠ \(right.string)")
        }
    }
}
