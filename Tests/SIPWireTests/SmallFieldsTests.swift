// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import SIPWire

final class SmallFieldsTests: XCTestCase {
    func testCSeqTakesTheWholeRangeOfNumbersAndNoMore() {
        XCTAssertEqual(CSeq("0 ACK"), CSeq(0, .ack))
        XCTAssertEqual(CSeq("4294967295 \t BYE"), CSeq(4_294_967_295, .bye))
        for value in ["4294967296 BYE", "-1 BYE", "1", "1BYE", "BYE", "1 ", "1 B E", "", "+1 BYE", "1 invite,x"] {
            XCTAssertNil(CSeq(ByteString(utf8Of: value)), value)
        }
        XCTAssertEqual(CSeq(7, .other("X")).printed, "7 X")
    }

    func testMethodsAreComparedWithCase() {
        XCTAssertEqual(Method("INVITE"), .invite)
        XCTAssertEqual(Method("invite"), .other("invite"))
        XCTAssertNil(Method("IN VITE"))
        XCTAssertNil(Method(""))
    }

    func testCallIDsAreWordsOfABoundedLength() {
        XCTAssertNotNil(CallID("a@b"))
        for value in ["", "@", "a@", "@b", "a@b@c", "a b", "a,b", "é"] {
            XCTAssertNil(CallID(ByteString(utf8Of: value)), value)
        }
        XCTAssertNotNil(CallID(ByteString([UInt8](repeating: 0x61, count: SIPLimits.identifierBytes))))
        XCTAssertNil(CallID(ByteString([UInt8](repeating: 0x61, count: SIPLimits.identifierBytes + 1))))
    }

    func testStatusCodesHaveARangeClassesAndPhrases() {
        XCTAssertNil(StatusCode(wire: 99))
        XCTAssertNil(StatusCode(wire: 700))
        XCTAssertEqual(StatusCode(wire: 699)?.statusClass, .globalFailure)
        XCTAssertEqual(StatusCode(199).statusClass, .provisional)
        XCTAssertTrue(StatusCode(299).isSuccess)
        XCTAssertEqual(StatusCode(486).reasonPhrase, "Busy Here")
        XCTAssertEqual(StatusCode(499).reasonPhrase, "Bad Request", "an unknown code reads as x00 of its class")
        XCTAssertEqual(StatusCode(199).reasonPhrase, "Session Progress")
        for code in 100...699 { XCTAssertFalse(StatusCode(code).reasonPhrase.isEmpty) }
    }

    func testHeaderNamesFoldCaseAndCompactForms() {
        XCTAssertEqual(HeaderName("cAlL-iD"), .callID)
        XCTAssertEqual(HeaderName("I"), .callID)
        XCTAssertEqual(HeaderName("x-Odd"), HeaderName("X-ODD"))
        XCTAssertNotEqual(HeaderName("x-Odd"), HeaderName("x-Even"))
        XCTAssertEqual(HeaderName("x-Odd")?.token, "x-Odd", "printed as it came")
        XCTAssertEqual(HeaderName("z"), .other("Z"))
        XCTAssertEqual(HeaderName("P-ASSERTED-identity"), .pAssertedIdentity)
        XCTAssertEqual(HeaderName("Subscription-Statf"), .other("Subscription-Statf"))
        XCTAssertEqual(HeaderName("a-name-longer-than-all-the-others")?.token, "a-name-longer-than-all-the-others")
        XCTAssertNil(HeaderName(""))
        XCTAssertNil(HeaderName("a b"))
        for name: HeaderName in [
            .accept, .answerMode, .infoPackage, .minSE, .privAnswerMode, .rack, .recvInfo, .referSub, .referredBy,
            .remotePartyID, .replaces, .rseq, .sessionExpires, .to, .wwwAuthenticate,
        ] {
            XCTAssertEqual(HeaderName(name.token), name)
        }
        for letter in "bcefiklmorstuvx" {
            XCTAssertGreaterThan(HeaderName(ByteString(utf8Of: String(letter)))?.token.count ?? 0, 1, "\(letter)")
        }
    }

    func testReasonAndRetryAfterAreReadAndPrinted() {
        let reason = Reason("SIP ;cause=200 ;text=\"Call completed elsewhere\"")
        XCTAssertEqual(reason, Reason(protocolName: "SIP", cause: 200, text: "Call completed elsewhere"))
        XCTAssertEqual(reason.flatMap { Reason($0.printed) }, reason)
        XCTAssertEqual(Reason("Q.850;cause=99999999999999999999")?.cause, nil)
        XCTAssertNil(Reason(""))
        XCTAssertEqual(RetryAfter("120 (in a meeting);duration=60")?.seconds, 120)
        XCTAssertEqual(RetryAfter("4294967295")?.seconds, 4_294_967_295)
        for value in ["", "x", "-1", "4294967296", "1x"] { XCTAssertNil(RetryAfter(ByteString(utf8Of: value)), value) }
    }

    func testContentTypesAreComparedWithoutCase() {
        XCTAssertEqual(ContentType("Application/SDP ; charset=utf-8")?.isSDP, true)
        XCTAssertEqual(ContentType("multipart/mixed;boundary=\"a b\"")?.parameters.text(of: "BOUNDARY"), "a b")
        for value in ["", "a", "a/", "/b", "a/b;", "a/b x"] {
            XCTAssertNil(ContentType(ByteString(utf8Of: value)), value)
        }
        XCTAssertEqual(ContentType("application", "sdp").printed, "application/sdp")
    }

    func testListsAreCutOutsideQuotesAndBracketsOnly() {
        XCTAssertEqual(HeaderList.split("a,b , c"), ["a", "b", "c"])
        XCTAssertEqual(HeaderList.split("\"a,\\\",b\" <sip:x,y@h>, z"), ["\"a,\\\",b\" <sip:x,y@h>", "z"])
        XCTAssertEqual(HeaderList.split(""), [""])
        XCTAssertEqual(HeaderList.split(",,"), ["", "", ""])
        XCTAssertEqual(HeaderList.split("\"a, b"), ["\"a, b"])
        XCTAssertEqual(HeaderList.split("a\\"), ["a\\"])
        let commas = ByteString([UInt8](repeating: ASCII.comma, count: 8_000))
        XCTAssertEqual(HeaderList.split(commas).count, SIPLimits.listValues + 1)
    }

    func testQuotedStringsComeOutAsTheyWentIn() {
        for text: ByteString in ["", "a", "\"", "\\", "\\\"\\", "a b\u{07}"] {
            XCTAssertEqual(QuotedString.unquoted(QuotedString.quoted(text)), text)
        }
        XCTAssertEqual(QuotedString.unquoted("plain"), "plain")
        XCTAssertEqual(QuotedString.unquoted("\""), "\"")
        XCTAssertEqual(QuotedString.unquoted("\"a\\\""), "\"a\\\"")
    }

    func testParametersAreFoundWithoutCase() {
        var parameters = Parameters([.init("Tag", "1"), .init("lr")])
        XCTAssertEqual(parameters.value("tAG"), "1")
        XCTAssertTrue(parameters.contains("LR"))
        XCTAssertNil(parameters.value("lr"))
        parameters.set("lr", "on")
        parameters.set("new", nil)
        parameters.remove("TAG")
        XCTAssertEqual(parameters.printed, ";lr=on;new")
    }
}
