// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import XCTest

@testable import Secure

/// What each policy makes of each certificate.
final class CertificateTests: XCTestCase {
    private let authority = Authority()
    private let host: ByteString = "sip.example.com"

    private func meet(
        _ identity: Authority.Identity, name: ByteString? = nil, _ client: TLSContext? = nil
    ) -> Pair {
        let pair = Pair(
            client: client ?? .client(self.authority), server: .server(self.authority, identity),
            name: name ?? self.host)
        pair.client(.start)
        return pair
    }

    private func fingerprint(_ identity: Authority.Identity) -> ByteString {
        CertificateFacts.fingerprint(identity.certificate)
    }

    private var good: Authority.Identity { self.authority.issue("good", names: "DNS:sip.example.com") }
    private var expired: Authority.Identity {
        self.authority.issue("expired", names: "DNS:sip.example.com", days: (-100, -1))
    }
    private var early: Authority.Identity {
        self.authority.issue("early", names: "DNS:sip.example.com", days: (1, 100))
    }
    private var other: Authority.Identity { self.authority.issue("other", names: "DNS:sip.example.org") }
    private var wildcard: Authority.Identity { self.authority.issue("wild", names: "DNS:*.example.com") }
    private var stranger: Authority.Identity { Authority("Somebody").issue("x", names: "DNS:sip.example.com") }

    private var faults: [(Authority.Identity, [CertificateReason])] {
        [
            (self.expired, [.expired]), (self.early, [.notYetValid]), (self.other, [.otherName]),
            (self.wildcard, [.wildcard]), (self.stranger, [.unknownAuthority]),
        ]
    }

    // MARK: - strict

    func testStrictTakesAGoodOneAndRefusesEachFaultWithItsReason() {
        XCTAssertTrue(self.meet(self.good).client.isOpen)
        for (identity, reasons) in self.faults {
            let pair = self.meet(identity)
            XCTAssertEqual(pair.reasons, reasons)
            XCTAssertFalse(pair.client.isOpen)
            guard case .failed? = pair.serverTold.last else { return XCTFail("the server was not told") }
        }
    }

    func testEveryReasonIsToldAndWhoItIs() {
        let somebody = Authority("Somebody")
        let pair = self.meet(somebody.issue("worst", names: "DNS:a.example.org", days: (-9, -8)))
        XCTAssertEqual(Set(pair.reasons ?? []), [.expired, .otherName, .unknownAuthority])
        guard case .refused(let record)? = pair.fault else { return XCTFail("not refused") }
        XCTAssertEqual(record.name, self.host)
        XCTAssertEqual(record.subject, "CN=worst")
        XCTAssertEqual(record.issuer, "CN=Somebody")
        XCTAssertEqual(record.notBefore, "2025-12-23T00:00:00Z")
        XCTAssertEqual(record.notAfter, "2025-12-24T00:00:00Z")
        XCTAssertEqual(record.chain, ["CN=worst"])
        XCTAssertEqual(record.fingerprint.count, 95)
        XCTAssertTrue(record.line.hasPrefix("{\"name\":\"sip.example.com\",\"fingerprint\":\""))
    }

    func testAWildcardIsTakenWhereItIsAllowed() {
        let client = TLSContext.client(self.authority, change: { $0.allowsWildcard = true })
        XCTAssertTrue(self.meet(self.wildcard, client).client.isOpen)
        XCTAssertEqual(self.meet(self.wildcard, name: "a.b.example.com", client).reasons, [.otherName])
    }

    func testOneThatEndsSoonIsTakenAndTold() {
        let identity = self.authority.issue("soon", names: "DNS:sip.example.com", days: (-100, 29))
        let pair = self.meet(identity)
        XCTAssertTrue(pair.client.isOpen)
        guard case .certificate(_, .endsSoon)? = pair.clientTold.first else { return XCTFail("nobody was told") }
    }

    func testWithoutTheTimeOneOfTheFutureWaitsAndNoOtherFaultDoes() {
        let client = TLSContext.client(self.authority, isTimeKnown: false)
        guard case .waitsForTime(let record)? = self.meet(self.early, client).fault else {
            return XCTFail("it does not wait")
        }
        XCTAssertEqual(record.reasons, [.notYetValid])
        guard case .refused? = self.meet(self.expired, client).fault else { return XCTFail("not refused") }
        let both = self.authority.issue("both", names: "DNS:a.b", days: (1, 2))
        guard case .refused? = self.meet(both, client).fault else { return XCTFail("not refused") }
    }

    // MARK: - pin

    func testPinTakesTheListedLeafWhateverElseItSaysAndNoOther() {
        for (identity, reasons) in self.faults + [(self.good, [])] {
            let listed = TLSContext.client(
                self.authority,
                change: {
                    $0.verify = .pin
                    $0.pins = [self.fingerprint(self.other), self.fingerprint(identity)]
                })
            XCTAssertTrue(self.meet(identity, listed).client.isOpen)
            // Revoked: taken off the list.
            let without = TLSContext.client(
                self.authority,
                change: {
                    $0.verify = .pin
                    $0.pins = [self.fingerprint(self.other)]
                })
            XCTAssertEqual(self.meet(identity, without).reasons, reasons + [.notPinned])
        }
    }

    func testPinWithoutPinsTakesNobodyAndSaysSo() {
        let client = TLSContext.client(self.authority, change: { $0.verify = .pin })
        XCTAssertEqual(client.problems.count, 1)
        XCTAssertEqual(self.meet(self.good, client).reasons, [.notPinned])
    }

    // MARK: - tofu

    func testTheFirstSeenIsTakenAndRememberedAndAnotherIsRefused() {
        var file: [UInt8] = []
        let first = self.stranger
        var client = TLSContext.client(self.authority, save: { file = $0 }, change: { $0.verify = .firstSeen })
        let pair = self.meet(first, client)
        XCTAssertTrue(pair.client.isOpen)
        guard case .certificate(_, .firstSeen)? = pair.clientTold.first else { return XCTFail("nobody was told") }
        XCTAssertTrue(ByteString(file).hasPrefix("seen sip.example.com "))
        // The same after a start of the program; a good one of an authority is another one.
        client = TLSContext.client(self.authority, memory: file, change: { $0.verify = .firstSeen })
        XCTAssertTrue(self.meet(first, name: "SIP.example.com", client).client.isOpen)
        XCTAssertEqual(self.meet(self.good, client).reasons, [.changed])
        XCTAssertTrue(self.meet(self.good, name: "b.example.com", client).client.isOpen)
    }

    // MARK: - off

    func testOffTakesAnythingAndTellsWhatSpeaksAgainstIt() {
        for (identity, reasons) in self.faults {
            let pair = self.meet(identity, .client(self.authority, change: { $0.verify = .off }))
            XCTAssertTrue(pair.client.isOpen)
            guard case .certificate(let record, .tolerated)? = pair.clientTold.first else {
                return XCTFail("nobody was told")
            }
            XCTAssertEqual(record.reasons, reasons)
        }
    }

    // MARK: - ask

    private func asking(_ save: @escaping ([UInt8]) -> Void = { _ in }) -> TLSContext {
        .client(self.authority, save: save, change: { $0.ask = "/bin/ask" })
    }

    func testTheConnectionWaitsForTheAnswerAndFollowsIt() {
        var file: [UInt8] = []
        let client = self.asking { file = $0 }
        let stranger = self.stranger
        var pair = self.meet(stranger, client)
        guard case .ask(let record)? = pair.clientTold.last else { return XCTFail("nobody was asked") }
        XCTAssertEqual(record.reasons, [.unknownAuthority])
        pair.client(.send([7]))
        pair.client(.answered(.refuse))
        XCTAssertEqual(pair.reasons, [.unknownAuthority])

        pair = self.meet(stranger, client)
        pair.client(.send([7]))
        pair.client(.answered(.once))
        XCTAssertTrue(pair.client.isOpen)
        XCTAssertEqual(pair.serverTold.last, .deliver([7]))
        guard case .certificate(_, .acceptedOnce) = pair.clientTold[1] else { return XCTFail("nobody was told") }
        XCTAssertEqual(file, [])

        pair = self.meet(stranger, client)
        pair.client(.answered(.pin))
        XCTAssertTrue(pair.client.isOpen)
        XCTAssertTrue(ByteString(file).hasPrefix("pin sip.example.com "))
        // From now on without a question.
        XCTAssertTrue(self.meet(stranger, client).client.isOpen)
    }

    func testNoAnswerInTimeRefuses() {
        let pair = self.meet(self.stranger, self.asking())
        pair.now = .zero + .milliseconds(2999)
        pair.client(.timeout)
        XCTAssertNil(pair.fault)
        pair.now = .zero + .milliseconds(3000)
        pair.client(.timeout)
        XCTAssertEqual(pair.reasons, [.unknownAuthority])
    }

    func testAnswersAreOneWord() {
        XCTAssertEqual(CertificateAnswer(Array("once\n".utf8)), .once)
        XCTAssertEqual(CertificateAnswer(Array(" pin \nmore".utf8)), .pin)
        for text in ["", "yes", "PIN", "once more", "refuse", "\u{0}"] {
            XCTAssertEqual(CertificateAnswer(Array(text.utf8)), .refuse, text)
        }
    }
}
