// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

/// The same for parameters of formats, hold and keys.
final class FieldCaseFormatTests: XCTestCase {
    private let audio = "m=audio 5000 RTP/AVP 0\n"

    private func video(_ fmtp: String) -> String {
        "m=video 5002 RTP/AVP 97\na=rtpmap:97 H264/90000\na=fmtp:97 \(fmtp)\n"
    }

    func testCaseE82EmptyAndFaultyParameterSetsAreLeftOut() throws {
        for (text, count) in [("Z0LAHw==,", 1), (",aM4=", 1), ("%%%,aM4=", 1), ("Z0LAHw==,aM4=,aM4=", 3), (",", 0)] {
            let answer = try Fixture.answer(
                self.audio + self.video("packetization-mode=1;sprop-parameter-sets=\(text);profile-level-id=42e01f"))
            XCTAssertEqual(answer.session.video?.codec.h264?.parameterSets.count, count, text)
            XCTAssertEqual(answer.session.video?.codec.h264?.profileLevelID.level, H264Level(levelIDC: 31), text)
        }
    }

    /// What is held may be said for the session, for the medium, or by an address of nowhere, of either family.
    func testCaseF103EveryDialectOfHoldIsUnderstood() throws {
        let dialects: [(session: String, media: String, ours: Direction)] = [
            ("", "a=sendonly\n", .recvonly), ("a=sendonly\n", "", .recvonly), ("", "a=inactive\n", .inactive),
            ("a=inactive\n", "", .inactive), ("", "a=recvonly\n", .sendonly), ("a=recvonly\n", "", .sendonly),
            ("a=sendrecv\n", "a=inactive\n", .inactive), ("", "c=IN IP4 0.0.0.0\n", .recvonly),
            ("", "c=IN IP4 0.0.0.0\na=inactive\n", .inactive), ("", "c=IN IP4 0.0.0.0\na=sendonly\n", .recvonly),
            ("", "c=IN IP4 0.0.0.0\na=recvonly\n", .inactive), ("", "c=IN IP6 ::\n", .recvonly),
            ("a=inactive\n", "a=sendrecv\n", .sendrecv),
        ]
        for (session, media, ours) in dialects {
            let answer = try Fixture.answer(self.audio + media, session: session)
            XCTAssertEqual(answer.session.audio?.direction, ours, session + media)
            XCTAssertEqual(answer.description.media[0].direction, ours, session + media)
            XCTAssertEqual(answer.description.media[0].port, 16_384, "held is not refused")
        }
        let nowhere = try Fixture.description(self.audio).replacingConnection("IN IP4 0.0.0.0")
        let answer = OfferAnswer.makeAnswer(to: nowhere, local: Fixture.local(), sessionID: 1, sessionVersion: 1)
        XCTAssertEqual(answer.session.audio?.direction, .recvonly, "said for the session")
    }

    func testCaseG109And110KeysAreSentByWhatWasAnswered() throws {
        let opus = try Fixture.accept(
            "m=audio 5000 RTP/AVP 96 100\na=rtpmap:96 opus/48000/2\na=rtpmap:100 telephone-event/8000\n")
        XCTAssertEqual(opus.audio?.telephoneEvent?.sendPayloadType, 100)
        XCTAssertEqual(opus.audio?.telephoneEvent?.clockRate, 8_000)
        let both = "a=rtpmap:110 telephone-event/48000\na=rtpmap:100 telephone-event/8000\n"
        let pcmu = try Fixture.accept("m=audio 5000 RTP/AVP 0 110 100\n" + both)
        XCTAssertEqual(pcmu.audio?.telephoneEvent?.sendPayloadType, 100)
        let wide = try Fixture.accept("m=audio 5000 RTP/AVP 96 100 110\na=rtpmap:96 opus/48000/2\n" + both)
        XCTAssertEqual(wide.audio?.telephoneEvent?.sendPayloadType, 110)
        XCTAssertNil(try Fixture.accept(self.audio).audio?.telephoneEvent)
        let unasked = try Fixture.answer(self.audio)
        XCTAssertNil(unasked.description.media[0].values("rtpmap").first { $0.string.contains("telephone-event") })
    }

    func testABadFmtpNeverCostsTheSound() throws {
        for fmtp in [
            "", "96", "96 ", "96 ;;;", "96 useinbandfec=7;maxaveragebitrate=x;;=;a", "x y", "300 a=b",
            "96 maxaveragebitrate=999999999999", "96 sprop-stereo=1;cbr=9;maxplaybackrate=-1", "96 \u{00}=\u{00}",
        ] {
            let lines = "m=audio 5000 RTP/AVP 96\na=rtpmap:96 opus/48000\na=fmtp:\(fmtp)\n"
            XCTAssertNotNil(try Fixture.answer(lines).session.audio, fmtp)
            XCTAssertNotNil(try Fixture.accept(lines).audio, fmtp)
        }
    }

    func testOpusIsWrittenWithTwoChannelsAndReadWithAny() throws {
        for map in ["opus/48000/2", "opus/48000", "OPUS/48000/1", "Opus/48000/2"] {
            let answer = try Fixture.answer("m=audio 5000 RTP/AVP 111\na=rtpmap:111 \(map)\n")
            XCTAssertEqual(answer.description.media[0].first("rtpmap"), "111 opus/48000/2", map)
        }
    }
}

extension SessionDescription {
    fileprivate func replacingConnection(_ value: ByteString) -> SessionDescription {
        var copy = self
        copy.connection = Connection(value)
        return copy
    }
}
