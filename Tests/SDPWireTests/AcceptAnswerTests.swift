// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

final class AcceptAnswerTests: XCTestCase {
    private let audio = "m=audio 5000 RTP/AVP 0 101\na=rtpmap:101 telephone-event/8000\n"
    private let video =
        "m=video 5002 RTP/AVP 102\na=rtpmap:102 H264/90000\n"
        + "a=fmtp:102 profile-level-id=42800d;packetization-mode=1\na=rtcp-fb:* nack pli\n"

    func testAPlainAnswerIsTaken() throws {
        let session = try Fixture.accept(self.audio + self.video)
        XCTAssertEqual(session.audio?.codec, .pcmu)
        XCTAssertEqual(session.audio?.remoteRTP.text, "192.0.2.1:5000")
        XCTAssertEqual(session.audio?.telephoneEvent?.sendPayloadType, 101)
        XCTAssertEqual(session.video?.sendPayloadType, 102)
        XCTAssertEqual(session.video?.feedback, NegotiatedFeedback(pli: true))
        XCTAssertEqual(session.video?.codec.h264?.receiveLimits, H264Level(levelIDC: 13).limits)
    }

    func testRefusedVideoLeavesTheCallAsAudio() throws {
        let session = try Fixture.accept(self.audio + "m=video 0 RTP/AVP 102\n")
        XCTAssertNotNil(session.audio)
        XCTAssertNil(session.video)
    }

    func testAnAnswerMayUseOtherPayloadTypesThanTheOffer() throws {
        let session = try Fixture.accept(
            self.audio + "m=video 5002 RTP/AVP 97\na=rtpmap:97 H264/90000\na=fmtp:97 packetization-mode=0\n")
        XCTAssertEqual(session.video?.sendPayloadType, 97)
        XCTAssertEqual(session.video?.receivePayloadTypes.map { $0.payloadType }, [103, 97])
        XCTAssertEqual(session.video?.codec.h264?.packetizationMode, 0)
    }

    func testAnAnswersTypeThatIsAnotherOfOursIsNotMistaken() throws {
        let session = try Fixture.accept("m=audio 5000 RTP/AVP 8\na=rtpmap:8 opus/48000/2\n")
        XCTAssertEqual(session.audio?.sendPayloadType, 8)
        XCTAssertEqual(session.audio?.receivePayloadTypes.map { $0.payloadType }, [96])
    }

    func testOurOwnTypeWithoutAnRtpmapMeansWhatWeMeant() throws {
        let session = try Fixture.accept("m=audio 5000 RTP/AVP 96\nm=video 5002 RTP/AVP 102\n")
        XCTAssertEqual(session.audio?.codec, .opus(OpusParameters()))
        XCTAssertEqual(session.video?.codec.h264?.packetizationMode, 1)
    }

    func testAModeThatTheAnswerLeavesUnsaidIsNotUsed() throws {
        let session = try Fixture.accept(self.audio + "m=video 5002 RTP/AVP 102\na=rtpmap:102 H264/90000\n")
        XCTAssertEqual(session.video?.codec.h264?.packetizationMode, 0, "single NAL units are understood by all")
    }

    func testSeveralCodecsMayComeInWhereTheAnswerListsThem() throws {
        let session = try Fixture.accept("m=audio 5000 RTP/AVP 8 0\n")
        XCTAssertEqual(session.audio?.codec, .pcma)
        XCTAssertEqual(session.audio?.receivePayloadTypes.map { $0.codec }, [.pcma, .pcmu])
    }

    func testTelephoneEventIsUsedAsAnswered() throws {
        let session = try Fixture.accept(
            "m=audio 5000 RTP/AVP 96 100\na=rtpmap:96 opus/48000/2\na=rtpmap:100 telephone-event/8000\n")
        XCTAssertEqual(
            session.audio?.telephoneEvent,
            NegotiatedTelephoneEvent(sendPayloadType: 100, receivePayloadType: 101, clockRate: 8_000))
        XCTAssertNil(try Fixture.accept("m=audio 5000 RTP/AVP 0\n").audio?.telephoneEvent)
    }

    func testMissingAndSwappedMediaAreFoundByTheirKind() throws {
        XCTAssertNotNil(try Fixture.accept(self.audio).audio, "a peer that leaves the video line out refuses video")
        let swapped = try Fixture.accept(self.video + self.audio)
        XCTAssertEqual(swapped.audio?.remoteRTP.port, 5_000)
        XCTAssertEqual(swapped.video?.remoteRTP.port, 5_002)
        let surplus = try Fixture.accept(self.audio + self.video + "m=audio 7000 RTP/AVP 0\n")
        XCTAssertEqual(surplus.audio?.remoteRTP.port, 5_000)
    }

    private func fault(_ media: String) throws -> OfferAnswer.Fault? {
        let answer = try Fixture.description(media)
        do {
            _ = try OfferAnswer.acceptAnswer(answer, to: Fixture.offer)
            return nil
        } catch {
            return error
        }
    }

    func testAnAnswerThatLeavesNothingIsAFaultThatSaysWhy() throws {
        XCTAssertEqual(try self.fault(""), .nothingInCommon)
        XCTAssertEqual(try self.fault("m=audio 0 RTP/AVP 0\nm=video 0 RTP/AVP 102\n"), .nothingInCommon)
        XCTAssertEqual(try self.fault("m=audio 5000 RTP/AVP 9\n"), .nothingInCommon)
        XCTAssertEqual(try self.fault("m=audio 5000 RTP/AVP 4294967296\n"), .nothingInCommon)
        XCTAssertEqual(try self.fault("m=audio 5000 RTP/SAVPF 0\n"), .foreignProfile(.audio, .savpf))
        XCTAssertNil(try self.fault("m=audio 5000 RTP/AVP 0\nm=video 5002 RTP/SAVPF 102\n"), "only the video is lost")
    }
}
