// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import XCTest

/// RFC 5118 section 4: IPv6 in SIP, under the RFC's names. What the session descriptions hold is tested with SDPWire.
final class RFC5118Tests: XCTestCase {
    private static let register = [
        "To: sip:user@example.com", "From: sip:user@example.com;tag=81x2",
        "Via: SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111", "Call-ID: SSG9559905523997077@hlau_4100",
        "Max-Forwards: 70", "Contact: \"Caller\" <sip:caller@[2001:db8::1]>", "CSeq: 98176 REGISTER",
    ]

    /// A message of these lines. The Content-Length is counted: some that the RFC prints are wrong.
    private func bytes(_ lines: [String], body: [String] = []) -> [UInt8] {
        let body = body.map { $0 + "\r\n" }.joined()
        return Array(((lines + ["Content-Length: \(body.utf8.count)", "", ""]).joined(separator: "\r\n") + body).utf8)
    }

    private func parse(_ lines: [String], body: [String] = []) throws -> SIPMessage {
        try SIPMessage.parse(self.bytes(lines, body: body), framing: .datagram)
    }

    private func register(at uri: String) throws -> SIPMessage {
        try self.parse(["REGISTER \(uri) SIP/2.0"] + Self.register)
    }

    private func address(_ text: ByteString) throws -> IPAddress { try XCTUnwrap(IPAddress(text)) }

    func test_4_1_ipv6good_anAddressInBracketsIsTaken() throws {
        let message = try self.register(at: "sip:[2001:db8::10]")
        XCTAssertEqual(message.requestURI?.sip?.host, .address(try self.address("2001:db8::10")))
        XCTAssertNil(message.requestURI?.sip?.port)
        XCTAssertEqual(message.topVia?.host.printed, "[2001:db8::9:1]")
        XCTAssertEqual(message.contacts?.first?.uri.printed, "sip:caller@[2001:db8::1]")
    }

    func test_4_2_ipv6bad_anAddressWithoutBracketsIsRefused() throws {
        do {
            _ = try self.register(at: "sip:2001:db8::10")
            XCTFail("was taken as good")
        } catch let error as SIPParseError {
            XCTAssertEqual(error.verdict, .answer(.badRequest))
            XCTAssertEqual(error.message?.replyVia?.replyAddress?.text, "[2001:db8::9:1]:5060")
        }
    }

    func test_4_3_portambiguous_digitsInsideTheBracketsAreNoPort() throws {
        let uri = try XCTUnwrap(try self.register(at: "sip:[2001:db8::10:5070]").requestURI?.sip)
        XCTAssertEqual(uri.host, .address(try self.address("2001:db8:0:0:0:0:10:5070")))
        XCTAssertNil(uri.port)
    }

    func test_4_4_portunambiguous_thePortStandsOutside() throws {
        let uri = try XCTUnwrap(try self.register(at: "sip:[2001:db8::10]:5070").requestURI?.sip)
        XCTAssertEqual(uri.host, .address(try self.address("2001:db8::10")))
        XCTAssertEqual(uri.port, 5_070)
    }

    func test_4_5_viareceivedparamwithdelim_bracketsAroundReceivedAreTaken() throws {
        let message = try self.parse([
            "BYE sip:[2001:db8::10] SIP/2.0", "To: sip:user@example.com;tag=bd76ya",
            "From: sip:user@example.com;tag=81x2",
            "Via: SIP/2.0/UDP [2001:db8::9:1];received=[2001:db8::9:255];branch=z9hG4bKas3-111",
            "Call-ID: SSG9559905523997077@hlau_4100", "Max-Forwards: 70", "CSeq: 321 BYE",
        ])
        XCTAssertEqual(message.topVia?.replyAddress?.text, "[2001:db8::9:255]:5060")
    }

    func test_4_5_viareceivedparamnodelim_soIsReceivedWithoutThem() throws {
        let message = try self.parse([
            "OPTIONS sip:[2001:db8::10] SIP/2.0", "To: sip:user@example.com", "From: sip:user@example.com;tag=81x2",
            "Via: SIP/2.0/UDP [2001:db8::9:1];received=2001:db8::9:255;branch=z9hG4bKas3",
            "Call-ID: SSG95523997077@hlau_4100", "Max-Forwards: 70",
            "Contact: \"Caller\" <sip:caller@[2001:db8::9:1]>", "CSeq: 921 OPTIONS",
        ])
        XCTAssertEqual(message.topVia?.replyAddress?.text, "[2001:db8::9:255]:5060")
        XCTAssertEqual(message.topVia?.branch, "z9hG4bKas3")
    }

    func test_4_5_whatWeWriteIntoReceivedHasNoBrackets() throws {
        var via = try XCTUnwrap(Via("SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3"))
        via.stamp(source: SocketAddress(try self.address("2001:db8::9:255"), port: 5_060))
        XCTAssertEqual(via.parameters.value("received"), "2001:db8::9:255")
    }

    func test_4_6_ipv6insdp_theBodyComesWhole() throws {
        let body = ["v=0", "o=assistant 971731711378798081 0 IN IP6 2001:db8::20", "s=-", "c=IN IP6 2001:db8::20"]
        let message = try self.parse(
            [
                "INVITE sip:user@[2001:db8::10] SIP/2.0", "To: sip:user@[2001:db8::10]",
                "From: sip:user@example.com;tag=81x2", "Via: SIP/2.0/UDP [2001:db8::20];branch=z9hG4bKas3-111",
                "Call-ID: SSG9559905523997077@hlau_4100", "Contact: \"Caller\" <sip:caller@[2001:db8::20]>",
                "CSeq: 8612 INVITE", "Max-Forwards: 70", "Content-Type: application/sdp",
            ], body: body)
        XCTAssertEqual(message.contentType?.isSDP, true)
        XCTAssertEqual(message.body.count, body.joined().utf8.count + 2 * body.count)
        XCTAssertEqual(message.to?.uri.printed, "sip:user@[2001:db8::10]")
    }

    func test_4_7_multipinheader_hopsOfBothFamiliesStandTogether() throws {
        let message = try self.parse([
            "BYE sip:user@host.example.net SIP/2.0", "Via: SIP/2.0/UDP [2001:db8::9:1]:6050;branch=z9hG4bKas3-111",
            "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKjhja8781hjuaij65144",
            "Via: SIP/2.0/TCP [2001:db8::9:255];branch=z9hG4bK451jj;received=192.0.2.200",
            "Call-ID: 997077@lau_4100", "Max-Forwards: 70", "CSeq: 89187 BYE",
            "To: sip:user@example.net;tag=9817--94", "From: sip:user@example.com;tag=81x2",
        ])
        let vias = try XCTUnwrap(message.vias)
        XCTAssertEqual(
            vias.map { $0.replyAddress?.text }, ["[2001:db8::9:1]:6050", "192.0.2.1:5060", "192.0.2.200:5060"])
    }

    func test_4_8_multipinsdp_isAnInviteLikeAnyOther() throws {
        let message = try self.parse(
            [
                "INVITE sip:user@[2001:db8::10] SIP/2.0", "To: sip:user@[2001:db8::10]",
                "From: sip:user@example.com;tag=81x2", "Via: SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111",
                "Call-ID: SSG9559905523997077@hlau_4100", "Contact: \"Caller\" <sip:caller@[2001:db8::9:1]>",
                "Max-Forwards: 70", "CSeq: 8912 INVITE", "Content-Type: application/sdp",
            ], body: ["v=0"])
        XCTAssertEqual(message.envelope?.cseq, CSeq(8_912, .invite))
    }

    func test_4_9_ipv4mappedipv6_mappedAddressesAreThoseTheyMap() throws {
        let message = try self.parse(
            [
                "INVITE sip:user@example.com SIP/2.0", "To: sip:user@example.com",
                "From: sip:user@east.example.com;tag=81x2",
                "Via: SIP/2.0/UDP [::ffff:192.0.2.10]:19823;branch=z9hG4bKbh19",
                "Via: SIP/2.0/UDP [::ffff:192.0.2.2];branch=z9hG4bKas3-111",
                "Call-ID: SSG9559905523997077@hlau_4100",
                "Contact: \"T. desk phone\" <sip:ted@[::ffff:192.0.2.2]>", "CSeq: 612 INVITE", "Max-Forwards: 70",
                "Content-Type: application/sdp",
            ], body: ["v=0"])
        XCTAssertEqual(message.vias?.map { $0.replyAddress?.text }, ["192.0.2.10:19823", "192.0.2.2:5060"])
        XCTAssertEqual(message.contacts?.first?.uri.sip?.host, .address(try self.address("192.0.2.2")))
        XCTAssertEqual(message.contacts?.first?.displayName, "T. desk phone")
    }

    func test_4_10_ipv6bugabnf3colons_threeColonsBeforeAnIPv4TailCountAsTwo() throws {
        for host in ["[2001:db8:::192.0.2.1]", "[2001:db8::192.0.2.1]"] {
            let message = try self.parse([
                "OPTIONS sip:user@\(host) SIP/2.0", "To: sip:user@\(host)", "From: sip:user@example.com;tag=810x2",
                "Via: SIP/2.0/UDP lab1.east.example.com;branch=z9hG4bKas3-111",
                "Call-ID: G9559905523997077@hlau_4100", "CSeq: 689 OPTIONS", "Max-Forwards: 70",
            ])
            XCTAssertEqual(message.requestURI?.sip?.host, .address(try self.address("2001:db8::192.0.2.1")), host)
            XCTAssertEqual(message.to?.uri, message.requestURI, host)
        }
    }

    func test_4_10_threeColonsAnywhereElseAreAFault() {
        for host: ByteString in [
            "[2001:db8:::1]", "[2001:db8::::192.0.2.1]", "[2001::db8:::192.0.2.1]", "[:::]", "[2001:::db8:192.0.2.1]",
            "[1:2:3:4:5:6:7:::192.0.2.1]",
        ] {
            XCTAssertNil(Host(host), host.string)
        }
    }
}
