// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

/// Offers of ours in a session that stands (RFC 3264 section 8).
final class ReofferTests: XCTestCase {
    private let audio = "m=audio 5000 RTP/AVP 8 101\na=rtpmap:101 telephone-event/8000\n"
    private let video =
        "m=video 5002 RTP/AVP 97\na=rtpmap:97 H264/90000\na=fmtp:97 profile-level-id=42e01f;packetization-mode=1\n"

    private func formats(_ media: MediaDescription) -> [String] { media.formats.map { $0.string } }

    func testMediaKeepTheirPlacesWhoeverOfferedThem() throws {
        let others = "m=application 5070 UDP/BFCP *\nm=video 5004 RTP/AVP 98\nm=text 5006 RTP/AVP 99\n"
        let former = try Fixture.answered(self.video + self.audio + others)
        let offer = Fixture.reoffer(Fixture.local(), following: former)
        XCTAssertEqual(
            offer.media.map { $0.kind }, [.video, .audio, .other("application"), .video, .other("text")])
        XCTAssertEqual(offer.media.map { $0.port }, [16_386, 16_384, 0, 0, 0])
        XCTAssertEqual(offer.media.map { $0.profile.word.string }[2], "UDP/BFCP")
        XCTAssertEqual(self.formats(offer.media[2]), ["*"])
    }

    func testVideoThatWeNoLongerWantKeepsItsPlaceAndComesBackThere() throws {
        let first = OfferAnswer.Agreed(
            local: Fixture.offer, remote: try Fixture.description(self.audio + self.video))
        let without = Fixture.reoffer(Fixture.local(video: nil), following: first)
        XCTAssertEqual(without.media.map { $0.port }, [16_384, 0])
        let second = OfferAnswer.Agreed(
            local: without, remote: try Fixture.description(self.audio + "m=video 0 RTP/AVP 102\n"))
        let again = Fixture.reoffer(Fixture.local(), following: second)
        XCTAssertEqual(again.media.map { $0.port }, [16_384, 16_386])
        XCTAssertEqual(self.formats(again.media[1]), ["102", "103"])
    }

    func testVideoThatWeHadToRefuseIsOfferedInItsPlaceAndANewKindComesLast() throws {
        let refused = try Fixture.answered(self.video + self.audio, local: Fixture.local(video: nil))
        XCTAssertEqual(refused.local.media.map { $0.port }, [0, 16_384])
        XCTAssertEqual(
            Fixture.reoffer(Fixture.local(), following: refused).media.map { $0.port }, [16_386, 16_384])
        let sound = Fixture.reoffer(Fixture.local(), following: try Fixture.answered(self.audio))
        XCTAssertEqual(sound.media.map { $0.kind }, [.audio, .video])
        let picture = Fixture.reoffer(Fixture.local(), following: try Fixture.answered(self.video))
        XCTAssertEqual(picture.media.map { $0.kind }, [.video, .audio])
    }

    func testOfTwoLinesOfAKindTheOneInUseStaysInUse() throws {
        let former = try Fixture.answered("m=audio 5000 RTP/SAVP 0\n" + self.audio)
        let offer = Fixture.reoffer(Fixture.local(video: nil), following: former)
        XCTAssertEqual(offer.media.map { $0.port }, [0, 16_384])
        XCTAssertEqual(offer.media.map { $0.profile.word.string }, ["RTP/SAVP", "RTP/AVP"])
    }

    func testPayloadTypesKeepTheirMeaningAndWhatIsAgreedComesFirst() throws {
        let former = try Fixture.answered(
            "m=audio 5000 RTP/AVPF 96 111 101 110\na=rtpmap:96 AMR/8000\na=rtpmap:111 opus/48000/2\n"
                + "a=rtpmap:101 G726-32/8000\na=rtpmap:110 telephone-event/48000\n" + self.video
                + "a=rtpmap:102 VP8/90000\n")
        let offer = Fixture.reoffer(Fixture.local(), following: former)
        XCTAssertEqual(self.formats(offer.media[0]), ["111", "0", "8", "110"])
        XCTAssertEqual(offer.media[0].rtpMap(for: 110)?.clockRate, 48_000)
        XCTAssertEqual(offer.media[0].profile, .avpf)
        XCTAssertEqual(self.formats(offer.media[1]), ["97", "103"])
        XCTAssertEqual(offer.media[1].fmtp(for: 97)?.value("packetization-mode"), "1")
    }

    func testTypesThatMeanSomethingElseToThePeerAreNotUsed() throws {
        let former = try Fixture.answered(
            "m=audio 5000 RTP/AVP 0 96 101\na=rtpmap:96 AMR/8000\na=rtpmap:101 G726-32/8000\n")
        let offer = Fixture.reoffer(Fixture.local(video: nil), following: former)
        XCTAssertEqual(self.formats(offer.media[0]), ["0", "97", "8", "98"])
        XCTAssertEqual(offer.media[0].rtpMap(for: 97)?.name, "opus")
        XCTAssertEqual(offer.media[0].rtpMap(for: 98)?.name, "telephone-event")
    }

    func testAPeersOwnNumbersDoNotChangeOurs() throws {
        let former = OfferAnswer.Agreed(
            local: Fixture.offer,
            remote: try Fixture.description("m=audio 5000 RTP/AVP 107\na=rtpmap:107 opus/48000/2\n" + self.video))
        let offer = Fixture.reoffer(Fixture.local(), following: former)
        XCTAssertEqual(self.formats(offer.media[0]), ["96", "0", "8", "101"])
        XCTAssertEqual(self.formats(offer.media[1]), ["102", "103"])
        XCTAssertTrue(offer.isSame(as: Fixture.offer), "nothing changed, so the same is said")
    }

    func testTheProfileThatWasAgreedGoesOn() throws {
        let former = try Fixture.answered(
            self.audio + "m=video 5002 RTP/AVP 97\na=rtpmap:97 H264/90000\na=fmtp:97 profile-level-id=4d0028\n")
        let offer = Fixture.reoffer(Fixture.local(), following: former)
        XCTAssertEqual(offer.media[1].fmtp(for: 97)?.value("profile-level-id"), "4d001f")
    }

    // MARK: - Trimmed

    func testATrimmedOfferSaysOnlyWhatItMust() {
        let offer = OfferAnswer.makeOffer(Fixture.local(), size: .trimmed, sessionID: 1, sessionVersion: 2)
        XCTAssertEqual(
            Fixture.lines(offer),
            [
                "v=0", "o=- 1 2 IN IP4 192.0.2.99", "s=-", "c=IN IP4 192.0.2.99", "t=0 0",
                "m=audio 16384 RTP/AVP 96 0 101", "a=rtpmap:96 opus/48000/2", "a=rtpmap:101 telephone-event/8000",
                "m=video 16386 RTP/AVP 102", "a=rtpmap:102 H264/90000",
                "a=fmtp:102 profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1",
                "a=rtcp-fb:* nack pli", "a=rtcp-fb:* ccm fir", "a=rtcp-fb:* ccm tmmbr", "a=rtcp-fb:* goog-remb",
            ])
    }

    func testATrimmedOfferLeavesRoomForLongHeaders() {
        var local = Fixture.local(
            audio: .sendonly, video: .sendonly, address: .v6(high: 0x2001_0DB8_1234_5678, low: 0x9ABC_DEF0_1234_5678))
        local.audio.rtcpPort = 40_001
        local.video?.rtcpPort = 50_001
        let offer = OfferAnswer.makeOffer(
            local, size: .trimmed, sessionID: .max, sessionVersion: .max)
        XCTAssertLessThan(offer.printed().count, 600, "of 1300 bytes, RFC 3261 section 18.1.1")
        XCTAssertEqual(offer.media.map { $0.direction }, [.sendonly, .sendonly])
    }

    func testAPeerMakesOfATrimmedOfferWhatItMakesOfAFullOne() throws {
        let full = Fixture.offer
        let trimmed = OfferAnswer.makeOffer(Fixture.local(), size: .trimmed, sessionID: 1, sessionVersion: 2)
        let far = Fixture.local(address: .v4(0xC000_0207))
        let answers = [full, trimmed].map {
            OfferAnswer.makeAnswer(to: $0, local: far, sessionID: 2, sessionVersion: 1)
        }
        XCTAssertEqual(answers[0].session, answers[1].session)
        let pcmu = Fixture.local(video: nil, codecs: [CodecOffer(.pcma, payloadType: 8)])
        let sound = OfferAnswer.makeOffer(pcmu, size: .trimmed, sessionID: 1, sessionVersion: 2)
        XCTAssertEqual(self.formats(sound.media[0]), ["8", "101"])
    }

    func testATrimmedOfferKeepsTheCodecInUse() throws {
        let former = try Fixture.answered(self.audio)
        let offer = Fixture.reoffer(Fixture.local(video: nil), following: former, size: .trimmed)
        XCTAssertEqual(self.formats(offer.media[0]), ["8", "96", "101"], "the one of the two G.711 that runs")
    }
}
