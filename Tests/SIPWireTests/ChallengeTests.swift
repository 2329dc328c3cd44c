// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import XCTest

final class ChallengeTests: XCTestCase {
    func testADigestChallengeGivesAllItAsksFor() throws {
        let value: ByteString =
            "Digest realm=\"a \\\"b\\\"\", domain=\"sip:box3.example.com sip:x\" , qop=\"auth, auth-int,,\", "
            + "nonce=\"f84f\\\\1c\", opaque=\"\", stale=TRUE, algorithm=SHA-256, odd=1"
        let challenge = try XCTUnwrap(Challenge.list(value).first)
        XCTAssertTrue(challenge.isDigest)
        XCTAssertEqual(challenge.realm, "a \"b\"")
        XCTAssertEqual(challenge.domain, "sip:box3.example.com sip:x")
        XCTAssertEqual(challenge.qopOptions, ["auth", "auth-int"])
        XCTAssertEqual(challenge.nonce, "f84f\\\\1c", "to be sent back as it came")
        XCTAssertEqual(challenge.opaque, "")
        XCTAssertTrue(challenge.isStale)
        XCTAssertEqual(challenge.algorithm, "SHA-256")
        XCTAssertEqual(challenge.parameters.value("ODD"), "1")
    }

    func testWhatIsMissingIsNil() throws {
        let challenge = try XCTUnwrap(Challenge.list("digest realm=x").first)
        XCTAssertEqual(challenge.realm, "x", "without quotes, as some write it")
        XCTAssertNil(challenge.nonce)
        XCTAssertNil(challenge.opaque)
        XCTAssertNil(challenge.algorithm)
        XCTAssertNil(challenge.domain)
        XCTAssertFalse(challenge.isStale)
        XCTAssertEqual(challenge.qopOptions, [])
    }

    func testSeveralChallengesInOneFieldAreToldApart() {
        let list = Challenge.list("Digest realm=\"a, b\", nonce=\"1\",, Basic realm=\"c\", Digest nonce=2")
        XCTAssertEqual(list.map { $0.scheme }, ["Digest", "Basic", "Digest"])
        XCTAssertEqual(list.map { $0.realm }, ["a, b", "c", nil])
    }

    func testChallengesOfSeveralFieldsComeInOrder() {
        var message = SIPMessage(startLine: .response(StatusCode(401), reason: ""))
        message.add(.wwwAuthenticate, "Digest realm=\"r\", nonce=\"1\", algorithm=SHA-512-256")
        message.add(.proxyAuthenticate, "Digest realm=\"p\", nonce=\"2\"")
        message.add(.wwwAuthenticate, "nonsense")
        message.add(.wwwAuthenticate, "Digest realm=\"r\", nonce=\"1\", algorithm=MD5")
        XCTAssertEqual(message.challenges(.wwwAuthenticate).map { $0.algorithm }, ["SHA-512-256", "MD5"])
        XCTAssertEqual(message.challenges(.proxyAuthenticate).map { $0.realm }, ["p"])
    }

    func testFaultsEndTheListAndKeepWhatWasRead() {
        for value: ByteString in [
            "", "Digest", "Digest ", "Digest realm", "Digest realm=", "Digest realm=\"x", "=", ",",
        ] {
            XCTAssertEqual(Challenge.list(value), [], value.string)
        }
        XCTAssertEqual(Challenge.list("Digest realm=x, \"").count, 1)
        XCTAssertEqual(Challenge.list("Digest realm=x y=z").count, 1)
    }

    func testTheNumberOfParametersAndChallengesIsBounded() {
        var many: ByteString = "Digest a=1"
        for _ in 1..<SIPLimits.parameters { many += ",a=1" }
        XCTAssertEqual(Challenge.list(many).first?.parameters.list.count, SIPLimits.parameters)
        XCTAssertEqual(Challenge.list(many + ",a=1"), [])
        let schemes = (0..<50).reduce(into: ByteString()) { text, _ in text += "Digest a=1, " }
        XCTAssertEqual(Challenge.list(schemes).count, SIPLimits.challenges)
    }
}
