// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

final class H264ParametersTests: XCTestCase {
    /// RFC 6184 table 5, in both cases of the digits.
    private static let profiles: [(ByteString, H264Profile)] = [
        ("42E01F", .constrainedBaseline), ("42e01f", .constrainedBaseline), ("42C02A", .constrainedBaseline),
        ("42c00d", .constrainedBaseline), ("424015", .constrainedBaseline), ("4D801F", .constrainedBaseline),
        ("4de01f", .constrainedBaseline), ("58C01F", .constrainedBaseline), ("42001f", .baseline),
        ("42800d", .baseline),
        ("42A01E", .baseline), ("58801F", .baseline), ("4D001F", .main), ("4d401f", .main), ("58001F", .extended),
        ("64001F", .high), ("640C1F", .constrainedHigh), ("6E001F", .other(0x6E)), ("000000", .other(0)),
    ]

    func testProfilesAreToldApartByMeaning() {
        for (text, profile) in Self.profiles { XCTAssertEqual(H264ProfileLevelID(text)?.profile, profile, text.string) }
    }

    func testWhatIsNotSixDigitsIsNone() {
        for text in ["", "4280D", "42e01", "42e01f0", "42e01g", "0x42e0", "42 01f", "-2e01f"] {
            XCTAssertNil(H264ProfileLevelID(ByteString(utf8Of: text)), text)
        }
        XCTAssertEqual(H264ProfileLevelID("00000a")?.printed, "00000a")
    }

    /// Which offered formats get a picture, and what is answered to each when levels must agree.
    func testOffersAreAnsweredByMeaning() throws {
        let table: [(String, String?)] = [
            ("profile-level-id=42e01f", "42e01f"), ("profile-level-id=42C02A", "42c01f"),
            ("profile-level-id=42800d", "42800d"),
            ("profile-level-id=4280D", "42000a"), ("", "42000a"), ("profile-level-id=", "42000a"),
            ("profile-level-id=4d001f", "4d001f"), ("profile-level-id=640028", "64001f"),
            ("profile-level-id=58001f", nil),
            ("profile-level-id=6e001f", nil), ("profile-level-id=42e00b", "42e00b"),
            ("profile-level-id=42f00b", "42f00b"),
        ]
        for (parameters, answered) in table {
            let answer = try Fixture.answer(
                "m=audio 5000 RTP/AVP 0\nm=video 5002 RTP/AVP 97\na=rtpmap:97 H264/90000\na=fmtp:97 \(parameters)\n")
            XCTAssertNotNil(answer.session.audio, "the sound never pays for the picture: \(parameters)")
            let fmtp = answer.description.media[1].fmtp(for: 97)
            XCTAssertEqual(fmtp?.value("profile-level-id")?.string, answered, parameters)
            XCTAssertEqual(answer.description.media[1].port != 0, answered != nil, parameters)
        }
    }

    func testWithAsymmetryWeAnswerOurOwnLevelAndSendByTheirs() throws {
        let answer = try Fixture.answer(
            "m=video 5002 RTP/AVP 97\na=rtpmap:97 H264/90000\n"
                + "a=fmtp:97 profile-level-id=42800d;level-asymmetry-allowed=1;packetization-mode=1\n")
        XCTAssertEqual(
            answer.description.media[0].first("fmtp"),
            "97 profile-level-id=42801f;packetization-mode=1;level-asymmetry-allowed=1")
        XCTAssertEqual(answer.session.video?.codec.h264?.receiveLimits, H264Level(levelIDC: 13).limits)
    }

    func testOfSeveralFormatsTheBestIsTakenWhateverItsPlace() throws {
        let table: [(String, String)] = [
            ("a=fmtp:97 profile-level-id=42e01f\na=fmtp:98 profile-level-id=42e01f;packetization-mode=1\n", "98"),
            ("a=fmtp:97 profile-level-id=640028;packetization-mode=1\na=fmtp:98 profile-level-id=42801f\n", "98"),
            (
                "a=fmtp:97 profile-level-id=42e01f;packetization-mode=1\n"
                    + "a=fmtp:98 profile-level-id=42e028;packetization-mode=1\n",
                "97"
            ),
            ("a=fmtp:97 profile-level-id=42e01f;packetization-mode=2\na=fmtp:98 profile-level-id=42e01f\n", "98"),
        ]
        for (lines, expected) in table {
            let answer = try Fixture.answer(
                "m=video 5002 RTP/AVP 97 98\na=rtpmap:97 H264/90000\na=rtpmap:98 H264/90000\n" + lines)
            XCTAssertEqual(answer.description.media[0].formats.map { $0.string }, [expected], lines)
        }
    }

    func testInterleavedModeIsNotOurs() throws {
        let only = "m=video 5002 RTP/AVP 97\na=rtpmap:97 H264/90000\na=fmtp:97 packetization-mode=2\n"
        XCTAssertEqual(try Fixture.answer(only).description.media[0].port, 0)
        XCTAssertEqual(H264Parameters(Fmtp("97 packetization-mode=x"))?.packetizationMode, 0)
    }

    // MARK: - Levels

    func testLevelsAreOrderedWith1bInItsPlace() {
        let order: [UInt8] = [10, 9, 11, 12, 13, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50, 51, 52]
        let levels = order.map { H264Level(levelIDC: $0) }
        XCTAssertEqual(levels.shuffled().sorted(), levels)
        XCTAssertEqual(H264ProfileLevelID("42f00b")?.level, .level1b)
        XCTAssertEqual(H264ProfileLevelID("42e00b")?.level, H264Level(levelIDC: 11))
        XCTAssertEqual(
            H264ProfileLevelID("64100b")?.level, H264Level(levelIDC: 11), "the flag means 1b in old profiles only")
        XCTAssertEqual(H264ProfileLevelID("640009")?.level, .level1b)
    }

    func testNumbersThatAreNoLevelCountAsTheNextLowerOne() {
        for (number, level) in [(0, 10), (8, 10), (14, 13), (19, 13), (39, 32), (63, 62), (255, 62)] as [(UInt8, UInt8)]
        {
            XCTAssertEqual(H264Level(levelIDC: number).limits, H264Level(levelIDC: level).limits, "\(number)")
        }
    }

    /// Picture sizes and rates against ITU-T H.264 table A-6.
    func testLimitsAllowWhatTheStandardSays() {
        let table: [(UInt8, Int, Int, Int, Bool)] = [
            (10, 176, 144, 15, true), (10, 176, 144, 16, false), (10, 352, 288, 1, false), (13, 352, 288, 30, true),
            (13, 352, 288, 31, false), (13, 640, 360, 5, false), (21, 352, 480, 30, true), (30, 720, 576, 25, true),
            (30, 640, 480, 30, true), (30, 1_280, 720, 1, false), (31, 1_280, 720, 30, true),
            (31, 1_280, 720, 31, false),
            (31, 640, 360, 60, true), (32, 1_280, 720, 60, true), (40, 1_920, 1_080, 30, true),
            (40, 1_920, 1_080, 31, false),
            (10, 16_384, 16, 1, false), (31, 0, 720, 30, false), (31, 1_280, 720, 0, false), (62, 16_385, 16, 1, false),
        ]
        for (level, width, height, fps, isAllowed) in table {
            let limits = H264Level(levelIDC: level).limits
            XCTAssertEqual(
                limits.allows(width: width, height: height, fps: fps), isAllowed,
                "level \(level): \(width)x\(height)@\(fps)")
        }
    }

    func testLimitsAreOnlyEverRaised() {
        let raised = H264Parameters(Fmtp("97 profile-level-id=42e00d;max-fs=3600;max-mbps=108000;max-br=1500"))
        XCTAssertEqual(
            raised?.receiveLimits,
            H264Limits(macroblocksPerSecond: 108_000, frameMacroblocks: 3_600, bitrateKbps: 1_500))
        let lowered = H264Parameters(Fmtp("97 profile-level-id=42e01f;max-fs=1;max-mbps=0;max-br=x"))
        XCTAssertEqual(lowered?.receiveLimits, H264Level(levelIDC: 31).limits)
        let absurd = H264Parameters(Fmtp("97 max-fs=18446744073709551615;max-mbps=99999999999999999999"))
        XCTAssertEqual(absurd?.receiveLimits.frameMacroblocks, 139_264)
        XCTAssertEqual(absurd?.receiveLimits.macroblocksPerSecond, 1_485)
    }

    // MARK: - Parameter sets

    func testEmptyAndFaultyParameterSetsAreLeftOut() {
        let table: [(String, [[UInt8]])] = [
            ("Z0LA,aM4=", [[0x67, 0x42, 0xC0], [0x68, 0xCE]]), ("Z0LA,", [[0x67, 0x42, 0xC0]]), (",", []), ("", []),
            ("!!!,aM4=", [[0x68, 0xCE]]), ("Z0LA,aM4=,aM4=", [[0x67, 0x42, 0xC0], [0x68, 0xCE], [0x68, 0xCE]]),
        ]
        for (text, sets) in table {
            XCTAssertEqual(
                H264Parameters(Fmtp(ByteString(utf8Of: "97 sprop-parameter-sets=" + text)))?.parameterSets, sets, text)
        }
        let huge = ByteString(utf8Of: "97 sprop-parameter-sets=" + String(repeating: "Z0LA", count: 2_000))
        XCTAssertEqual(H264Parameters(Fmtp(huge))?.parameterSets, [])
    }
}
