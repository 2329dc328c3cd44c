// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import XCTest

/// RFC 4475 section 3.1.1: odd, but right.
final class RFC4475ValidTests: XCTestCase {
    func test_wsinv_readsFoldedSpacedAndMixedFields() throws {
        let message = try TortureMessage.parsed("wsinv")
        XCTAssertEqual(message.method, .invite)
        XCTAssertEqual(message.requestURI?.printed, "sip:vivekg@chair-dnrc.example.com;unknownparam")
        XCTAssertEqual(message.to?.tag, "1918181833n")
        XCTAssertEqual(message.from?.displayName, "J Rosenberg \\\"")
        XCTAssertEqual(message.from?.tag, "98asjd8")
        XCTAssertEqual(message.maxForwards, 68)
        XCTAssertEqual(message.cseq, CSeq(9, .invite))
        XCTAssertEqual(message.first(.subject), "")
        XCTAssertEqual(message.first(.other("newfangledheader")), "newfangled value continued newfangled value")
        XCTAssertEqual(message.first(.other("UnknownHeaderWithUnusualValue")), ";;,,;;,;")
        XCTAssertEqual(message.routes?.first?.uri.sip?.isLooseRoute, true)
        XCTAssertEqual(message.body.count, 150)
    }

    func test_wsinv_readsThreeHopsAndTheContactsParameters() throws {
        let message = try TortureMessage.parsed("wsinv")
        let vias = try XCTUnwrap(message.vias)
        XCTAssertEqual(vias.map { $0.transport }, ["UDP", "TCP", "UDP"])
        XCTAssertEqual(vias.map { $0.branch }, ["390skdjuw", "z9hG4bK9ikj8", "z9hG4bK30239"])
        XCTAssertNil(vias[0].transactionBranch, "no magic cookie: RFC 2543 matching")
        XCTAssertEqual(vias[1].host, .name("spindle.example.com"))
        let contact = try XCTUnwrap(message.contacts?.first)
        XCTAssertEqual(contact.displayName, "Quoted string \"\"")
        XCTAssertEqual(contact.parameters.value("newparam"), "newvalue")
        XCTAssertTrue(contact.parameters.contains("secondparam"))
        XCTAssertEqual(contact.parameters.value("q"), "0.33")
    }

    func test_intmeth_takesEveryCharacterThatTheGrammarAllows() throws {
        let message = try TortureMessage.parsed("intmeth")
        let method = try XCTUnwrap(message.method)
        XCTAssertEqual(method.token, "!interesting-Method0123456789_*+`.%indeed'~")
        XCTAssertEqual(message.cseq?.method, method)
        let uri = try XCTUnwrap(message.requestURI?.sip)
        XCTAssertEqual(uri.user, "1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*")
        XCTAssertEqual(uri.password, "&it+has=1,weird!*pas$wo~d_too.(doesn't-it)")
        XCTAssertEqual(uri.host, .name("example.com"))
        XCTAssertEqual(message.to?.displayName.bytes, Array("BEL:\u{07} NUL:\u{00} DEL:\u{7F}".utf8))
        XCTAssertEqual(message.from?.displayName, "token1~` token2'+_ token3*%!.-")
        XCTAssertEqual(message.from?.parameters.text(of: "fromParam''~+*_!.-%"), "работающий")
        XCTAssertEqual(message.from?.tag, "_token~1'+`*%!-.")
        XCTAssertEqual(message.callID?.text, "intmeth.word%ZK-!.*_+'@word`~)(><:\\/\"][?}{")
        XCTAssertEqual(message.first(.other("extensionHeader-!.%*+_`'~")), "\u{FEFF}大停電")
    }

    func test_esc01_comparesEscapedAndPlainAlike() throws {
        let message = try TortureMessage.parsed("esc01")
        let target = try XCTUnwrap(message.requestURI?.sip)
        XCTAssertEqual(target.user, "sips%3Auser%40example.com")
        XCTAssertEqual(target.decodedUser, "sips:user@example.com")
        XCTAssertEqual(target.host, .name("example.net"))
        let to = try XCTUnwrap(message.to?.uri.sip)
        XCTAssertTrue(to.isEquivalent(to: try XCTUnwrap(SIPURI("sip:user@example.com"))))
        let contact = try XCTUnwrap(message.contacts?.first?.uri.sip)
        XCTAssertTrue(contact.isLooseRoute, "%6C%72 is lr")
        XCTAssertTrue(
            contact.isEquivalent(to: try XCTUnwrap(SIPURI("sip:caller@host5.example.net;lr;name=value%2541"))))
    }

    func test_escnull_keepsEscapedNulls() throws {
        let message = try TortureMessage.parsed("escnull")
        XCTAssertEqual(message.to?.uri.sip?.user, "null-%00-null")
        XCTAssertEqual(message.contacts?.compactMap { $0.uri.sip?.decodedUser?.bytes }, [[0], [0, 0]])
    }

    func test_esc02_doesNotUnescapeTokens() throws {
        let message = try TortureMessage.parsed("esc02")
        XCTAssertEqual(message.method, .other("RE%47IST%45R"))
        XCTAssertEqual(message.to?.displayName, "%Z%45")
        XCTAssertEqual(message.contacts?.count, 2, "C%6Fntact is another header")
        XCTAssertEqual(message.topVia?.branch, "z9hG4bK209%fzsnel234")
    }

    func test_lwsdisp_needsNoBlankBeforeTheBracket() throws {
        let message = try TortureMessage.parsed("lwsdisp")
        XCTAssertEqual(message.from?.displayName, "caller")
        XCTAssertEqual(message.from?.uri.printed, "sip:caller@example.com")
    }

    func test_longreq_readsLongFieldsAndThirtyFourHops() throws {
        let message = try TortureMessage.parsed("longreq")
        XCTAssertEqual(message.vias?.count, 34)
        XCTAssertEqual(message.topVia?.host, .name("sip33.example.com"))
        XCTAssertEqual(message.to?.uri.sip?.port, 6000)
        XCTAssertGreaterThan(message.callID?.text.count ?? 0, 100)
        XCTAssertEqual(message.body.count, 150)
    }

    func test_dblreq_ignoresWhatFollowsInTheDatagram() throws {
        let message = try TortureMessage.parsed("dblreq")
        XCTAssertEqual(message.method, .register)
        XCTAssertEqual(message.body, [])
    }

    func test_dblreq_isTwoRequestsOnAStream() throws {
        var framer = SIPStreamFramer()
        framer.append(try TortureMessage.bytes("dblreq"))
        guard case .message(let first) = framer.next(), case .message(let second) = framer.next() else {
            return XCTFail("expected two messages")
        }
        XCTAssertEqual(try SIPMessage.parse(first, framing: .stream).method, .register)
        XCTAssertEqual(try SIPMessage.parse(second, framing: .stream).method, .invite)
    }

    func test_semiuri_keepsTheSemicolonInTheUser() throws {
        let uri = try XCTUnwrap(try TortureMessage.parsed("semiuri").requestURI?.sip)
        XCTAssertEqual(uri.user, "user;par=u%40example.net")
        XCTAssertTrue(uri.parameters.isEmpty)
    }

    func test_transports_readsKnownAndUnknownOnes() throws {
        let vias = try XCTUnwrap(try TortureMessage.parsed("transports").vias)
        XCTAssertEqual(vias.map { $0.transport }, ["UDP", "SCTP", "TLS", "UNKNOWN", "TCP"])
        XCTAssertEqual(vias.map { SIPTransport($0.transport) }, [.udp, nil, .tls, nil, .tcp])
    }

    func test_mpart01_keepsABinaryBody() throws {
        let message = try TortureMessage.parsed("mpart01")
        XCTAssertEqual(message.method, .message)
        XCTAssertEqual(message.contentType?.matches("multipart", "mixed"), true)
        XCTAssertEqual(message.contentType?.parameters.value("boundary"), "7a9cbec02ceef655")
        XCTAssertEqual(message.body.count, 553)
    }

    func test_unreason_takesAnUnusualReasonPhrase() throws {
        let message = try TortureMessage.parsed("unreason")
        XCTAssertEqual(message.status, .ok)
        guard case .response(_, let reason) = message.startLine else { return XCTFail("expected a response") }
        XCTAssertTrue(reason.hasPrefix("= 2**3 * 5**2 "))
        XCTAssertEqual(reason.string.unicodeScalars.last, "е")
    }

    func test_noreason_takesAnEmptyReasonPhrase() throws {
        let message = try TortureMessage.parsed("noreason")
        XCTAssertEqual(message.startLine, .response(.trying, reason: ""))
    }
}
