// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import XCTest

final class NameAddrTests: XCTestCase {
    func testTheThreeForms() throws {
        let quoted = try XCTUnwrap(NameAddr("\"A. \\\"B\\\" C\" <sip:a@h;lr>;tag=1;x"))
        XCTAssertEqual(quoted.displayName, "A. \"B\" C")
        XCTAssertEqual(quoted.uri.printed, "sip:a@h;lr")
        XCTAssertEqual(quoted.tag, "1")
        XCTAssertTrue(quoted.parameters.contains("X"))
        let words = try XCTUnwrap(NameAddr("Front  door <sip:a@h>"))
        XCTAssertEqual(words.displayName, "Front  door")
        let bare = try XCTUnwrap(NameAddr("sip:a@h;tag=1"))
        XCTAssertEqual(bare.uri.printed, "sip:a@h")
        XCTAssertEqual(bare.tag, "1")
    }

    func testUnquotedNamesAreTakenAsPeersSendThem() {
        XCTAssertEqual(NameAddr("O'Brien & Co (1) <sip:a@h>")?.displayName, "O'Brien & Co (1)")
        XCTAssertEqual(NameAddr("Zoë <sip:z@h>")?.displayName, "Zoë")
    }

    func testFaultyValuesAreNone() {
        let faulty: [ByteString] = [
            "", " ", "<>", "<sip:a@h", "sip:a@h>", "\"a <sip:a@h>", "\"a\" sip:a@h", "a, b <sip:a@h>", "<sip:a@h>x",
            "<sip:a@h>;", "<sip:a@h>;;tag=1", "sip:a@h,sip:b@h", "sip:a@h?x=y", "< sip:a@h>", "<sip:a@h >", "*",
            "<sip:a@h>;tag=\"x", "<sip:a@h>;=x", "a", "<a>", "\"\\\"<sip:a@h>",
        ]
        for value in faulty { XCTAssertNil(NameAddr(value), value.string) }
    }

    func testNamesArePrintedInQuotes() throws {
        let uri = try XCTUnwrap(SIPURI("sip:door@h"))
        XCTAssertEqual(NameAddr(uri, tag: "t").printed, "<sip:door@h>;tag=t")
        let named = NameAddr(displayName: "Back \"door\" \\", uri)
        XCTAssertEqual(named.printed, "\"Back \\\"door\\\" \\\\\" <sip:door@h>")
        XCTAssertEqual(NameAddr(named.printed), named)
    }

    func testALineEndInAConfiguredNameCannotAddAField() throws {
        let uri = try XCTUnwrap(SIPURI("sip:door@h"))
        let printed = NameAddr(displayName: "a\r\nEvil: yes", uri).printed
        XCTAssertFalse(printed.contains(ASCII.lineFeed))
        XCTAssertFalse(printed.contains(ASCII.carriageReturn))
    }

    func testTheTagCanBeSetAndTakenAway() throws {
        var address = try XCTUnwrap(NameAddr("<sip:a@h>;x=1;TAG=old"))
        address.tag = "new"
        XCTAssertEqual(address.printed, "<sip:a@h>;x=1;TAG=new")
        address.tag = nil
        XCTAssertEqual(address.printed, "<sip:a@h>;x=1")
    }

    func testTooManyParametersAreNone() {
        var value: ByteString = "<sip:a@h>"
        for _ in 0...SIPLimits.parameters { value.append(";a") }
        XCTAssertNil(NameAddr(value))
    }
}
