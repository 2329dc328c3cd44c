// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

/// Four offered directions times four wishes of ours (RFC 3264 section 6.1), and the ways to say hold.
final class DirectionAnswerTests: XCTestCase {
    /// Rows: what the peer offers. Columns: what we wish, in the order of `Direction.allCases`.
    private static let table: [(offered: Direction, answers: [Direction])] = [
        (.sendrecv, [.sendrecv, .sendonly, .recvonly, .inactive]),
        (.sendonly, [.recvonly, .inactive, .recvonly, .inactive]),
        (.recvonly, [.sendonly, .sendonly, .inactive, .inactive]),
        (.inactive, [.inactive, .inactive, .inactive, .inactive]),
    ]

    func testEveryOfferMeetsEveryWish() throws {
        XCTAssertEqual(Direction.allCases, [.sendrecv, .sendonly, .recvonly, .inactive])
        for (offered, answers) in Self.table {
            for (wish, expected) in zip(Direction.allCases, answers) {
                let answer = try Fixture.answer(
                    "m=audio 5000 RTP/AVP 0\na=\(offered.name.string)\n"
                        + "m=video 5002 RTP/AVP 97\na=rtpmap:97 H264/90000\n"
                        + "a=\(offered.name.string)\n",
                    local: Fixture.local(audio: wish, video: wish))
                let case_ = "offered \(offered), wished \(wish)"
                XCTAssertEqual(answer.session.audio?.direction, expected, case_)
                XCTAssertEqual(answer.session.video?.direction, expected, case_)
                for media in answer.description.media {
                    XCTAssertEqual(media.direction, expected, case_)
                    XCTAssertNotEqual(media.port, 0, "a medium on hold is not refused: \(case_)")
                }
            }
        }
    }

    func testEveryAnswerMeetsEveryWish() throws {
        for (answered, directions) in Self.table {
            for (wish, expected) in zip(Direction.allCases, directions) {
                let offer = OfferAnswer.makeOffer(
                    Fixture.local(audio: wish, video: nil), sessionID: 1, sessionVersion: 1)
                let answer = try Fixture.description("m=audio 5000 RTP/AVP 0\na=\(answered.name.string)\n")
                let session = try OfferAnswer.acceptAnswer(answer, to: offer)
                XCTAssertEqual(session.audio?.direction, expected, "answered \(answered), wished \(wish)")
            }
        }
    }

    func testADirectionOfTheSessionCountsWhereTheMediumHasNone() throws {
        let answer = try Fixture.answer(
            "m=audio 5000 RTP/AVP 0\nm=video 5002 RTP/AVP 97\na=rtpmap:97 H264/90000\na=sendrecv\n",
            session: "a=sendonly\n")
        XCTAssertEqual(answer.session.audio?.direction, .recvonly)
        XCTAssertEqual(answer.session.video?.direction, .sendrecv)
    }

    func testNothingIsSentToAnUnspecifiedAddress() throws {
        let old = try Fixture.answer("m=audio 5000 RTP/AVP 0\nc=IN IP4 0.0.0.0\n")
        XCTAssertEqual(old.session.audio?.direction, .recvonly)
        let both = try Fixture.answer("m=audio 5000 RTP/AVP 0\nc=IN IP4 0.0.0.0\na=inactive\n")
        XCTAssertEqual(both.session.audio?.direction, .inactive)
        let sendonly = try Fixture.answer("m=audio 5000 RTP/AVP 0\nc=IN IP4 0.0.0.0\na=sendonly\n")
        XCTAssertEqual(sendonly.session.audio?.direction, .recvonly)
        let recvonly = try Fixture.answer("m=audio 5000 RTP/AVP 0\nc=IN IP4 0.0.0.0\na=recvonly\n")
        XCTAssertEqual(recvonly.session.audio?.direction, .inactive)
    }

    func testReversingTwiceIsNothing() {
        for direction in Direction.allCases {
            XCTAssertEqual(direction.reversed.reversed, direction)
            XCTAssertEqual(Direction(sends: direction.sends, receives: direction.receives), direction)
            XCTAssertEqual(Direction(direction.name), direction)
        }
        XCTAssertEqual(Direction.sendonly.reversed, .recvonly)
    }
}
