// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

final class MakeOfferTests: XCTestCase {
    func testAnOfferListsAllWeCanDo() {
        XCTAssertEqual(
            Fixture.lines(Fixture.offer),
            [
                "v=0", "o=- 1 2 IN IP4 192.0.2.99", "s=-", "c=IN IP4 192.0.2.99", "t=0 0",
                "m=audio 16384 RTP/AVP 96 0 8 101", "a=rtpmap:96 opus/48000/2", "a=rtpmap:0 PCMU/8000",
                "a=rtpmap:8 PCMA/8000", "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15", "a=ptime:20",
                "a=ssrc:3735928559 cname:0123456789abcdef", "a=sendrecv",
                "m=video 16386 RTP/AVP 102 103", "a=rtpmap:102 H264/90000",
                "a=fmtp:102 profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1",
                "a=rtpmap:103 H264/90000", "a=fmtp:103 profile-level-id=42e01f;level-asymmetry-allowed=1",
                "a=rtcp-fb:* nack pli", "a=rtcp-fb:* ccm fir", "a=rtcp-fb:* ccm tmmbr", "a=rtcp-fb:* goog-remb",
                "a=ssrc:3405705229 cname:0123456789abcdef", "a=sendrecv",
            ])
    }

    func testAnOfferLeavesRoomForAnInviteInOneDatagram() {
        XCTAssertLessThan(
            Fixture.offer.printed().count, 800, "RFC 3261 section 18.1.1 wants under 1300 with all headers")
    }

    func testWithoutVideoThereIsNoVideoLine() {
        let offer = OfferAnswer.makeOffer(Fixture.local(video: nil), sessionID: 1, sessionVersion: 1)
        XCTAssertEqual(offer.media.map { $0.kind }, [.audio])
    }

    func testPortsOutOfStepAndBandwidthAreSaid() {
        var local = Fixture.local(audio: .sendonly, video: .recvonly)
        local.audio.rtcpPort = 40_000
        local.video?.bandwidthKbps = 1_500
        let offer = OfferAnswer.makeOffer(local, sessionID: 1, sessionVersion: 1)
        XCTAssertEqual(offer.media[0].first("rtcp"), "40000")
        XCTAssertEqual(offer.media[0].direction, .sendonly)
        XCTAssertEqual(offer.media[1].otherLines, [OtherLine(type: UInt8(ascii: "b"), value: "AS:1500")])
        XCTAssertEqual(offer.media[1].direction, .recvonly)
    }

    /// Two of us: what one side's answer comes to is what the other side makes of it.
    func testOfferAndAnswerAgreeMouthToEar() throws {
        for wish in Direction.allCases {
            for ourWish in Direction.allCases {
                var far = Fixture.local(audio: wish, video: wish, address: .v4(0xC000_0207))
                far.audio.port = 20_000
                far.audio.rtcpPort = 20_007
                let offer = try SessionDescription.parse(
                    OfferAnswer.makeOffer(far, sessionID: 1, sessionVersion: 1).printed())
                let answer = OfferAnswer.makeAnswer(
                    to: offer, local: Fixture.local(audio: ourWish, video: ourWish), sessionID: 2, sessionVersion: 1)
                let accepted = try OfferAnswer.acceptAnswer(
                    try SessionDescription.parse(answer.description.printed()), to: offer)
                let pairs = [(accepted.audio, answer.session.audio), (accepted.video, answer.session.video)]
                for (theirs, ours) in pairs {
                    XCTAssertEqual(theirs?.direction, ours?.direction.reversed)
                    XCTAssertEqual(theirs?.sendPayloadType, ours?.receivePayloadTypes.first?.payloadType)
                    XCTAssertEqual(
                        theirs?.receivePayloadTypes.map { $0.payloadType }, ours.map { [$0.sendPayloadType] })
                    XCTAssertEqual(theirs?.feedback, ours?.feedback)
                    XCTAssertEqual(theirs?.telephoneEvent, ours?.telephoneEvent)
                }
                XCTAssertEqual(answer.session.audio?.remoteRTCP.port, 20_007)
                XCTAssertEqual(accepted.video?.codec.h264?.packetizationMode, 1)
                XCTAssertEqual(answer.session.video?.codec.h264?.packetizationMode, 1)
            }
        }
    }
}
