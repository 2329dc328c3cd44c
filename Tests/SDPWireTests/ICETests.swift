// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

final class ICETests: XCTestCase {
    private static let credentials = "a=ice-ufrag:abcd\na=ice-pwd:0123456789abcdefghijkl\n"
    private static let host = "a=candidate:1 1 UDP 2130706431 192.0.2.1 9000 typ host\n"
    private static let audio = "m=audio 9000 RTP/AVP 0\n"

    private static func ours(_ address: IPAddress = Fixture.here) -> LocalICE {
        let own = SocketAddress(address, port: 40_010)
        let seen = SocketAddress(.v4(0xCB00_7107), port: 61_000)
        let relay = SocketAddress(.v4(0xC633_6401), port: 50_000)
        return LocalICE(
            credentials: ICECredentials(fragment: "ours", password: "ourpasswordourpassword"),
            candidates: [
                ICECandidate(foundation: "1", component: 1, priority: 2_130_706_431, address: own, kind: .host),
                ICECandidate(
                    foundation: "2", component: 1, priority: 1_694_498_815, address: seen, kind: .serverReflexive,
                    base: own),
                ICECandidate(
                    foundation: "3", component: 1, priority: 16_777_215, address: relay, kind: .relayed, base: seen),
                ICECandidate(
                    foundation: "1", component: 2, priority: 2_130_706_430,
                    address: SocketAddress(address, port: 40_011), kind: .host),
            ])
    }

    static func local(video: Direction? = nil) -> LocalMedia {
        var local = Fixture.local(video: video)
        local.audio.ice = self.ours()
        local.video?.ice = self.ours()
        return local
    }

    // MARK: - Lines

    func testCandidatesAreReadAndWritten() throws {
        for line: ByteString in [
            "1 1 UDP 2130706431 192.0.2.1 9000 typ host",
            "a+/9 2 UDP 1 2001:db8::1 65535 typ srflx raddr 10.0.0.1 rport 9",
            "1 1 UDP 4294967295 192.0.2.1 1 typ relay raddr 192.0.2.9 rport 7",
            "1 1 UDP 7 192.0.2.1 1 typ prflx raddr 0.0.0.0 rport 9",
        ] {
            XCTAssertEqual(try XCTUnwrap(ICECandidate(line)).printed, line)
        }
        let extended = "1 1 udp 1 192.0.2.1 9 typ srflx raddr 10.0.0.1 rport 8 generation 0 network-id 1"
        let candidate = try XCTUnwrap(ICECandidate(ByteString(utf8Of: extended)))
        XCTAssertEqual(candidate.base, SocketAddress(.v4(0x0A00_0001), port: 8))
    }

    func testWhatCannotBeUsedIsNoCandidate() {
        for line in [
            "", "1", "1 1 UDP 1 192.0.2.1 9 typ", "1 1 TCP 1 192.0.2.1 9 typ host tcptype passive",
            "1 1 UDP 1 host.example 9 typ host", "1 1 UDP 1 0b1e.local 9 typ host", "1 1 UDP 1 192.0.2.1 0 typ host",
            "1 1 UDP 1 192.0.2.1 65536 typ host", "1 0 UDP 1 192.0.2.1 9 typ host", "1 3 UDP 1 192.0.2.1 9 typ host",
            "1 1 UDP 4294967296 192.0.2.1 9 typ host", "1 1 UDP -1 192.0.2.1 9 typ host",
            "1 1 UDP 1 127.0.0.1 9 typ host", "1 1 UDP 1 0.0.0.0 9 typ host", "1 1 UDP 1 224.0.0.1 9 typ host",
            "1 1 UDP 1 ::1 9 typ host", "1 1 UDP 1 :: 9 typ host", "1 1 UDP 1 ff02::1 9 typ host",
            "1 1 UDP 1 192.0.2.1 9 typ magic", "é 1 UDP 1 192.0.2.1 9 typ host",
            String(repeating: "x", count: 33) + " 1 UDP 1 192.0.2.1 9 typ host",
        ] {
            XCTAssertNil(ICECandidate(ByteString(utf8Of: line)), line)
        }
    }

    func testCredentialsOfTheWrongLengthAreNone() throws {
        for (fragment, password) in [
            ("a", String(repeating: "p", count: 22)), ("abc", String(repeating: "p", count: 22)),
            (String(repeating: "u", count: 300), String(repeating: "p", count: 22)),
            ("abcd", String(repeating: "p", count: 21)), ("abcd", String(repeating: "p", count: 257)),
            ("ab cd", String(repeating: "p", count: 22)), ("abcd", String(repeating: "-", count: 22)),
        ] {
            let offer = Self.audio + "a=ice-ufrag:\(fragment)\na=ice-pwd:\(password)\n" + Self.host
            let answer = try Fixture.answer(offer, local: Self.local())
            XCTAssertNil(answer.session.audio?.ice)
            XCTAssertNotNil(answer.session.audio)
            XCTAssertFalse(try Fixture.description(offer).offersICE)
        }
    }

    func testManyCandidatesCostNothingElse() throws {
        let lines = (0..<600).map { "a=candidate:\($0) 1 UDP 1 10.1.\($0 / 250).\($0 % 250 + 1) 9 typ host\n" }
        let offer =
            "m=audio 9000 RTP/AVP 96\n" + Self.credentials + Self.host + lines.joined()
            + "a=rtpmap:96 opus/48000/2\n"
        let answer = try Fixture.answer(offer, local: Self.local())
        XCTAssertEqual(answer.session.audio?.ice?.remote.candidates.count, SDPLimits.candidates)
        XCTAssertEqual(answer.session.audio?.sendPayloadType, 96)
        XCTAssertEqual(try Fixture.description(offer).candidatesIgnored, 601 - SDPLimits.candidates)
    }

    func testWhatIsPassedOverIsCounted() throws {
        let offer =
            Self.audio + Self.credentials + Self.host + Self.host
            + "a=candidate:9 1 UDP 1 x.local 9 typ host\n"
        XCTAssertEqual(try Fixture.description(offer).candidatesIgnored, 2)
    }

    // MARK: - Answers

    func testAnOfferWithICEIsAnsweredWithOurWays() throws {
        let answer = try Fixture.answer(Self.audio + Self.credentials + Self.host, local: Self.local())
        let lines = Fixture.lines(answer.description)
        XCTAssertTrue(lines.contains("a=ice-ufrag:ours"))
        XCTAssertTrue(lines.contains("a=ice-pwd:ourpasswordourpassword"))
        XCTAssertEqual(lines.filter { $0.hasPrefix("a=candidate:") }.count, 4)
        XCTAssertTrue(lines.contains("a=ice-options:ice2"))
        // What servers saw of us is what peers without ICE would send to.
        XCTAssertTrue(lines.contains("m=audio 61000 RTP/AVP 0"))
        XCTAssertTrue(lines.contains("c=IN IP4 203.0.113.7"))
        XCTAssertTrue(lines.contains("a=rtcp:40011 IN IP4 192.0.2.99"))
        let ice = try XCTUnwrap(answer.session.audio?.ice)
        XCTAssertEqual(ice.remote.credentials.fragment, "abcd")
        XCTAssertFalse(ice.isControlling)
    }

    func testMultiplexedThereIsOneComponent() throws {
        let answer = try Fixture.answer(
            Self.audio + Self.credentials + Self.host + "a=rtcp-mux\n", local: Self.local())
        let lines = Fixture.lines(answer.description)
        XCTAssertEqual(lines.filter { $0.hasPrefix("a=candidate:") }.count, 3)
        XCTAssertFalse(lines.contains { $0.hasPrefix("a=rtcp:") })
    }

    func testALitePeerLetsUsDecide() throws {
        let answer = try Fixture.answer(
            Self.audio + Self.credentials + Self.host, session: "a=ice-lite\n", local: Self.local())
        XCTAssertTrue(try XCTUnwrap(answer.session.audio?.ice).isControlling)
        XCTAssertTrue(try XCTUnwrap(answer.session.audio?.ice).remote.isLite)
    }

    func testCredentialsOfTheSessionCount() throws {
        let answer = try Fixture.answer(
            Self.audio + Self.host, session: Self.credentials, local: Self.local())
        XCTAssertNotNil(answer.session.audio?.ice)
    }

    func testAnAddressThatIsNoCandidateIsAMismatch() throws {
        let other = Self.host.replacingOccurrences(of: "192.0.2.1 ", with: "10.0.0.1 ")
        let answer = try Fixture.answer(Self.audio + Self.credentials + other, local: Self.local())
        let lines = Fixture.lines(answer.description)
        XCTAssertTrue(lines.contains("a=ice-mismatch"))
        XCTAssertFalse(lines.contains { $0.hasPrefix("a=ice-ufrag") || $0.hasPrefix("a=candidate") })
        XCTAssertNil(answer.session.audio?.ice)
        XCTAssertEqual(answer.session.audio?.remoteRTP, SocketAddress(.v4(0xC000_0201), port: 9000))
    }

    func testWhoFindsItsWaysLaterDoesNotHold() throws {
        let offer = "m=audio 9 RTP/AVP 0\nc=IN IP4 0.0.0.0\n" + Self.credentials
        let answer = try Fixture.answer(offer, local: Self.local())
        XCTAssertNotNil(answer.session.audio?.ice)
        XCTAssertEqual(answer.session.audio?.direction, .sendrecv)
        XCTAssertFalse(try XCTUnwrap(answer.session.audio).remoteRTP.address.isUnspecified)
    }

    func testWithoutICEOfOursTheAnswerIsPlain() throws {
        let offer = Self.audio + Self.credentials + Self.host
        XCTAssertEqual(
            try Fixture.answerLines(offer), try Fixture.answerLines(Self.audio))
    }

    func testTheWayThatIsInUseIsSaid() throws {
        let named = Self.audio + Self.credentials + Self.host + "a=remote-candidates:1 198.51.100.1 50000\n"
        let lines = try Fixture.answerLines(named, local: Self.local())
        XCTAssertTrue(lines.contains("m=audio 50000 RTP/AVP 0"))
        XCTAssertTrue(lines.contains("c=IN IP4 198.51.100.1"))
    }

    // MARK: - Offers

    func testOurOfferAndItsAnswer() throws {
        let offer = OfferAnswer.makeOffer(Self.local(video: .sendrecv), sessionID: 1, sessionVersion: 2)
        let lines = Fixture.lines(offer)
        XCTAssertEqual(lines.filter { $0.hasPrefix("a=candidate:") }.count, 8)
        XCTAssertEqual(lines.filter { $0 == "a=rtcp-mux" }.count, 2)
        let answer = try Fixture.description(Self.audio + Self.credentials + Self.host)
        let session = try OfferAnswer.acceptAnswer(answer, to: offer)
        let ice = try XCTUnwrap(session.audio?.ice)
        XCTAssertEqual(ice.local.fragment, "ours")
        XCTAssertTrue(ice.isControlling)
        XCTAssertNil(try OfferAnswer.acceptAnswer(try Fixture.description(Self.audio), to: offer).audio?.ice)
    }

    func testATrimmedOfferHasOneWayOfEachKind() {
        var local = Self.local()
        let extra = ICECandidate(
            foundation: "4", component: 1, priority: 9, address: SocketAddress(.v4(0xC000_0264), port: 1), kind: .host)
        local.audio.ice?.candidates.append(extra)
        let offer = OfferAnswer.makeOffer(local, size: .trimmed, sessionID: 1, sessionVersion: 2)
        XCTAssertEqual(Fixture.lines(offer).filter { $0.hasPrefix("a=candidate:") }.count, 4)
    }
}
