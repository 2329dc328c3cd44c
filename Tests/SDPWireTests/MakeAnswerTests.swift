// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

final class MakeAnswerTests: XCTestCase {
    private let h264 =
        "m=video 5002 RTP/AVP 97\na=rtpmap:97 H264/90000\na=fmtp:97 profile-level-id=42e01f;packetization-mode=1\n"

    func testAnAnswerHasOurAddressPortsAndOneCodecOfEachKind() throws {
        let lines = try Fixture.answerLines(
            "m=audio 5000 RTP/AVP 8 0 111 101\na=rtpmap:111 opus/48000/2\na=rtpmap:101 telephone-event/8000\n"
                + self.h264)
        XCTAssertEqual(
            lines,
            [
                "v=0", "o=- 7 8 IN IP4 192.0.2.99", "s=-", "c=IN IP4 192.0.2.99", "t=0 0",
                "m=audio 16384 RTP/AVP 8 101", "a=rtpmap:8 PCMA/8000", "a=rtpmap:101 telephone-event/8000",
                "a=fmtp:101 0-15", "a=ptime:20", "a=ssrc:3735928559 cname:0123456789abcdef", "a=sendrecv",
                "m=video 16386 RTP/AVP 97", "a=rtpmap:97 H264/90000",
                "a=fmtp:97 profile-level-id=42e01f;packetization-mode=1",
                "a=ssrc:3405705229 cname:0123456789abcdef", "a=sendrecv",
            ])
    }

    func testCountAndOrderOfMediaAreKept() throws {
        let answer = try Fixture.answer(
            self.h264 + "m=audio 5000 RTP/AVP 0\nm=application 5070 UDP/BFCP *\nm=video 5004 RTP/AVP 98\n"
                + "a=rtpmap:98 H264/90000\na=content:slides\nm=text 5006 RTP/AVP 99\nm=audio 5008 RTP/AVP 8\n")
        let media = answer.description.media
        XCTAssertEqual(media.map { $0.kind }, [.video, .audio, .other("application"), .video, .other("text"), .audio])
        XCTAssertEqual(media.map { $0.port }, [16_386, 16_384, 0, 0, 0, 0])
        XCTAssertEqual(media[2].formats, ["*"])
        XCTAssertEqual(media[2].profile, .other("UDP/BFCP"))
        XCTAssertEqual(answer.session.video?.remoteRTP.port, 5_002)
        XCTAssertEqual(answer.session.audio?.remoteRTP.port, 5_000)
    }

    func testVideoIsRefusedAloneWhereWeHaveNone() throws {
        let answer = try Fixture.answer("m=audio 5000 RTP/AVP 0\n" + self.h264, local: Fixture.local(video: nil))
        XCTAssertEqual(answer.description.media.map { $0.port }, [16_384, 0])
        XCTAssertNotNil(answer.session.audio)
        XCTAssertNil(answer.session.video)
    }

    func testARefusedMediumOfTheOfferStaysRefused() throws {
        let answer = try Fixture.answer("m=audio 0 RTP/AVP 0\n" + self.h264)
        XCTAssertEqual(answer.description.media.map { $0.port }, [0, 16_386])
        XCTAssertNil(answer.session.audio)
    }

    func testTheOffersPayloadTypesAreUsed() throws {
        let answer = try Fixture.answer(
            "m=audio 5000 RTP/AVP 120\na=rtpmap:120 OPUS/48000/2\nm=video 5002 RTP/AVP 35\na=rtpmap:35 h264/90000\n")
        XCTAssertEqual(answer.description.media.map { $0.formats }, [["120"], ["35"]])
        XCTAssertEqual(answer.session.audio?.sendPayloadType, 120)
        XCTAssertEqual(answer.session.audio?.receivePayloadTypes.map { $0.payloadType }, [120])
        XCTAssertEqual(answer.session.video?.sendPayloadType, 35)
    }

    func testFormatsWithoutAMeaningArePassedOver() throws {
        let audio = try Fixture.answer("m=audio 5000 RTP/AVP 96 9 18 4294967296 -1 0\na=rtpmap:97 opus/48000/2\n")
        XCTAssertEqual(audio.session.audio?.codec, .pcmu)
        let none = try Fixture.answer("m=audio 17000 RTP/AVP 4294967296\n")
        XCTAssertTrue(none.session.isEmpty)
        XCTAssertEqual(none.description.media[0].port, 0)
    }

    func testAStaticTypeMayBeGivenAnotherMeaning() throws {
        let answer = try Fixture.answer("m=audio 5000 RTP/AVP 0 8\na=rtpmap:0 speex/16000\n")
        XCTAssertEqual(answer.session.audio?.codec, .pcma)
    }

    func testOpusIsOpusOnlyAt48000() throws {
        for (map, isTaken) in [
            ("opus/48000/2", true), ("OPUS/48000", true), ("opus/16000/2", false), ("opus/48000/6", false),
            ("opus/48000/0", false),
        ] {
            let answer = try Fixture.answer("m=audio 5000 RTP/AVP 96\na=rtpmap:96 \(map)\n")
            XCTAssertEqual(answer.session.audio != nil, isTaken, map)
        }
        let fec = try Fixture.answer(
            "m=audio 5000 RTP/AVP 96\na=rtpmap:96 opus/48000/2\na=fmtp:96 useinbandfec=1; maxaveragebitrate=20000\n")
        XCTAssertEqual(fec.session.audio?.codec, .opus(OpusParameters(usesInbandFEC: true, maxAverageBitrate: 20_000)))
    }

    func testTelephoneEventGoesWithTheCodecsClockOrElseTheFirst() throws {
        let lines = "a=rtpmap:111 opus/48000/2\na=rtpmap:101 telephone-event/8000\na=rtpmap:110 telephone-event/48000\n"
        let opus = try Fixture.answer("m=audio 5000 RTP/AVP 111 101 110\n" + lines)
        XCTAssertEqual(
            opus.session.audio?.telephoneEvent,
            NegotiatedTelephoneEvent(sendPayloadType: 110, receivePayloadType: 110, clockRate: 48_000))
        let pcmu = try Fixture.answer("m=audio 5000 RTP/AVP 0 110 101\n" + lines)
        XCTAssertEqual(pcmu.session.audio?.telephoneEvent?.sendPayloadType, 101)
        let only = try Fixture.answer("m=audio 5000 RTP/AVP 111 101\n" + lines)
        XCTAssertEqual(only.session.audio?.telephoneEvent?.clockRate, 8_000)
        XCTAssertNil(try Fixture.answer("m=audio 5000 RTP/AVP 0\n").session.audio?.telephoneEvent)
    }

    func testProfilesAreAnsweredInKindAndSecureOnesRefused() throws {
        let avpf = try Fixture.answer("m=audio 5000 RTP/AVPF 0\n")
        XCTAssertEqual(avpf.description.media[0].profile, .avpf)
        for profile in ["RTP/SAVP", "RTP/SAVPF", "UDP/TLS/RTP/SAVPF", "udp", "TCP/RTP/AVP"] {
            let answer = try Fixture.answer("m=audio 5000 \(profile) 0\n")
            XCTAssertEqual(answer.description.media[0].port, 0, profile)
            XCTAssertEqual(answer.description.media[0].profile.word.string, profile)
            XCTAssertTrue(answer.session.isEmpty)
        }
    }

    func testOfTwoAlternativesThePlainOneIsTaken() throws {
        let answer = try Fixture.answer("m=audio 5000 RTP/SAVP 0\nm=audio 5000 RTP/AVP 0\n")
        XCTAssertEqual(answer.description.media.map { $0.port }, [0, 16_384])
        let optional = try Fixture.answer(
            "m=audio 5000 RTP/AVP 0\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:x|2^31|1:1\n")
        XCTAssertNotNil(optional.session.audio, "opportunistic keys in plain RTP (RFC 8643) can be left alone")
    }

    func testFeedbackIsWhatBothSpeakOf() throws {
        let answer = try Fixture.answer(
            self.h264 + "a=rtcp-fb:* nack pli\na=rtcp-fb:97 ccm fir\na=rtcp-fb:97 nack\n"
                + "a=rtcp-fb:98 ccm tmmbr\na=rtcp-fb:97 goog-remb\n")
        XCTAssertEqual(answer.session.video?.feedback, NegotiatedFeedback(pli: true, fir: true))
        XCTAssertEqual(answer.description.media[0].values("rtcp-fb"), ["97 nack pli", "97 ccm fir", "97 goog-remb"])
        XCTAssertEqual(try Fixture.answer(self.h264).session.video?.feedback, NegotiatedFeedback())
        let other = try Fixture.answer(self.h264 + "a=rtcp-fb:98 nack pli\n")
        XCTAssertEqual(other.session.video?.feedback, NegotiatedFeedback(), "feedback of another format is not ours")
    }

    func testAddressesThatCannotBeSentToRefuseTheirMedium() throws {
        for connection in ["IN IP4 224.2.1.1/127", "IN IP4 media.example.com", "IN IP6 2001:db8::1", "x"] {
            let answer = try Fixture.answer("m=audio 5000 RTP/AVP 0\nc=\(connection)\n")
            XCTAssertEqual(answer.description.media[0].port, 0, connection)
        }
        let v6 = Fixture.local(address: .v6(high: 0x2001_0DB8 << 32, low: 2))
        let answer = try Fixture.answer("m=audio 5000 RTP/AVP 0\nc=IN IP6 2001:db8::1\n", local: v6)
        XCTAssertEqual(answer.session.audio?.remoteRTP.text, "[2001:db8::1]:5000")
        XCTAssertEqual(answer.description.connection?.printed, "IN IP6 2001:db8::2")
    }

    func testAnOfferWithoutMediaIsAnsweredWithNone() throws {
        let answer = try Fixture.answer("")
        XCTAssertTrue(answer.session.isEmpty)
        XCTAssertEqual(answer.description.media.count, 0)
    }
}
