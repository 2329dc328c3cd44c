// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import KioskEngine

/// Servers are found as RFC 3263 and RFC 2782 say, whatever the name service answers.
final class ServerLocatorTests: XCTestCase {
    /// A name service out of a table, and a locator that asks it.
    private final class Desk {
        var locator = ServerLocator()
        var generator = Generator(seed: 7)
        var now = Instant(nanoseconds: 1_000_000_000)
        var zone: [NameQuestion: NameAnswer] = [:]
        /// Questions that nobody answers.
        var isSilent: (NameQuestion) -> Bool = { _ in false }
        private(set) var asked: [NameQuestion] = []
        private(set) var open: [(id: QuestionID, question: NameQuestion)] = []
        private(set) var result: [String]?
        private var number: UInt64 = 0

        func find(_ uris: String..., standard: SIPTransport = .udp) {
            self.number += 1
            self.asked = []
            self.result = nil
            let queries = uris.map { uri -> ServerQuery in
                guard let uri = SIPURI(ByteString(utf8Of: uri)) else { preconditionFailure("written by hand") }
                return ServerQuery(uri, standard: standard)
            }
            self.locator.find(ResolutionID(self.number), queries, now: self.now)
            self.drain()
        }

        private func drain() {
            while let output = self.locator.nextOutput() {
                switch output {
                case .ask(let id, let question):
                    self.asked.append(question)
                    if self.isSilent(question) {
                        self.open.append((id, question))
                    } else {
                        self.answer(id, self.zone[question] ?? .none)
                    }
                case .found(let id, let hops):
                    XCTAssertEqual(id.number, self.number)
                    self.result = hops.flatMap { $0 }.map { hop in
                        "\(hop.transport) \(hop.remote.text.string)" + (hop.name.isEmpty ? "" : " \(hop.name.string)")
                    }
                case .failed: self.result = []
                }
            }
        }

        func answer(_ id: QuestionID, _ answer: NameAnswer) {
            self.locator.answered(id, answer, &self.generator, now: self.now)
            self.drain()
        }

        func answerOpen() {
            let open = self.open
            self.open = []
            for (id, question) in open { self.answer(id, self.zone[question] ?? .none) }
        }

        func pass(_ ms: Int) {
            let end = self.now + .milliseconds(ms)
            while let due = self.locator.wakesAt, due <= end {
                self.now = max(self.now, due)
                self.locator.timePassed(now: self.now)
                self.drain()
            }
            self.now = end
        }

        func host(_ name: ByteString, _ addresses: UInt32..., ttl: UInt32 = 60) {
            self.zone[.addresses(name)] = .found(.addresses(addresses.map { .v4($0) }), ttlSeconds: ttl)
        }

        func service(_ name: ByteString, _ records: (UInt16, UInt16, UInt16, ByteString)..., ttl: UInt32 = 60) {
            let records = records.map { ServiceRecord(priority: $0.0, weight: $0.1, port: $0.2, target: $0.3) }
            self.zone[.srv(name)] = .found(.srv(records), ttlSeconds: ttl)
        }

        func pointers(_ name: ByteString, _ records: (UInt16, UInt16, ByteString, ByteString, ByteString)...) {
            let records = records.map {
                NamingPointer(
                    order: $0.0, preference: $0.1, flags: $0.2, service: $0.3, replacement: $0.4)
            }
            self.zone[.naptr(name)] = .found(.naptr(records), ttlSeconds: 60)
        }
    }

    // MARK: - Section 4

    func testAddressesPortsAndTransportsThatTheURINamesAreNotAskedFor() {
        let cases: [(String, [String], Int)] = [
            ("sip:a@192.0.2.7", ["udp 192.0.2.7:5060"], 0), ("sip:a@[2001:db8::7]", ["udp [2001:db8::7]:5060"], 0),
            ("sip:a@192.0.2.7:99;transport=tcp", ["tcp 192.0.2.7:99"], 0),
            ("sip:a@192.0.2.7;transport=tls", ["tls 192.0.2.7:5061 192.0.2.7"], 0),
            ("sips:a@192.0.2.7", ["tls 192.0.2.7:5061 192.0.2.7"], 0),
            ("sips:a@192.0.2.7;transport=tcp", ["tls 192.0.2.7:5061 192.0.2.7"], 0),
            ("sips:a@192.0.2.7;transport=udp", [], 0), ("sip:a@0.0.0.0", [], 0),
            ("sip:a@x.org;maddr=192.0.2.9", ["udp 192.0.2.9:5060"], 0),
            ("sip:a@Host.x.org:99", ["udp 0.0.0.1:99"], 1), ("sip:a@host.x.org.:99", ["udp 0.0.0.1:99"], 1),
            ("sips:a@host.x.org:99", ["tls 0.0.0.1:99 host.x.org"], 1),
            ("sip:a@host.x.org;transport=tcp", ["tcp 0.0.0.1:5060"], 2),
            ("sip:a@host.x.org", ["udp 0.0.0.1:5060"], 5), ("sips:a@host.x.org", ["tls 0.0.0.1:5061 host.x.org"], 3),
        ]
        for (uri, hops, questions) in cases {
            let desk = Desk()
            desk.host("host.x.org", 1)
            desk.find(uri)
            XCTAssertEqual(desk.result, hops, uri)
            XCTAssertEqual(desk.asked.count, questions, uri)
        }
    }

    func testTheTransportOfTheFileIsAsIfTheURINamedItUnlessItIsUDP() {
        let desk = Desk()
        desk.pointers("x.org", (1, 1, "s", "SIP+D2U", "u.x.org"))
        desk.service("u.x.org", (1, 1, 5060, "a.x.org"))
        desk.service("_sips._tcp.x.org", (1, 1, 5061, "b.x.org"))
        desk.host("a.x.org", 1)
        desk.host("b.x.org", 2)
        desk.find("sip:a@x.org", standard: .tls)
        XCTAssertEqual(desk.result, ["tls 0.0.0.2:5061 x.org"], "nobody in the middle leads us away from TLS")
        desk.find("sip:a@x.org", standard: .udp)
        XCTAssertEqual(desk.result, ["udp 0.0.0.1:5060"])
        desk.find("sip:a@192.0.2.7", standard: .tcp)
        XCTAssertEqual(desk.result, ["tcp 192.0.2.7:5060"])
    }

    func testPointersLeadToServicesInTheirOrderAndOtherServicesAreLeftOut() {
        let desk = Desk()
        desk.pointers(
            "x.org", (20, 1, "s", "SIP+D2U", "u.x.org"), (10, 9, "S", "sip+d2t", "t.x.org."),
            (10, 5, "s", "SIPS+D2T", "s.x.org"), (1, 1, "s", "SIP+D2S", "sctp.x.org"),
            (1, 1, "u", "E2U+sip", ""), (1, 1, "a", "SIP+D2U", "a.x.org"), (1, 1, "s", "SIP+D2U", "."))
        desk.service("s.x.org", (1, 1, 5061, "a.x.org"))
        desk.service("t.x.org", (1, 1, 5070, "a.x.org"))
        desk.service("u.x.org", (1, 1, 5080, "b.x.org"))
        desk.host("a.x.org", 1)
        desk.host("b.x.org", 2)
        desk.find("sip:a@x.org")
        XCTAssertEqual(desk.result, ["tls 0.0.0.1:5061 x.org", "tcp 0.0.0.1:5070", "udp 0.0.0.2:5080"])
        desk.find("sips:a@x.org")
        XCTAssertEqual(desk.result, ["tls 0.0.0.1:5061 x.org"])
    }

    func testWithoutPointersTheServicesOfEachTransportAreTriedAndThenTheHost() {
        let desk = Desk()
        desk.host("x.org", 9)
        desk.service("_sip._tcp.x.org", (1, 1, 5070, "a.x.org"))
        desk.service("_sip._udp.x.org", (1, 1, 5060, "b.x.org"))
        desk.host("a.x.org", 1)
        desk.host("b.x.org", 2)
        desk.find("sip:a@x.org")
        XCTAssertEqual(desk.result, ["udp 0.0.0.2:5060", "tcp 0.0.0.1:5070"])
        let other = Desk()
        other.pointers("x.org", (1, 1, "s", "SIP+D2U", "nothing.x.org"))
        other.host("x.org", 9)
        other.find("sip:a@x.org")
        XCTAssertEqual(other.result, ["udp 0.0.0.9:5060"], "a pointer to nothing")
    }

    func testATargetOfADotSaysThatTheServiceIsNotThere() {
        let desk = Desk()
        desk.host("x.org", 9)
        desk.service("_sip._tcp.x.org", (0, 0, 0, ""))
        desk.find("sip:a@x.org;transport=tcp")
        XCTAssertEqual(desk.result, [])
    }

    func testHostsAreTriedByPriorityAndTheirFamiliesByTurns() {
        let desk = Desk()
        desk.service("_sip._udp.x.org", (2, 0, 5062, "b.x.org"), (1, 0, 5061, "a.x.org"), (3, 0, 5063, "192.0.2.1"))
        let six = { (low: UInt64) in IPAddress.v6(high: 0x2001_0DB8 << 32, low: low) }
        desk.zone[.addresses("a.x.org")] = .found(
            .addresses([six(1), six(2), .v4(1), .v4(2), .v4(3)]), ttlSeconds: 60)
        desk.host("b.x.org", 7)
        desk.find("sip:a@x.org;transport=udp")
        XCTAssertEqual(
            desk.result,
            [
                "udp [2001:db8::1]:5061", "udp 0.0.0.1:5061", "udp [2001:db8::2]:5061", "udp 0.0.0.2:5061",
                "udp 0.0.0.3:5061", "udp 0.0.0.7:5062", "udp 192.0.2.1:5063",
            ])
    }

    func testTheHopsOfSeveralQueriesStayInTheirOrder() {
        let desk = Desk()
        desk.host("b.x.org", 2)
        desk.find("sip:192.0.2.1", "sip:b.x.org:99;transport=tcp", "sip:nowhere.x.org", "sip:192.0.2.3")
        XCTAssertEqual(desk.result, ["udp 192.0.2.1:5060", "tcp 0.0.0.2:99", "udp 192.0.2.3:5060"])
    }

    // MARK: - Lies, floods, silence

    func testAThousandRecordsAreManyMoreThanAreLookedAt() {
        let desk = Desk()
        let services = (0..<1_000).map {
            ServiceRecord(priority: 1, weight: 1, port: 5060, target: "h" + ByteString(decimal: $0) + ".x.org")
        }
        for transport in ["_sip._udp.x.org", "_sip._tcp.x.org", "_sips._tcp.x.org"] as [ByteString] {
            desk.zone[.srv(transport)] = .found(.srv(services), ttlSeconds: 60)
        }
        for service in services {
            desk.zone[.addresses(service.target)] = .found(
                .addresses((0..<1_000).map { .v4($0 + 1) }), ttlSeconds: 60)
        }
        desk.find("sip:a@x.org")
        XCTAssertEqual(desk.result?.count, ServerSearch.hopsMax)
        XCTAssertLessThanOrEqual(desk.asked.count, ServerLocator.questionsMax)
    }

    func testNamesThatPointAtThemselvesLeadNowhere() {
        let desk = Desk()
        desk.pointers("x.org", (1, 1, "s", "SIP+D2U", "x.org"), (1, 1, "s", "SIP+D2T", "_sip._udp.x.org"))
        desk.service("x.org", (1, 1, 5060, "x.org"))
        desk.service("_sip._udp.x.org", (1, 1, 5060, "_sip._udp.x.org"))
        desk.find("sip:a@x.org")
        XCTAssertEqual(desk.result, [])
        XCTAssertLessThanOrEqual(desk.asked.count, 8)
    }

    func testRecordsOfAnotherKindAndAnswersToNothingCountForNothing() {
        let desk = Desk()
        desk.zone[.naptr("x.org")] = .found(.addresses([.v4(1)]), ttlSeconds: 60)
        desk.zone[.srv("_sip._udp.x.org")] = .found(.addresses([.v4(2)]), ttlSeconds: 60)
        desk.zone[.addresses("x.org")] = .found(.addresses([.v4(0), .v4(3), .v4(3)]), ttlSeconds: 60)
        desk.answer(QuestionID(99), .found(.addresses([.v4(9)]), ttlSeconds: 60))
        desk.find("sip:a@x.org")
        XCTAssertEqual(desk.result, ["udp 0.0.0.3:5060"])
    }

    func testANameServerThatIsDeadIsWaitedForTwoSeconds() {
        let desk = Desk()
        desk.isSilent = { _ in true }
        desk.find("sip:a@x.org")
        desk.pass(1_990)
        XCTAssertNil(desk.result)
        desk.pass(20)
        XCTAssertEqual(desk.result, [])
        XCTAssertNil(desk.locator.wakesAt, "nothing is left to wake up for")
        desk.isSilent = { _ in false }
        desk.host("x.org", 1)
        desk.find("sip:a@x.org")
        XCTAssertEqual(desk.result, ["udp 0.0.0.1:5060"], "the next press asks again")
    }

    func testAServerThatIsSilentAboutServicesIsWaitedForOnceAndThenGoneOnWithout() {
        let desk = Desk()
        desk.host("x.org", 1, ttl: 5)
        desk.isSilent = {
            if case .addresses = $0 { return false }
            return true
        }
        desk.find("sip:a@x.org")
        desk.pass(1_990)
        XCTAssertNil(desk.result, "the services decide")
        desk.pass(20)
        XCTAssertEqual(desk.result, ["udp 0.0.0.1:5060"])
        desk.pass(6_000)
        desk.find("sip:a@x.org")
        desk.pass(2_000)
        for (id, _) in desk.open { desk.answer(id, .silent) }
        desk.pass(6_000)
        desk.find("sip:a@x.org")
        XCTAssertEqual(desk.result, ["udp 0.0.0.1:5060"], "at once")
        XCTAssertFalse(desk.asked.isEmpty, "and yet it is asked again")
    }

    func testOneHostWithoutAddressesHoldsUpNobodyForLong() {
        let desk = Desk()
        desk.service("_sip._udp.x.org", (1, 0, 5060, "a.x.org"), (2, 0, 5060, "b.x.org"))
        desk.host("b.x.org", 2)
        desk.isSilent = { $0 == .addresses("a.x.org") }
        desk.find("sip:a@x.org;transport=udp")
        desk.pass(690)
        XCTAssertNil(desk.result)
        desk.pass(20)
        XCTAssertEqual(desk.result, ["udp 0.0.0.2:5060"])
    }

    // MARK: - What is kept

    func testAnswersHoldForTheirTimeWithinBounds() {
        let cases: [(ttl: UInt32, holdsMs: Int)] = [(0, 5_000), (60, 60_000), (1_000_000, 3_600_000)]
        for (ttl, holdsMs) in cases {
            let desk = Desk()
            desk.host("x.org", 1, ttl: ttl)
            desk.find("sip:a@x.org:99")
            desk.pass(holdsMs - 1)
            desk.find("sip:a@x.org:99")
            XCTAssertEqual(desk.asked, [])
            XCTAssertEqual(desk.result, ["udp 0.0.0.1:99"])
            desk.pass(1)
            desk.find("sip:a@x.org:99")
            XCTAssertEqual(desk.asked, [.addresses("x.org")])
        }
    }

    func testThatThereIsNoneHoldsForHalfAMinuteWhereSomethingElseIsFound() {
        let desk = Desk()
        desk.host("x.org", 1, ttl: 600)
        desk.find("sip:a@x.org")
        desk.pass(29_999)
        desk.find("sip:a@x.org")
        XCTAssertEqual(desk.asked, [])
        desk.pass(1)
        desk.find("sip:a@x.org")
        XCTAssertEqual(desk.asked.count, 4)
        let other = Desk()
        other.find("sip:a@x.org:99")
        XCTAssertEqual(other.result, [])
        other.host("x.org", 1)
        other.find("sip:a@x.org:99")
        XCTAssertEqual(other.result, ["udp 0.0.0.1:99"], "a press is never refused out of memory")
    }

    func testWhereNobodyAnswersTheLastAnswerServesAndIsAskedForAgain() {
        let desk = Desk()
        desk.host("x.org", 1)
        desk.find("sip:a@x.org:99")
        desk.pass(86_400_000)
        desk.isSilent = { _ in true }
        desk.find("sip:a@x.org:99")
        desk.pass(2_000)
        XCTAssertEqual(desk.result, ["udp 0.0.0.1:99"])
        for (id, _) in desk.open { desk.answer(id, .silent) }
        desk.find("sip:a@x.org:99")
        XCTAssertEqual(desk.result, ["udp 0.0.0.1:99"], "at once")
        desk.host("x.org", 2)
        desk.answerOpen()
        desk.find("sip:a@x.org:99")
        XCTAssertEqual(desk.result, ["udp 0.0.0.2:99"])
    }

    func testSearchesAreBounded() {
        let desk = Desk()
        desk.isSilent = { _ in true }
        for _ in 0..<ServerLocator.searchesMax { desk.find("sip:a@x.org") }
        XCTAssertNil(desk.result)
        desk.find("sip:a@192.0.2.1")
        XCTAssertEqual(desk.result, [])
    }
}
