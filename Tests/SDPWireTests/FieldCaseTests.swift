// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

/// Faults that others had with offers and answers, by their numbers in the list of cases from the field. Where a whole
/// kind is tested elsewhere, only the reported input is here.
final class FieldCaseTests: XCTestCase {
    private let audio = "m=audio 5000 RTP/AVP 0\n"

    private func video(_ fmtp: String, type: Int = 97) -> String {
        "m=video 5002 RTP/AVP \(type)\na=rtpmap:\(type) H264/90000\na=fmtp:\(type) \(fmtp)\n"
    }

    // MARK: - A and I: what cannot be read

    func testCaseA29PayloadTypesWithoutAnRtpmapCostNothing() throws {
        let offer = "m=audio 5000 RTP/AVP 120 121 122 0 123\na=rtpmap:124 opus/48000/2\n"
        XCTAssertEqual(try Fixture.answer(offer).session.audio?.codec, .pcmu)
        XCTAssertEqual(try Fixture.accept(offer).audio?.codec, .pcmu)
        XCTAssertTrue(try Fixture.answer("m=audio 5000 RTP/AVP 120 121\n").session.isEmpty)
    }

    func testCaseI125PayloadTypesOutOfRangeAreNotThere() throws {
        for type in ["4294967296", "-1", "128", "256", "99999999999999999999", "0x0", "", "\u{00}"] {
            let alone = try Fixture.answer("m=audio 17000 RTP/AVP \(type)\n")
            XCTAssertEqual(alone.description.media.map { $0.port }, [0], type)
            let beside = try Fixture.answer("m=audio 17000 RTP/AVP \(type) 8\na=rtpmap:\(type) opus/48000/2\n")
            XCTAssertEqual(beside.session.audio?.codec, .pcma, type)
            XCTAssertEqual(beside.description.media[0].payloadTypes, [8], type)
        }
    }

    // MARK: - D: offers and answers

    func testCaseD58ConstraintBitsAndCaseOfDigitsDoNotMatter() throws {
        for text in ["42C02A", "42c02a", "42E01F", "42e01f"] {
            let answer = try Fixture.answer(self.audio + self.video("profile-level-id=\(text);packetization-mode=1"))
            XCTAssertNotNil(answer.session.video, text)
        }
    }

    func testCaseD59AFaultyProfileIsTheSmallestAndNeverCostsTheSound() throws {
        for text in ["4280D", "", "zzzzzz", "42e01f42e01f", "\u{00}"] {
            let lines = self.audio + self.video("profile-level-id=\(text)")
            let answer = try Fixture.answer(lines).session
            XCTAssertNotNil(answer.audio, text)
            XCTAssertEqual(answer.video?.codec.h264?.receiveLimits, H264Level.level1.limits, text)
            let accepted = try Fixture.accept(lines)
            XCTAssertNotNil(accepted.audio, text)
            XCTAssertEqual(accepted.video?.codec.h264?.receiveLimits, H264Level.level1.limits, text)
        }
    }

    /// Each pair of a list of formats: what one offers and the other has, and whether they see each other.
    func testCaseD61ProfilesAreMatchedByMeaning() throws {
        let groups: [[ByteString]] = [
            ["42e01f", "42C02A", "42800d", "42001f", "4D801F", "58C01F", "42f00b"], ["4d001f", "4D401E"],
            ["640028", "64001f"], ["640c1f", "640C0A"], ["58001f"], ["6e001f"], ["000000"],
        ]
        let texts = groups.enumerated().flatMap { group in group.element.map { (group.offset, $0) } }
        for (group, text) in texts {
            for (otherGroup, other) in texts {
                let left = try XCTUnwrap(H264ProfileLevelID(text)).profile
                let right = try XCTUnwrap(H264ProfileLevelID(other)).profile
                XCTAssertEqual(left.isSame(as: right), group == otherGroup, "\(text.string) \(other.string)")
            }
        }
        // And with what we have, constrained baseline, which most decode.
        for (group, text) in texts {
            let lines = self.audio + self.video("profile-level-id=\(text.string);packetization-mode=1", type: 102)
            XCTAssertEqual(try Fixture.answer(lines).session.video != nil, group < 4, text.string)
            XCTAssertEqual(try Fixture.accept(lines).video != nil, group < 4, text.string)
        }
    }

    func testCaseD62WhatTheFarEndCanFollowIsKnown() throws {
        let session = try Fixture.accept(self.audio + self.video("profile-level-id=42800d", type: 102))
        let limits = try XCTUnwrap(session.video?.codec.h264?.receiveLimits)
        XCTAssertTrue(limits.allows(width: 352, height: 288, fps: 30))
        XCTAssertFalse(limits.allows(width: 640, height: 360, fps: 5))
        XCTAssertEqual(limits.bitrateKbps, 768)
    }

    func testCaseD62WithoutAsymmetryNobodyGoesAboveTheLevelOfTheAnswer() throws {
        let high = try Fixture.answer(self.video("profile-level-id=42e028;packetization-mode=1")).session
        XCTAssertEqual(high.video?.codec.h264?.receiveLimits, H264Level(levelIDC: 31).limits)
        let free = try Fixture.answer(
            self.video("profile-level-id=42e028;packetization-mode=1;level-asymmetry-allowed=1")
        ).session
        XCTAssertEqual(free.video?.codec.h264?.receiveLimits, H264Level(levelIDC: 40).limits)
        let answered = try Fixture.accept(self.video("profile-level-id=42e028;packetization-mode=1", type: 102))
        XCTAssertEqual(answered.video?.codec.h264?.receiveLimits, H264Level(levelIDC: 31).limits)
    }

    func testCaseD64BothPacketizationModesAreOffered() {
        let modes = Fixture.offer.media[1].payloadTypes.map {
            Fixture.offer.media[1].fmtp(for: $0)?.value("packetization-mode")?.string ?? "0"
        }
        XCTAssertEqual(modes, ["1", "0"])
    }

    func testCaseD65OffersAreAnsweredByTheirOwnNumbers() throws {
        let answer = try Fixture.answer(
            self.audio + "m=video 5002 RTP/AVP 108 100 99\na=rtpmap:108 VP8/90000\na=rtpmap:100 VP9/90000\n"
                + "a=rtpmap:99 H264/90000\n")
        XCTAssertEqual(answer.description.media[1].formats, ["99"])
        XCTAssertEqual(answer.session.video?.sendPayloadType, 99)
    }

    func testCaseD67AnswersMayNumberOtherwiseAndAReInviteWithTheSameChangesNothing() throws {
        let lines =
            "m=audio 5000 RTP/AVP 8 97\na=rtpmap:97 telephone-event/8000\n"
            + self.video("profile-level-id=42e01f;packetization-mode=1")
        let session = try Fixture.accept(lines)
        XCTAssertEqual(session.audio?.codec, .pcma)
        XCTAssertEqual(session.audio?.telephoneEvent?.sendPayloadType, 97)
        XCTAssertEqual(session.audio?.telephoneEvent?.receivePayloadType, 101)
        XCTAssertEqual(session.video?.sendPayloadType, 97)
        XCTAssertEqual(session.video?.receivePayloadTypes.map { $0.payloadType }, [102, 97])
        let again = try Fixture.answer(lines).session
        XCTAssertEqual(again.audio?.codec, .pcma)
        XCTAssertEqual(again.audio?.sendPayloadType, session.audio?.sendPayloadType)
        XCTAssertEqual(again.audio?.telephoneEvent?.sendPayloadType, 97)
        XCTAssertEqual(again.video?.sendPayloadType, 97)
    }

    func testCaseD68AnyNumberWithAnRtpmapIsDynamic() throws {
        for type in [1, 35, 63, 64, 72, 95, 96, 127] {
            let answer = try Fixture.answer(self.audio + self.video("packetization-mode=1", type: type))
            XCTAssertEqual(answer.session.video?.sendPayloadType, UInt8(type))
        }
        // Where numbers look like RTCP, RTCP does not share their port.
        let mux = try Fixture.answer(self.audio + self.video("packetization-mode=1", type: 72) + "a=rtcp-mux\n")
        XCTAssertEqual(mux.session.video?.remoteRTCP.port, 5_003)
        XCTAssertNil(mux.description.media[1].attributes.first { $0.name == "rtcp-mux" })
    }

    func testCaseD70VideoThatCannotBeTakenLeavesTheSound() throws {
        for lines in [
            self.video("packetization-mode=1"), "m=video 5002 RTP/AVP 98\na=rtpmap:98 VP8/90000\n",
            "m=video 5002 RTP/AVP 34\n", "m=video 5002 UDP/TLS/RTP/SAVPF 98\n", "m=video x y z\n", "m=video\n",
        ] {
            let answer = try Fixture.answer(self.audio + lines, local: Fixture.local(video: nil))
            XCTAssertEqual(answer.description.media.map { $0.port }, [16_384, 0], lines)
            XCTAssertNotNil(answer.session.audio, lines)
        }
    }

    func testCaseD71CountAndOrderAreThoseOfTheOffer() throws {
        let answer = try Fixture.answer(
            self.video("packetization-mode=1") + self.audio + "m=application 5070 UDP/BFCP *\n"
                + "m=video 5004 RTP/AVP 98\na=rtpmap:98 H264/90000\na=content:slides\n"
                + "m=text 5006 RTP/AVP 100 99\na=rtpmap:99 t140/1000\nm=image 5008 udptl t38\nm=message 9 TCP/MSRP *\n")
        XCTAssertEqual(
            Fixture.lines(answer.description).filter { $0.hasPrefix("m=") },
            [
                "m=video 16386 RTP/AVP 97", "m=audio 16384 RTP/AVP 0", "m=application 0 UDP/BFCP *",
                "m=video 0 RTP/AVP 98", "m=text 0 RTP/AVP 100 99", "m=image 0 udptl t38", "m=message 0 TCP/MSRP *",
            ])
    }

    func testCaseD73AnAnswerByAnotherProfileIsAFaultThatNamesTheMedium() throws {
        let secure = "m=audio 5000 UDP/TLS/RTP/SAVPF 0\nm=video 0 RTP/AVP 102\n"
        XCTAssertThrowsError(try Fixture.accept(secure)) { error in
            let fault = error as? OfferAnswer.Fault
            XCTAssertEqual(fault?.sentence.string, "audio answered by UDP/TLS/RTP/SAVPF, which was not offered")
        }
        let half = try Fixture.accept(self.audio + "m=video 5002 RTP/SAVPF 102\na=rtpmap:102 H264/90000\n")
        XCTAssertNotNil(half.audio)
        XCTAssertNil(half.video)
    }

    func testCaseD74AttributesOfKeysRoutesAndBundlesAreLeftAlone() throws {
        let lines =
            "a=rtcp-mux\na=ice-ufrag:8hhY\na=ice-pwd:asd88fgpdd777uzjYhagZg\na=setup:actpass\n"
            + "a=candidate:1 1 UDP 2130706431 10.0.1.1 8998 typ host\na=mid:0\na=bundle-only\n"
            + "a=fingerprint:sha-256 00:11\na=crypto:1 UNKNOWN_SUITE inline:x\n"
        let answer = try Fixture.answer(self.audio + lines, session: "a=group:BUNDLE 0\na=ice-lite\n")
        XCTAssertEqual(answer.session.audio?.remoteRTP.text, "192.0.2.1:5000")
        let said = Fixture.lines(answer.description)
        for word in ["ice", "BUNDLE", "setup", "candidate", "mid", "crypto", "fingerprint"] {
            XCTAssertFalse(said.contains { $0.contains(word) }, word)
        }
    }

    func testCaseD76OfTwoLinesOfAKindOneIsAnswered() throws {
        for (first, second, ports) in [
            ("RTP/SAVP", "RTP/AVP", [0, 16_384]), ("RTP/AVP", "RTP/SAVP", [16_384, 0]),
            ("RTP/AVP", "RTP/AVP", [16_384, 0]),
        ] as [(String, String, [UInt16])] {
            let answer = try Fixture.answer("m=audio 5000 \(first) 0\nm=audio 5004 \(second) 0\n")
            XCTAssertEqual(answer.description.media.map { $0.port }, ports)
            XCTAssertEqual(answer.description.media.map { $0.profile.word.string }, [first, second])
        }
    }
}
