// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

final class SDPParserTests: XCTestCase {
    private static let text = """
        v=0
        o=jdoe 3724394400 3724394405 IN IP4 198.51.100.1
        s=Call to John Smith
        i=SDP Offer #1
        u=http://www.jdoe.example.com/home.html
        e=Jane Doe <jane@jdoe.example.com>
        p=+1 617 555-6011
        c=IN IP4 198.51.100.1
        b=AS:1000
        t=0 0
        r=7d 1h 0 25h
        k=clear:x
        a=tool:odd
        a=recvonly
        m=audio 49170/2 RTP/AVP 0 96
        i=sound
        c=IN IP6 2001:db8::2
        b=TIAS:64000
        a=rtpmap:96 L8/8000
        a=x-unknown
        m=application 1 UDP/BFCP *

        """.replacingOccurrences(of: "\n", with: "\r\n")

    private func parse(_ text: String) throws -> SessionDescription { try SessionDescription.parse(Array(text.utf8)) }

    private func fault(_ bytes: [UInt8]) -> SDPParseError.Fault? {
        do {
            _ = try SessionDescription.parse(bytes)
            return nil
        } catch {
            return error.reason
        }
    }

    func testEverythingIsReadAndPrintedAsItCame() throws {
        let description = try self.parse(Self.text)
        XCTAssertEqual(description.origin?.sessionVersion, "3724394405")
        XCTAssertEqual(description.media.map { $0.kind }, [.audio, .other("application")])
        XCTAssertEqual(description.media[0].port, 49_170)
        XCTAssertEqual(description.direction(of: description.media[0]), .recvonly)
        XCTAssertEqual(description.connection(of: description.media[1])?.address, .v4(0xC633_6401))
        XCTAssertEqual(
            String(decoding: description.printed(), as: UTF8.self),
            Self.text.replacingOccurrences(of: "49170/2", with: "49170"))
    }

    func testAllLineEndsAreTaken() throws {
        let expected = try self.parse(Self.text)
        XCTAssertEqual(try self.parse(Self.text.replacingOccurrences(of: "\r\n", with: "\n")), expected)
        XCTAssertEqual(try self.parse(Self.text.replacingOccurrences(of: "\r\n", with: "\r")), expected)
        XCTAssertEqual(try self.parse(String(Self.text.dropLast(1))), expected)
        XCTAssertEqual(try self.parse("\r\n" + Self.text), expected)
    }

    func testOnlyAnEmptyAHugeAndANewerBodyAreRefused() throws {
        XCTAssertEqual(self.fault([]), .empty)
        XCTAssertEqual(self.fault(Array("\r\n\r\n".utf8)), .empty)
        XCTAssertEqual(self.fault(Array("v=1\r\n".utf8)), .notVersionZero)
        XCTAssertEqual(self.fault(Array("m=audio 1 RTP/AVP 0\r\n".utf8)), .notVersionZero)
        XCTAssertEqual(self.fault([UInt8](repeating: 10, count: SDPLimits.bytes + 1)), .tooLong)
        let many = "v=0\n" + String(repeating: "m=x 1 y z\n", count: SDPLimits.media + 1)
        XCTAssertEqual(self.fault(Array(many.utf8)), .tooLong)
        XCTAssertNil(self.fault(Array("v=0".utf8)))
    }

    func testAFaultyMediaLineKeepsItsPlaceWithPort0() throws {
        for line in [
            "", "audio", "audio 5000", "audio 5000 RTP/AVP", "audio x RTP/AVP 0", "audio 65536 RTP/AVP 0",
            "audio -1 RTP/AVP 0", "audio 99999999999999999999 RTP/AVP 0", "audio / RTP/AVP 0",
        ] {
            let description = try self.parse("v=0\nm=\(line)\nm=video 5000 RTP/AVP 31\n")
            XCTAssertEqual(description.media.count, 2, line)
            XCTAssertEqual(description.media[0].port, 0, line)
            XCTAssertEqual(description.media[1].port, 5_000, line)
        }
    }

    func testPayloadTypesOutOfRangeAreNotThere() throws {
        let description = try self.parse(
            "v=0\nm=audio 17000 RTP/AVP 4294967296 -1 128 99999999999999999999 x 127 0 0\n")
        XCTAssertEqual(description.media[0].payloadTypes, [127, 0])
    }

    func testListsAreCutAtTheirLimits() throws {
        let attributes = String(repeating: "a=x\n", count: SDPLimits.attributes + 9)
        let others = String(repeating: "b=AS:1\n", count: SDPLimits.otherLines + 9)
        let formats = String(repeating: " 0", count: SDPLimits.formats + 9)
        let description = try self.parse("v=0\n\(attributes)\(others)m=audio 1 RTP/AVP\(formats)\n\(attributes)")
        XCTAssertEqual(description.attributes.count, SDPLimits.attributes)
        XCTAssertEqual(description.otherLines.count, SDPLimits.otherLines)
        XCTAssertEqual(description.media[0].formats.count, SDPLimits.formats)
        XCTAssertEqual(description.media[0].attributes.count, SDPLimits.attributes)
    }

    func testLinesThatAreNoLinesArePassedOver() throws {
        let description = try self.parse("v=0\nx\n=\nm =video 1 RTP/AVP 0\nq=kept\ns=name\na=\na=:\n")
        XCTAssertEqual(description.media.count, 0)
        XCTAssertEqual(description.name, "name")
        XCTAssertEqual(description.otherLines, [OtherLine(type: UInt8(ascii: "q"), value: "kept")])
    }

    func testAPrintedValueCannotAddALine() throws {
        var description = try self.parse(Self.text)
        description.name = "a\r\nm=evil 1 RTP/AVP 0"
        XCTAssertEqual(try SessionDescription.parse(description.printed()).media.count, 2)
    }
}
