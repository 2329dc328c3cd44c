// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import XCTest

/// RFC 4475 section 3.1.2: wrong, and to be answered or dropped.
final class RFC4475InvalidTests: XCTestCase {
    func test_badinv01_extraSeparatorsAreRefused() throws {
        try TortureMessage.assertAnswered("badinv01", .badRequest, "Bad Via")
        let request = try XCTUnwrap(try TortureMessage.verdict("badinv01").message)
        XCTAssertEqual(request.replyVia?.replyAddress?.text, "192.0.2.15:5060", "the answer still finds its way")
    }

    func test_clerr_aDatagramShorterThanItsContentLengthIsRefused() throws {
        try TortureMessage.assertAnswered("clerr", .badRequest, "Body Shorter Than Content-Length")
    }

    func test_clerr_aStreamWaitsForTheRest() throws {
        var framer = SIPStreamFramer()
        framer.append(try TortureMessage.bytes("clerr"))
        XCTAssertNil(framer.next())
    }

    func test_ncl_aNegativeContentLengthIsRefused() throws {
        try TortureMessage.assertAnswered("ncl", .badRequest, "Bad Content-Length")
    }

    func test_ncl_breaksAStream() throws {
        var framer = SIPStreamFramer()
        framer.append(try TortureMessage.bytes("ncl"))
        guard case .broken(let error) = framer.next() else { return XCTFail("expected a broken stream") }
        XCTAssertEqual(error.verdict, .answer(.badRequest))
        XCTAssertNil(framer.next())
    }

    func test_scalar02_anOverlargeCSeqIsRefused() throws {
        try TortureMessage.assertAnswered("scalar02", .badRequest, "Bad CSeq")
    }

    func test_scalar02_overlargeMaxForwardsAndExpiresAloneCountAsMissing() throws {
        var message = try XCTUnwrap(try TortureMessage.verdict("scalar02").message)
        message.set(.cseq, "1 REGISTER")
        let good = try SIPMessage.parse(message.printed(), framing: .datagram)
        XCTAssertNil(good.maxForwards)
        XCTAssertNil(good.expiresSeconds)
    }

    func test_scalarlg_aResponseWithOverlargeNumbersIsDropped() throws {
        try TortureMessage.assertDropped("scalarlg", "Bad CSeq")
        XCTAssertNil(RetryAfter("949302838503028349304023988"))
    }

    func test_quotbal_anOpenQuoteIsRefused() throws {
        try TortureMessage.assertAnswered("quotbal", .badRequest, "Bad To")
    }

    func test_ltgtruri_bracketsAroundTheRequestURIAreRefused() throws {
        try TortureMessage.assertAnswered("ltgtruri", .badRequest, "Bad Request Line")
    }

    func test_lwsruri_aBlankInTheRequestURIIsRefused() throws {
        try TortureMessage.assertAnswered("lwsruri", .badRequest, "Bad Request Line")
    }

    func test_lwsstart_severalBlanksInTheRequestLineAreRefused() throws {
        try TortureMessage.assertAnswered("lwsstart", .badRequest, "Bad Request Line")
    }

    func test_trws_blanksAfterTheVersionAreRefused() throws {
        try TortureMessage.assertAnswered("trws", .badRequest, "Bad Request Line")
    }

    func test_escruri_headersInTheRequestURIAreRefused() throws {
        try TortureMessage.assertAnswered("escruri", .badRequest, "Headers In Request-URI")
    }

    func test_baddate_aDateThatNobodyNeedsIsIgnored() throws {
        XCTAssertEqual(try TortureMessage.parsed("baddate").first(.date), "Fri, 01 Jan 2010 16:00:00 EST")
    }

    func test_regbadct_aContactWithHeadersButNoBracketsIsRefused() throws {
        try TortureMessage.assertAnswered("regbadct", .badRequest, "Bad Contact")
    }

    func test_badaspec_blanksInsideTheBracketsAreRefused() throws {
        try TortureMessage.assertAnswered("badaspec", .badRequest, "Bad To")
    }

    func test_baddn_aCommaInAnUnquotedNameIsRefused() throws {
        try TortureMessage.assertAnswered("baddn", .badRequest, "Bad From")
    }

    func test_badvers_anotherVersionIsNotSupported() throws {
        try TortureMessage.assertAnswered("badvers", .versionNotSupported, "Version Not Supported")
    }

    func test_mismatch01_aCSeqOfAnotherMethodIsRefused() throws {
        try TortureMessage.assertAnswered("mismatch01", .badRequest, "CSeq Method Mismatch")
    }

    func test_mismatch02_soIsOneBesideAnUnknownMethod() throws {
        try TortureMessage.assertAnswered("mismatch02", .badRequest, "CSeq Method Mismatch")
    }

    func test_bigcode_anOverlargeStatusIsDropped() throws {
        try TortureMessage.assertDropped("bigcode", "Bad Status Line")
    }
}
