// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import XCTest

/// What is hashed, and what the answer to a challenge says. The hashes themselves are tested with the library that
/// makes them.
final class DigestTests: XCTestCase {
    /// Notes what it is given, and gives `h0`, `h1` … back as bytes.
    private final class FakeHash: @unchecked Sendable {
        private(set) var inputs: [String] = []
        private(set) var algorithms: [DigestAlgorithm] = []

        var hash: DigestHash {
            { algorithm, bytes in
                self.inputs.append(String(decoding: bytes, as: UTF8.self))
                self.algorithms.append(algorithm)
                return [0xA0 + UInt8(self.inputs.count - 1)]
            }
        }
    }

    private let credential = Credential(username: "Mufasa", password: "Circle")
    private let turn = DigestChallenge.Turn(clientNonce: "c0", count: 0x1F)

    private func request(_ method: SIPWire.Method = .invite, body: String = "") -> SIPMessage {
        let uri = URI.sip(SIPURI("sip:bob@example.com:5070;transport=tcp")!)
        return SIPMessage(startLine: .request(method, uri), body: Array(body.utf8))
    }

    private func challenge(_ value: ByteString) -> DigestChallenge? {
        Challenge.list(value).first.flatMap { DigestChallenge($0) }
    }

    /// The answer, and what was hashed for it.
    private func answer(_ value: ByteString, to request: SIPMessage) -> (text: String, inputs: [String]) {
        let fake = FakeHash()
        let answer = self.challenge(value)?.answer(self.credential, to: request, self.turn, fake.hash)
        return (answer?.string ?? "none", fake.inputs)
    }

    func testWithoutProtectionItIsRFC2069() {
        let answer = self.answer("Digest realm=\"r\", nonce=\"n\"", to: self.request())
        XCTAssertEqual(
            answer.inputs,
            ["Mufasa:r:Circle", "INVITE:sip:bob@example.com:5070;transport=tcp", "a0:n:a1"])
        XCTAssertEqual(
            answer.text,
            "Digest username=\"Mufasa\", realm=\"r\", nonce=\"n\", uri=\"sip:bob@example.com:5070;transport=tcp\", "
                + "response=\"a2\"")
    }

    func testAuthCountsTheNonce() {
        let value: ByteString =
            "Digest realm=\"r\", nonce=\"n\", qop=\"auth-int,auth\", opaque=\"o\", algorithm=sha-256"
        let answer = self.answer(value, to: self.request(.bye, body: "x"))
        XCTAssertEqual(
            answer.inputs,
            ["Mufasa:r:Circle", "BYE:sip:bob@example.com:5070;transport=tcp", "a0:n:0000001f:c0:auth:a1"])
        XCTAssertTrue(
            answer.text.hasSuffix(
                "response=\"a2\", algorithm=sha-256, cnonce=\"c0\", opaque=\"o\", qop=auth, nc=0000001f"), answer.text)
    }

    func testAuthIntCoversTheBody() {
        let answer = self.answer("Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\"", to: self.request(body: "v=0"))
        XCTAssertEqual(
            answer.inputs,
            [
                "Mufasa:r:Circle", "v=0", "INVITE:sip:bob@example.com:5070;transport=tcp:a1",
                "a0:n:0000001f:c0:auth-int:a2",
            ])
        XCTAssertTrue(answer.text.contains("qop=auth-int"))
    }

    func testASessionHasTheFirstNonceInItsKey() {
        let answer = self.answer("Digest realm=r, nonce=n, qop=auth, algorithm=MD5-sess", to: self.request())
        XCTAssertEqual(answer.inputs.prefix(2), ["Mufasa:r:Circle", "a0:n:c0"])
        XCTAssertEqual(answer.inputs.last, "a1:n:0000001f:c0:auth:a2")
        let old = self.answer("Digest realm=r, nonce=n, algorithm=MD5-sess", to: self.request())
        XCTAssertTrue(old.text.contains("cnonce=\"c0\""), "the server cannot make the key without it")
        XCTAssertFalse(old.text.contains("nc="))
    }

    func testEachAlgorithmIsHashedWithItsOwn() throws {
        for (name, algorithm, isSession): (ByteString, DigestAlgorithm, Bool) in [
            ("MD5", .md5, false), ("md5-SESS", .md5, true), ("SHA-256", .sha256, false),
            ("SHA-256-sess", .sha256, true), ("SHA-512-256", .sha512t256, false),
            ("SHA-512-256-sess", .sha512t256, true),
        ] {
            let challenge = try XCTUnwrap(self.challenge("Digest realm=r, nonce=n, algorithm=" + name), name.string)
            XCTAssertEqual(challenge.algorithm, algorithm)
            XCTAssertEqual(challenge.isSession, isSession)
            let fake = FakeHash()
            _ = challenge.answer(self.credential, to: self.request(), self.turn, fake.hash)
            XCTAssertEqual(Set(fake.algorithms), [algorithm])
        }
    }

    func testWhatCannotBeAnsweredIsNone() {
        for value: ByteString in [
            "Basic realm=\"r\", nonce=\"n\"", "Digest realm=\"r\"", "Digest nonce=\"n\"",
            "Digest realm=\"r\", nonce=\"\"", "Digest realm=\"r\", nonce=\"n\", algorithm=foo",
            "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-512", "Digest realm=\"r\", nonce=\"n\", algorithm=MD5-",
            "Digest realm=\"r\", nonce=\"n\", qop=\"foo\"", "Digest realm=\"r\", nonce=n\\",
            "Digest realm=\"r\", nonce=\"a\u{1}b\"", "Digest realm=\"a\u{7F}\", nonce=\"n\"",
            "Digest realm=\"r\", nonce=\"n\", opaque=\"a\tb\"", "Digest realm=r\\, nonce=n",
        ] {
            XCTAssertNil(self.challenge(value), value.string)
        }
        let long = ByteString([UInt8](repeating: 0x61, count: SIPLimits.digestTextBytes))
        XCTAssertNotNil(self.challenge("Digest realm=\"r\", nonce=\"" + long + "\""))
        XCTAssertNil(self.challenge("Digest realm=\"r\", nonce=\"" + long + "a\""))
    }

    func testQuotesGoBackAsTheyCame() {
        let value: ByteString = "Digest realm=\"a \\\"b\\\"\", nonce=\"n\\\\\", opaque=\"\", qop=\"\""
        let answer = self.answer(value, to: self.request())
        XCTAssertEqual(answer.inputs.first, "Mufasa:a \\\"b\\\":Circle")
        XCTAssertTrue(answer.text.contains("realm=\"a \\\"b\\\"\", nonce=\"n\\\\\""), answer.text)
        XCTAssertTrue(answer.text.contains("opaque=\"\""))
        XCTAssertEqual(self.challenge(value)?.plainRealm, "a \"b\"")
    }

    func testANameNeverEndsItsQuotesOrItsLine() {
        let challenge = self.challenge("Digest realm=r, nonce=n")
        let odd = Credential(username: "a\"b\\c\r\nX: y", password: "p")
        let answer = challenge?.answer(odd, to: self.request(), self.turn, FakeHash().hash)
        XCTAssertTrue(answer?.string.hasPrefix("Digest username=\"a\\\"b\\\\c  X: y\", realm=") ?? false)
    }

    func testWithoutAHashThereIsNoAnswer() {
        let challenge = self.challenge("Digest realm=r, nonce=n")
        XCTAssertNil(challenge?.answer(self.credential, to: self.request(), self.turn) { _, _ in [] })
        let response = SIPMessage(startLine: .response(StatusCode(401), reason: ""))
        XCTAssertNil(challenge?.answer(self.credential, to: response, self.turn, FakeHash().hash))
    }

    func testTheNextNonceTakesThePlaceOfTheOld() {
        let challenge = self.challenge("Digest realm=r, nonce=n, qop=auth, stale=true")
        XCTAssertEqual(challenge?.isStale, true)
        XCTAssertEqual(challenge?.renewed(nonce: "n2")?.nonce, "n2")
        XCTAssertNil(challenge?.renewed(nonce: "n"), "it is no other")
        XCTAssertNil(challenge?.renewed(nonce: ""))
        XCTAssertNil(challenge?.renewed(nonce: "a\u{1}"))
    }
}
