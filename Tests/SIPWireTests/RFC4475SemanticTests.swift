// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import XCTest

/// RFC 4475 sections 3.2 to 3.4: what the parser makes of messages that upper layers decide about.
final class RFC4475SemanticTests: XCTestCase {
    func test_badbranch_aBareMagicCookieIdentifiesNothing() throws {
        let via = try XCTUnwrap(try TortureMessage.parsed("badbranch").topVia)
        XCTAssertEqual(via.branch, "z9hG4bK")
        XCTAssertNil(via.transactionBranch)
    }

    func test_insuf_missingFieldsAreNamed() throws {
        try TortureMessage.assertAnswered("insuf", .badRequest, "Missing From")
    }

    func test_unkscm_anUnknownSchemeIsKeptForA416() throws {
        let message = try TortureMessage.parsed("unkscm")
        XCTAssertEqual(message.requestURI, .other("nobodyKnowsThisScheme:totallyopaquecontent"))
    }

    func test_novelsc_soIsAKnownOneThatIsNotOurs() throws {
        let message = try TortureMessage.parsed("novelsc")
        XCTAssertEqual(message.requestURI, .other("soap.beep://192.0.2.103:3002"))
    }

    func test_unksm2_addressesMayHaveAnyScheme() throws {
        let message = try TortureMessage.parsed("unksm2")
        XCTAssertEqual(message.to?.uri, .other("isbn:2983792873"))
        XCTAssertEqual(message.from?.uri, .other("http://www.example.com"))
        XCTAssertEqual(message.contacts?.first?.uri, .other("name:John_Smith"))
    }

    func test_bext01_requiredExtensionsAreListed() throws {
        let message = try TortureMessage.parsed("bext01")
        XCTAssertEqual(message.require, ["nothingSupportsThis", "nothingSupportsThisEither"])
        XCTAssertEqual(message.proxyRequire.count, 2)
    }

    func test_invut_theBodysTypeIsNotSDP() throws {
        let message = try TortureMessage.parsed("invut")
        XCTAssertEqual(message.contentType?.isSDP, false)
        XCTAssertEqual(message.body.count, 40)
    }

    func test_regaut01_anUnknownAuthorizationSchemeIsKept() throws {
        XCTAssertEqual(
            try TortureMessage.parsed("regaut01").first(.authorization), "NoOneKnowsThisScheme opaque-data=here")
    }

    func test_multi01_singleFieldsMayNotRepeat() throws {
        try TortureMessage.assertAnswered("multi01", .badRequest, "Repeated Call-ID")
    }

    func test_mcl01_nobodyKnowsWhichContentLengthIsRight() throws {
        try TortureMessage.assertAnswered("mcl01", .badRequest, "Repeated Content-Length")
        var framer = SIPStreamFramer()
        framer.append(try TortureMessage.bytes("mcl01"))
        guard case .broken(let error) = framer.next() else { return XCTFail("expected a broken stream") }
        XCTAssertEqual(error.verdict, .answer(.badRequest))
    }

    func test_bcast_aResponseForABroadcastAddressShowsBothHops() throws {
        let vias = try XCTUnwrap(try TortureMessage.parsed("bcast").vias)
        XCTAssertEqual(vias.map { $0.host.printed }, ["192.0.2.198", "255.255.255.255"])
    }

    func test_zeromf_zeroIsANumberOfHops() throws {
        XCTAssertEqual(try TortureMessage.parsed("zeromf").maxForwards, 0)
    }

    func test_cparam01_withoutBracketsTheParameterIsTheHeaders() throws {
        let contact = try XCTUnwrap(try TortureMessage.parsed("cparam01").contacts?.first)
        XCTAssertTrue(contact.parameters.contains("unknownparam"))
        XCTAssertEqual(contact.uri.printed, "sip:+19725552222@gw1.example.net")
    }

    func test_cparam02_insideBracketsItIsTheURIs() throws {
        let contact = try XCTUnwrap(try TortureMessage.parsed("cparam02").contacts?.first)
        XCTAssertTrue(contact.parameters.isEmpty)
        XCTAssertEqual(contact.uri.printed, "sip:+19725552222@gw1.example.net;unknownparam")
    }

    func test_regescrt_aContactMayCarryEscapedHeaders() throws {
        let contact = try XCTUnwrap(try TortureMessage.parsed("regescrt").contacts?.first?.uri.sip)
        XCTAssertEqual(contact.headers, [.init("Route", "%3Csip:sip.example.com%3E")])
    }

    func test_sdp01_whatTheCallerAcceptsIsListed() throws {
        XCTAssertEqual(try TortureMessage.parsed("sdp01").values(.accept), ["text/nobodyKnowsThis"])
    }

    func test_inv2543_anOldInviteWithoutTagBranchAndLengthIsGood() throws {
        let message = try TortureMessage.parsed("inv2543")
        XCTAssertNil(message.from?.tag)
        XCTAssertNil(message.maxForwards)
        XCTAssertNil(message.topVia?.transactionBranch)
        XCTAssertEqual(message.to?.parameters.value("user"), "phone", "without brackets it is the header's")
        XCTAssertEqual(message.recordRoutes?.first?.uri.sip?.maddr, .name("ss1.example.com"))
        XCTAssertTrue(message.body.starts(with: Array("v=0".utf8)))
    }

    func test_everyMessageOfTheRFCIsHere() throws {
        XCTAssertEqual(try TortureMessage.names.count, 49)
    }
}
