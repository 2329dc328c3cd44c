// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import SDPWire

final class SmallLinesTests: XCTestCase {
    func testRTPMapsAreReadWithinTheirRanges() {
        XCTAssertEqual(RTPMap("96 opus/48000/2"), RTPMap(payloadType: 96, name: "opus", clockRate: 48_000, channels: 2))
        XCTAssertEqual(RTPMap("  35  H264/90000 ")?.payloadType, 35)
        XCTAssertEqual(RTPMap("0 PCMU/8000")?.channels, 1)
        for value in [
            "", "96", "96 opus", "96 /48000", "128 a/1", "-1 a/1", "96 a/0", "96 a/4294967296", "96 a/1/0",
            "96 a/1/256",
            "96 a/1/2/3", "x a/1", "96 a/ 1",
        ] { XCTAssertNil(RTPMap(ByteString(utf8Of: value)), value) }
        XCTAssertEqual(RTPMap(payloadType: 97, name: "a", clockRate: 5).printed, "97 a/5")
    }

    func testFormatParametersAreFoundThroughBlanksAndCase() throws {
        let fmtp = try XCTUnwrap(Fmtp("97 Packetization-Mode = 1 ; profile-level-id=42e01f;;flag; x="))
        XCTAssertEqual(fmtp.payloadType, 97)
        XCTAssertEqual(fmtp.value("packetization-mode"), "1")
        XCTAssertEqual(fmtp.value("PROFILE-LEVEL-ID"), "42e01f")
        XCTAssertEqual(fmtp.value("flag"), "")
        XCTAssertEqual(fmtp.value("x"), "")
        XCTAssertNil(fmtp.value("y"))
        for value in ["", "97", "128 a", "x a", "-1 a=b"] { XCTAssertNil(Fmtp(ByteString(utf8Of: value)), value) }
    }

    func testFeedbackIsReadForOneOrAllPayloadTypes() {
        let kinds: [(ByteString, RtcpFeedback.Kind)] = [
            ("nack", .nack), ("nack pli", .pli), ("ccm fir", .fir), ("ccm tmmbr smaxpr=120", .tmmbr),
            ("trr-int 100", .other("trr-int 100")), ("nack rpsi", .other("nack rpsi")),
            ("goog-remb", .remb), ("goog-remb-2", .other("goog-remb-2")),
        ]
        for (text, kind) in kinds {
            XCTAssertEqual(RtcpFeedback("* " + text), RtcpFeedback(kind))
            XCTAssertEqual(RtcpFeedback("97 " + text), RtcpFeedback(payloadType: 97, kind))
        }
        XCTAssertEqual(RtcpFeedback(payloadType: 97, .fir).printed, "97 ccm fir")
        XCTAssertEqual(RtcpFeedback(.pli).printed, "* nack pli")
        XCTAssertEqual(RtcpFeedback(.remb).printed, "* goog-remb")
        for value in ["", "*", "128 nack", "x nack"] { XCTAssertNil(RtcpFeedback(ByteString(utf8Of: value)), value) }
    }

    func testConnectionsThatCannotBeSentToAreKeptAsTheyAre() {
        XCTAssertEqual(Connection("IN IP4 192.0.2.1").address, .v4(0xC000_0201))
        XCTAssertEqual(Connection("IN IP6 2001:db8::1").address?.isV6, true)
        XCTAssertEqual(Connection("IN IP6 ::ffff:192.0.2.1").address, .v4(0xC000_0201))
        XCTAssertEqual(Connection("IN IP4 0.0.0.0").address?.isUnspecified, true)
        for value in [
            "IN IP4 224.2.1.1/127", "IN IP4 224.2.1.1", "IN IP6 ff15::101", "IN IP4 host.example", "IN IP6 192.0.2.1",
            "IN IP4 ::1", "ATM X 1", "", "IN IP4", "IN IP4 256.1.1.1",
        ] {
            XCTAssertNil(Connection(ByteString(utf8Of: value)).address, value)
            XCTAssertEqual(Connection(ByteString(utf8Of: value)).printed.string, value)
        }
    }

    func testOriginsKeepNumbersThatDoNotFit() {
        let origin = Origin("- 99999999999999999999999 1 IN IP4 h")
        XCTAssertEqual(origin?.sessionID, "99999999999999999999999")
        XCTAssertEqual(origin?.printed, "- 99999999999999999999999 1 IN IP4 h")
        XCTAssertNil(Origin("- 1 1 IN IP4"))
    }

    func testBase64IsReadWithAndWithoutPadding() {
        let table: [(ByteString, [UInt8]?)] = [
            ("", []), ("Zg==", [0x66]), ("Zg", [0x66]), ("Zm8=", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]),
            ("+/8A", [0xFB, 0xFF, 0x00]), ("Z", nil), ("Zg===", nil), ("Z g=", nil), ("Zm9v=Zm9v", nil), ("=", []),
        ]
        for (text, bytes) in table { XCTAssertEqual(Base64.decoded(text), bytes, text.string) }
    }

    func testPacketTimesAreOnesThatWeCanMake() throws {
        let table: [(String, Int)] = [
            ("", 20), ("a=ptime:20\n", 20), ("a=ptime:10\n", 10), ("a=ptime:30\n", 20), ("a=ptime:40\n", 40),
            ("a=ptime:100\n", 60), ("a=ptime:5\n", 10), ("a=maxptime:10\n", 10), ("a=ptime:60\na=maxptime:40\n", 40),
            ("a=ptime:0\n", 20), ("a=ptime:99999999999999999999\n", 20), ("a=ptime:x\n", 20),
        ]
        for (lines, expected) in table {
            let session = try Fixture.answer("m=audio 5000 RTP/AVP 0\n" + lines).session
            XCTAssertEqual(session.audio?.ptimeMs, expected, lines)
        }
        let inherited = try Fixture.answer("m=audio 5000 RTP/AVP 0\n", session: "a=ptime:40\n").session
        XCTAssertEqual(inherited.audio?.ptimeMs, 40)
        let own = try Fixture.answer("m=audio 5000 RTP/AVP 0\na=ptime:10\n", session: "a=ptime:40\n").session
        XCTAssertEqual(own.audio?.ptimeMs, 10)
    }

    func testTheRTCPAddressIsTheNextPortUnlessSaid() throws {
        let table: [(String, String)] = [
            ("", "192.0.2.1:5001"), ("a=rtcp:5003\n", "192.0.2.1:5003"),
            ("a=rtcp:53020 IN IP4 192.0.2.9\n", "192.0.2.9:53020"),
            ("a=rtcp:0\n", "192.0.2.1:5001"), ("a=rtcp:70000\n", "192.0.2.1:5001"),
            ("a=rtcp:7 IN IP6 ::1\n", "192.0.2.1:5001"),
            ("a=rtcp\n", "192.0.2.1:5001"),
        ]
        for (line, expected) in table {
            let stream = try Fixture.answer("m=audio 5000 RTP/AVP 0\n" + line).session.audio
            XCTAssertEqual(stream?.remoteRTCP.text.string, expected, line)
        }
        let last = try Fixture.answer("m=audio 65535 RTP/AVP 0\n").session.audio
        XCTAssertEqual(last?.remoteRTCP.port, 65_535, "there is no next port")
    }

    func testBandwidthIsTheMostExactThatIsSaid() throws {
        let table: [(String, String, Int?)] = [
            ("", "", nil), ("", "b=AS:512\n", 512), ("b=AS:2000\n", "", 2_000), ("b=AS:2000\n", "b=AS:512\n", 512),
            ("", "b=AS:512\nb=TIAS:384000\n", 384), ("", "b=AS:0\n", nil), ("", "b=CT:9\n", nil),
            ("", "b=AS:99999999999\n", nil), ("", "b=AS:\n", nil), ("", "b=AS\n", nil),
        ]
        for (session, media, expected) in table {
            let answer = try Fixture.answer(
                "m=video 5000 RTP/AVP 96\n\(media)a=rtpmap:96 H264/90000\n", session: session)
            XCTAssertEqual(answer.session.video?.bandwidthKbps, expected, session + media)
        }
    }
}
