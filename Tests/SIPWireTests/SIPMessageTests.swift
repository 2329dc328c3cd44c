// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import XCTest

final class SIPMessageTests: XCTestCase {
    static let invite = """
        INVITE sip:desk@example.com SIP/2.0
        Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bK1;rport, SIP/2.0/TCP far;branch=z9hG4bK0
        Record-Route: <sip:p1@h;lr>
        Record-Route: <sip:p2@h;lr>
        f: "Door" <sip:door@example.com>;tag=a
        t: <sip:desk@example.com>
        i: one@192.0.2.1
        CSeq: 5 INVITE
        m: <sip:door@192.0.2.1>
        Allow: INVITE, ACK , BYE
        k: timer,100rel
        Max-Forwards: 70
        c: application/sdp
        l: 4

        v=0

        """.replacingLineEnds

    private func parse(_ text: String, _ framing: SIPFraming = .datagram) throws -> SIPMessage {
        try SIPMessage.parse(Array(text.utf8), framing: framing)
    }

    private func error(_ text: String, _ framing: SIPFraming = .datagram) -> SIPParseError? {
        do {
            _ = try SIPMessage.parse(Array(text.utf8), framing: framing)
            return nil
        } catch {
            return error
        }
    }

    func testTypedViewsReadTheFields() throws {
        let message = try self.parse(Self.invite)
        let envelope = try XCTUnwrap(message.envelope)
        XCTAssertEqual(envelope.via.transactionBranch, "z9hG4bK1")
        XCTAssertEqual(envelope.from.tag, "a")
        XCTAssertNil(envelope.to.tag)
        XCTAssertEqual(envelope.callID.text, "one@192.0.2.1")
        XCTAssertEqual(envelope.cseq, CSeq(5, .invite))
        XCTAssertEqual(message.vias?.count, 2)
        XCTAssertEqual(message.recordRoutes?.count, 2)
        XCTAssertEqual(message.allow, [.invite, .ack, .bye])
        XCTAssertEqual(message.supported, ["timer", "100rel"])
        XCTAssertEqual(message.maxForwards, 70)
        XCTAssertEqual(message.contentType?.isSDP, true)
        XCTAssertEqual(message.body, Array("v=0\r".utf8))
    }

    func testPrintingAndReadingAgree() throws {
        let message = try self.parse(Self.invite)
        let again = try SIPMessage.parse(message.printed(), framing: .stream)
        XCTAssertEqual(again.startLine, message.startLine)
        XCTAssertEqual(again.body, message.body)
        let withoutLength = message.headers.filter { $0.name != .contentLength }
        XCTAssertEqual(again.headers.filter { $0.name != .contentLength }, withoutLength)
    }

    func testPrintingNeverLetsAValueEndItsLine() throws {
        var message = try self.parse(Self.invite)
        message.set(.subject, "a\r\n\r\nb")
        message.startLine = .response(.ok, reason: "fine\r\nEvil: yes")
        let again = try SIPMessage.parse(message.printed(), framing: .stream)
        XCTAssertEqual(again.headers.count, message.headers.count)
        XCTAssertFalse(again.contains(.other("Evil")))
    }

    func testFieldsAreSetInPlaceAndRemoved() throws {
        var message = try self.parse(Self.invite)
        message.set(.recordRoute, "<sip:only@h;lr>")
        XCTAssertEqual(message.headers[1], Header(.recordRoute, "<sip:only@h;lr>"))
        XCTAssertEqual(message.fields(.recordRoute).count, 1)
        message.remove(.recordRoute)
        XCTAssertFalse(message.contains(.recordRoute))
        message.prepend(.route, "<sip:x@h>")
        XCTAssertEqual(message.headers.first?.name, .route)
        message.set(.priority, "emergency")
        XCTAssertEqual(message.headers.last?.name, .priority)
    }

    func testReplacingTheTopViaLeavesTheOthers() throws {
        var message = try self.parse(Self.invite)
        var via = try XCTUnwrap(message.topVia)
        via.stamp(source: SocketAddress(.v4(0xC000_0209), port: 9))
        message.replaceTopVia(via)
        XCTAssertEqual(message.vias?.map { $0.branch }, ["z9hG4bK1", "z9hG4bK0"])
        XCTAssertEqual(message.topVia?.rport, 9)
    }

    func testAResponseCopiesWhatTheRFCAsksFor() throws {
        let request = try self.parse(Self.invite)
        let ringing = SIPMessage(respondingTo: request, .ringing, toTag: "b")
        XCTAssertEqual(ringing.fields(.via), request.fields(.via))
        XCTAssertEqual(ringing.fields(.recordRoute), request.fields(.recordRoute))
        XCTAssertEqual(ringing.first(.from), request.first(.from))
        XCTAssertEqual(ringing.to?.tag, "b")
        XCTAssertEqual(ringing.first(.cseq), "5 INVITE")
        XCTAssertFalse(SIPMessage(respondingTo: request, .trying).contains(.recordRoute))
        XCTAssertNil(SIPMessage(respondingTo: request, .trying).to?.tag)
        XCTAssertFalse(SIPMessage(respondingTo: request, .busyHere).contains(.recordRoute))
        XCTAssertNoThrow(try SIPMessage.parse(ringing.printed(), framing: .stream))
    }

    func testAResponseKeepsATagThatIsThere() throws {
        var request = try self.parse(Self.invite)
        request.set(.to, "<sip:desk@example.com>;tag=theirs")
        XCTAssertEqual(SIPMessage(respondingTo: request, .ok, toTag: "ours").to?.tag, "theirs")
    }

    // MARK: - Lines and bounds

    func testLineFeedsAloneAndLeadingLineEndsAreTaken() throws {
        let text = "\r\n\n" + Self.invite.replacingOccurrences(of: "\r\n", with: "\n")
        XCTAssertEqual(try self.parse(text).cseq?.number, 5)
    }

    /// A carriage return that ends no line could not be printed again as it was read.
    func testAReturnWithinALineIsWhiteSpace() throws {
        let text = Self.invite.replacingOccurrences(of: "Max-Forwards", with: "Subject: a\rb \r\r\nMax-Forwards")
        let message = try SIPMessage.parse(Array(text.utf8), framing: .datagram)
        XCTAssertEqual(message.first(.subject)?.bytes.contains(ASCII.carriageReturn), false)
        XCTAssertEqual(try SIPMessage.parse(message.printed(), framing: .stream).printed(), message.printed())
    }

    func testALineWithoutANameIsPassedOver() throws {
        let text = Self.invite.replacingOccurrences(of: "k: timer", with: "no colon here\r\n: no name\r\nk: timer")
        XCTAssertEqual(try self.parse(text).supported.count, 2)
    }

    func testNoiseIsDropped() {
        for text in [
            "", "\r\n\r\n", "hello", "GET / HTTP/1.1\r\n\r\n", "INVITE\r\n\r\n", "\u{0}\u{0}\u{0}\u{0}", "SIP/2.0",
        ] {
            XCTAssertEqual(self.error(text)?.verdict, .drop, text)
        }
    }

    func testAFaultyACKOrResponseIsNeverAnswered() {
        let ack = Self.invite.replacingOccurrences(of: "INVITE", with: "ACK").replacingOccurrences(
            of: "i: one", with: "x: one")
        XCTAssertEqual(self.error(ack)?.verdict, .drop)
        XCTAssertEqual(self.error(ack)?.reason, "Missing Call-ID")
    }

    func testARequestWithoutAWayBackIsDropped() {
        XCTAssertEqual(self.error(Self.invite.replacingOccurrences(of: "Via:", with: "Vai:"))?.verdict, .drop)
    }

    func testLengthsAreBounded() {
        let long = String(repeating: "x", count: SIPLimits.headerBytes + 1)
        let subject = Self.invite.replacingOccurrences(of: "k: timer", with: "s: \(long)\r\nk: timer")
        XCTAssertEqual(self.error(subject)?.reason, "Header Field Too Long")
        let folded = Self.invite.replacingOccurrences(
            of: "k: timer", with: "s: a" + String(repeating: "\r\n b", count: SIPLimits.headerBytes) + "\r\nk: timer")
        XCTAssertEqual(self.error(folded)?.reason, "Header Field Too Long")
        let many = Self.invite.replacingOccurrences(
            of: "k: timer", with: String(repeating: "x: y\r\n", count: SIPLimits.headers) + "k: timer")
        XCTAssertEqual(self.error(many)?.verdict, .answer(.badRequest))
        let callID = Self.invite.replacingOccurrences(of: "one@", with: String(repeating: "a", count: 4_096) + "@")
        XCTAssertEqual(self.error(callID)?.reason, "Bad Call-ID")
        let hops = Self.invite.replacingOccurrences(
            of: "Via: ", with: "Via: " + String(repeating: "SIP/2.0/UDP a,", count: SIPLimits.listValues))
        XCTAssertEqual(self.error(hops)?.reason, "Bad Via")
        let whole = Self.invite + String(repeating: "x", count: SIPLimits.messageBytes)
        XCTAssertEqual(self.error(whole)?.verdict, .drop)
    }

    func testAStreamMessageNeedsItsLength() {
        let text = Self.invite.replacingOccurrences(of: "l: 4\r\n", with: "")
        XCTAssertEqual(self.error(text, .stream)?.reason, "Missing Content-Length")
        XCTAssertNil(self.error(text, .datagram))
    }

    func testAResponseWithAnOddContactStillCounts() throws {
        let text = Self.invite.replacingOccurrences(of: "INVITE sip:desk@example.com SIP/2.0", with: "SIP/2.0 200 OK")
            .replacingOccurrences(of: "m: <sip:door@192.0.2.1>", with: "m: ???")
        let message = try self.parse(text)
        XCTAssertNil(message.contacts)
        XCTAssertEqual(message.status, .ok)
    }
}

extension String {
    /// With CRLF for each LF, as multi-line literals have it.
    var replacingLineEnds: String { self.replacingOccurrences(of: "\n", with: "\r\n") }

    func testWhoNamesWhatItTakesIsTakenAtItsWord() {
        for (fields, accepts): ([ByteString], Bool) in [
            ([], true), (["application/sdp"], true), (["text/plain, Application/SDP;level=1"], true), (["*/*"], true),
            (["text/plain", "application/*;q=0.5"], true), ([""], true), (["text/plain"], false),
            (["text/*, application/pidf+xml"], false),
        ] {
            var message = SIPMessage(startLine: .request(.invite, .other("x:y")))
            for field in fields { message.add(.accept, field) }
            XCTAssertEqual(message.acceptsSDP, accepts, "\(fields)")
        }
    }
}
