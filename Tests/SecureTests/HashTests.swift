// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import Secure
import XCTest

/// The hashes with the examples that the RFCs give, through the code that answers challenges.
final class HashTests: XCTestCase {
    private func hex(_ algorithm: DigestAlgorithm, _ text: String) -> String {
        digestHash(algorithm, Array(text.utf8)).map { String(format: "%02x", $0) }.joined()
    }

    func testHashesOfNothingAndOfSomething() {
        XCTAssertEqual(self.hex(.md5, ""), "d41d8cd98f00b204e9800998ecf8427e")
        XCTAssertEqual(self.hex(.md5, "abc"), "900150983cd24fb0d6963f7d28e17f72")
        XCTAssertEqual(
            self.hex(.sha256, "abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        XCTAssertEqual(
            self.hex(.sha512t256, "abc"), "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23")
    }

    /// The example of IEEE 802.11i annex H.4.3.
    func testTheKeyOfWiFi() {
        XCTAssertEqual(
            wifiKey(password: "password", name: "IEEE").map { String(format: "%02x", $0) }.joined(),
            "f42c6fc52df0ebef9ebb4b90b38a5f902e83fe1b135a70e23aed762e9710a12e")
    }

    /// The `response` of the answer to a challenge.
    ///
    /// The examples are of HTTP, whose Request-URI is a path; `opaque` and `uri` are not hashed.
    private func response(
        _ challenge: ByteString, user: ByteString, password: ByteString, _ turn: DigestChallenge.Turn, path: ByteString
    ) -> String? {
        let request = SIPMessage(startLine: .request(.other("GET"), .other(path)))
        guard let challenge = Challenge.list(challenge).first.flatMap({ DigestChallenge($0) }),
            let answer = challenge.answer(
                Credential(username: user, password: password), to: request, turn, digestHash)
        else { return nil }
        return Challenge.list(answer).first?.parameters.text(of: "response")?.string
    }

    /// RFC 7616 section 3.9.1.
    func testTheExamplesOfRFC7616() {
        let turn = DigestChallenge.Turn(
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", count: 1)
        for (algorithm, response): (ByteString, String) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            XCTAssertEqual(
                self.response(
                    "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=" + algorithm
                        + ", nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\"",
                    user: "Mufasa", password: "Circle of Life", turn, path: "/dir/index.html"),
                response)
        }
    }

    /// RFC 2617 section 3.5.
    func testTheExampleOfRFC2617() {
        XCTAssertEqual(
            self.response(
                "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", "
                    + "nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"",
                user: "Mufasa", password: "Circle Of Life",
                DigestChallenge.Turn(clientNonce: "0a4f113b", count: 1), path: "/dir/index.html"),
            "6629fae49393a05397450978507c4ef1")
    }
}
