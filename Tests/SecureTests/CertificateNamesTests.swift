// SPDX-License-Identifier: Apache-2.0

import Bytes
import CTLS
import XCTest

@testable import Secure

/// Names by RFC 5922 section 7, and what is remembered of them.
final class CertificateNamesTests: XCTestCase {
    func testHostsAreTheSameWhateverTheCaseAndTheRoot() {
        let names = CertificateNames(hosts: ["SIP.example.com."], hasAlternatives: true)
        XCTAssertEqual(names.matches("sip.EXAMPLE.com"), .yes)
        XCTAssertEqual(names.matches("sip.example.com."), .yes)
        for other: ByteString in ["example.com", "a.sip.example.com", "sip.example.org", "", "192.0.2.1"] {
            XCTAssertEqual(names.matches(other), .no, other.string)
        }
    }

    func testTheCommonNameCountsOnlyWhereNothingElseIsNamed() {
        XCTAssertEqual(CertificateNames(commonName: "a.b", hasAlternatives: false).matches("a.b"), .yes)
        XCTAssertEqual(CertificateNames(commonName: "a.b", hasAlternatives: true).matches("a.b"), .no)
        XCTAssertEqual(CertificateNames(hosts: ["c.d"], commonName: "a.b", hasAlternatives: true).matches("a.b"), .no)
    }

    func testAWildcardCoversOneWholeLabelOnTheLeft() {
        let cases: [(ByteString, ByteString, CertificateNames.Match)] = [
            ("*.example.com", "sip.example.com", .byWildcard), ("*.Example.com", "SIP.example.COM", .byWildcard),
            ("*.example.com", "example.com", .no), ("*.example.com", "a.b.example.com", .no),
            ("s*.example.com", "sip.example.com", .no), ("sip.*.com", "sip.example.com", .no),
            ("*.com", "example.com", .no), ("*", "example", .no), ("*.", "example.", .no),
            ("*.example.com", ".example.com", .no), ("**.example.com", "sip.example.com", .no),
        ]
        for (pattern, name, expected) in cases {
            let names = CertificateNames(hosts: [pattern], hasAlternatives: true)
            XCTAssertEqual(names.matches(name), expected, "\(pattern.string) \(name.string)")
        }
    }

    func testOnlySIPAddressesWithoutAUserStandForADomain() {
        let cases: [(ByteString, ByteString?)] = [
            ("sip:example.com", "example.com"), ("SIP:example.com:5061;x", "example.com"), ("sip:a@example.com", nil),
            ("sips:example.com", nil), ("http://example.com", nil), ("sip:", nil), ("", nil),
        ]
        for (uri, domain) in cases { XCTAssertEqual(CertificateNames.domain(ofURI: uri), domain, uri.string) }
    }

    func testEveryKindOfNameIsReadFromACertificate() {
        let all = "URI:sip:one.example.com,URI:sip:u@two.example.com,DNS:three.example.com,IP:192.0.2.7,IP:2001:db8::1"
        let names = CertificateFacts.names(Authority().issue("four.example.com", names: all).certificate)
        for name: ByteString in ["one.example.com", "three.example.com", "192.0.2.7", "2001:db8::1"] {
            XCTAssertEqual(names.matches(name), .yes, name.string)
        }
        for name: ByteString in ["two.example.com", "four.example.com", "192.0.2.8", "2001:db8::2"] {
            XCTAssertEqual(names.matches(name), .no, name.string)
        }
        let plain = CertificateFacts.names(Authority().issue("four.example.com").certificate)
        XCTAssertEqual(plain.matches("four.example.com"), .yes)
    }

    func testANameWithAZeroByteIsNotItsFirstPart() {
        let names = CertificateNames(hosts: [ByteString(Array("good.example.com\0.evil".utf8))], hasAlternatives: true)
        XCTAssertEqual(names.matches("good.example.com"), .no)
    }

    // MARK: - Memory

    private let print = ByteString([UInt8](repeating: 0xAB, count: 32))

    func testTheMemoryIsTheSameAfterItsFile() {
        var memory = CertificateMemory()
        memory.remember(.seen, "A.example.com", self.print)
        memory.remember(.pin, "a.example.com", self.print)
        let again = CertificateMemory(memory.file)
        XCTAssertEqual(again, memory)
        XCTAssertEqual(again.fingerprint(.seen, "a.EXAMPLE.com"), self.print)
        XCTAssertNil(again.fingerprint(.seen, "b.example.com"))
    }

    func testAFileThatMakesNoSenseIsPassedOver() {
        let good = "seen a.b " + String(repeating: "AB", count: 32)
        let file =
            "\n\0\nseen\nseen a.b\nseen a.b XY\nother a.b \(String(repeating: "AB", count: 32))\n\(good)\nseen  x"
        let memory = CertificateMemory(Array(file.utf8))
        XCTAssertEqual(memory.entries.count, 1)
        XCTAssertEqual(memory.fingerprint(.seen, "a.b"), self.print)
    }

    func testTheOldestIsForgottenWhereThereIsNoRoom() {
        var memory = CertificateMemory()
        for number in 0...CertificateMemory.entriesMax {
            memory.remember(.seen, ByteString(decimal: number), self.print)
        }
        XCTAssertEqual(memory.entries.count, CertificateMemory.entriesMax)
        XCTAssertNil(memory.fingerprint(.seen, "0"))
        XCTAssertNotNil(memory.fingerprint(.seen, "1"))
    }
}
