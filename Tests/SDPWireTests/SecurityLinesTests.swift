// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import SDPWire

/// `a=crypto`, `a=fingerprint`, `a=setup` as peers write them.
final class SecurityLinesTests: XCTestCase {
    private func inline(_ bytes: Int) -> String {
        "inline:" + Base64.encoded((0..<bytes).map { UInt8(truncatingIfNeeded: $0) }).string
    }

    private func read(_ text: String) -> CryptoAttribute? {
        CryptoAttribute(ByteString(utf8Of: text))
    }

    func testEverySuiteHasItsNameAndTheLengthOfItsKey() {
        let lengths: [(String, Int)] = [
            ("AES_CM_128_HMAC_SHA1_80", 30), ("AES_CM_128_HMAC_SHA1_32", 30), ("AES_192_CM_HMAC_SHA1_80", 38),
            ("AES_192_CM_HMAC_SHA1_32", 38), ("AES_256_CM_HMAC_SHA1_80", 46), ("AES_256_CM_HMAC_SHA1_32", 46),
            ("AES_CM_256_HMAC_SHA1_80", 46), ("AEAD_AES_128_GCM", 28), ("AEAD_AES_256_GCM", 44),
        ]
        for (name, length) in lengths {
            let line = self.read("1 \(name) \(self.inline(length))")
            XCTAssertEqual(line?.keys.map { $0.secret.count }, [length], name)
            XCTAssertEqual(line?.printed.string, "1 \(name) \(self.inline(length))", "the name stays as it came")
            for wrong in [0, length - 1, length + 1] {
                XCTAssertNil(self.read("1 \(name) \(self.inline(wrong))"), "\(name) \(wrong)")
            }
        }
        XCTAssertNil(self.read("1 F8_128_HMAC_SHA1_80 \(self.inline(30))"), "nothing here can do it")
        XCTAssertNil(self.read("1 UNKNOWN \(self.inline(30))"))
        XCTAssertNil(self.read("1 aes_cm_128_hmac_sha1_80 \(self.inline(30))"))
    }

    func testLifetimesAndKeyNamesAreRead() throws {
        let key = self.inline(30)
        let cases: [(String, UInt64, [UInt8])] = [
            ("", 1 << 48, []), ("|2^20", 1 << 20, []), ("|2^31|1:1", 1 << 31, [1]), ("|1:4", 1 << 48, [0, 0, 0, 1]),
            ("|1048576|258:2", 1_048_576, [1, 2]), ("|2^63", 1 << 48, []),
            ("|7:12", 1 << 48, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]),
        ]
        for (text, lifetime, mki) in cases {
            let line = try XCTUnwrap(self.read("1 AES_CM_128_HMAC_SHA1_80 " + key + text), text)
            XCTAssertEqual(line.keys[0].lifetimePackets, lifetime, text)
            XCTAssertEqual(line.keys[0].mki, mki, text)
        }
        for text in [
            "|0", "|2^64", "|2^", "|", "||1:1", "|2^20|256:1", "|2^20|1:0", "|2^20|1:129", "|1:1|2^20", "|2^20|x:1",
            "|2^20|1:1|2", "|2^20|1:", "|1:1:1", "|18446744073709551616:16", "|-1",
        ] {
            XCTAssertNil(self.read("1 AES_CM_128_HMAC_SHA1_80 " + key + text), text)
        }
    }

    func testSeveralKeysHaveEachANameOfTheSameLength() {
        let key = self.inline(30)
        let keys = { (names: [String]) in names.map { key + $0 }.joined(separator: ";") }
        let read = { (names: [String]) in self.read("1 AES_CM_128_HMAC_SHA1_80 " + keys(names))?.keys.count }
        XCTAssertEqual(read(["|2^20|1:2", "|2^20|2:2"]), 2)
        XCTAssertEqual(read(["|1:1", "|2:1", "|3:1", "|4:1"]), 4)
        XCTAssertNil(read(["|1:1", "|2:1", "|3:1", "|4:1", "|5:1"]), "more than we keep")
        XCTAssertNil(read(["", ""]))
        XCTAssertNil(read(["|1:1", "|2:2"]))
        XCTAssertNil(read(["|1:1", "|1:1"]))
        XCTAssertNil(read(["|1:1", ""]))
    }

    func testSessionParametersThatChangeSomethingMakeTheLineUseless() {
        let line = "1 AES_CM_128_HMAC_SHA1_80 " + self.inline(30)
        for parameter in ["WSH=128", "-x=1", "KDR=0", "WSH=64 -y"] {
            XCTAssertNotNil(self.read(line + " " + parameter), parameter)
        }
        for parameter in [
            "KDR=1", "UNENCRYPTED_SRTP", "UNENCRYPTED_SRTCP", "UNAUTHENTICATED_SRTP", "FEC_ORDER=SRTP_FEC",
            "FEC_KEY=inline:x", "WSH=64 NEW", "SSRC=1",
        ] {
            XCTAssertNil(self.read(line + " " + parameter), parameter)
        }
    }

    func testFaultyLinesAreNone() {
        let key = self.inline(30)
        for text in [
            "", "1", "1 AES_CM_128_HMAC_SHA1_80", "x AES_CM_128_HMAC_SHA1_80 \(key)",
            "1234567890 AES_CM_128_HMAC_SHA1_80 \(key)", "1 AES_CM_128_HMAC_SHA1_80 uri:x",
            "1 AES_CM_128_HMAC_SHA1_80 inline:", "1 AES_CM_128_HMAC_SHA1_80 inline:!!!!",
            "1 AES_CM_128_HMAC_SHA1_80 \(key);", "1 AES_CM_128_HMAC_SHA1_80 \(key);uri:x",
        ] {
            XCTAssertNil(self.read(text), text)
        }
    }

    func testBase64IsWrittenWithPadding() {
        for (bytes, text) in [([], ""), ([0], "AA=="), ([0xFF, 0xFE], "//4="), ([1, 2, 3], "AQID")]
            as [([UInt8], String)]
        {
            XCTAssertEqual(Base64.encoded(bytes).string, text)
            XCTAssertEqual(Base64.decoded(Base64.encoded(bytes)), bytes)
        }
    }

    func testFingerprintsOfUnknownHashesAndWrongLengthsAreNone() throws {
        let hex = (0..<32).map { String(format: "%02X", $0 * 8) }.joined(separator: ":")
        let good = try XCTUnwrap(Fingerprint(ByteString(utf8Of: "SHA-256 " + hex.lowercased())))
        XCTAssertEqual(good.printed.string, "sha-256 " + hex)
        for text in [
            "", "sha-256", "sha-256 ", "md5 00", "sha-1 " + hex, "sha-512 " + hex, "sha-256 00:11",
            "sha-256 " + hex + ":00",
            "sha-256 " + hex.replacingOccurrences(of: "08", with: "0g"),
            "sha-256 " + hex.replacingOccurrences(of: "08", with: "8"), "sha-256 \(hex) x",
        ] {
            XCTAssertNil(Fingerprint(ByteString(utf8Of: text)), text)
        }
    }

    func testOfSeveralFingerprintsThoseOfOneHashCount() throws {
        let print = { (name: String, count: Int, byte: String) in
            "a=fingerprint:\(name) " + Array(repeating: byte, count: count).joined(separator: ":") + "\n"
        }
        let both = print("sha-512", 64, "01") + print("sha-256", 32, "02") + print("sha-1", 20, "03")
        let offer = try Fixture.description(
            "m=audio 5000 UDP/TLS/RTP/SAVP 0\n" + both + print("sha-256", 32, "04") + "m=video 5002 RTP/AVP 34\n",
            session: print("sha-256", 32, "05"))
        XCTAssertEqual(offer.fingerprints(of: offer.media[0]).map { $0.bytes[0] }, [2, 4], "either may fit")
        XCTAssertEqual(offer.fingerprints(of: offer.media[1]).map { $0.bytes[0] }, [5], "the session's")
    }
}
