// SPDX-License-Identifier: Apache-2.0

import Bytes
import CTLS
import KioskEngine
import Loop
import XCTest

@testable import Secure

final class TLSStreamTests: XCTestCase {
    private let authority = Authority()
    private lazy var good = TLSContext.server(
        self.authority, self.authority.issue("server", names: "DNS:sip.example.com"))

    private func pair(_ client: TLSContext? = nil) -> Pair {
        Pair(client: client ?? .client(self.authority), server: self.good, name: "sip.example.com")
    }

    func testBytesGoBothWaysOnceTheHandshakeIsDone() {
        let pair = self.pair()
        pair.client(.send(Array("before".utf8)))
        pair.client(.start)
        XCTAssertTrue(pair.client.isOpen)
        XCTAssertEqual(pair.clientTold, [.opened])
        XCTAssertEqual(pair.serverTold, [.opened, .deliver(Array("before".utf8))])
        pair.server(.send(Array("after".utf8)))
        XCTAssertEqual(pair.clientTold.last, .deliver(Array("after".utf8)))
    }

    func testMuchGoesThroughWhole() {
        let pair = self.pair()
        pair.client(.start)
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        pair.client(.send(bytes))
        var got: [UInt8] = []
        for case .deliver(let part) in pair.serverTold { got += part }
        XCTAssertEqual(got, bytes)
    }

    func testAnEndInOrderIsToldToTheOtherSide() {
        let pair = self.pair()
        pair.client(.start)
        pair.client(.close)
        XCTAssertEqual(pair.serverTold.last, .closed)
        pair.server(.send([1]))
        XCTAssertEqual(pair.serverTold.last, .closed, "nothing comes after the end")
    }

    func testAHandshakeThatIsNeverFinishedFailsAtItsDeadline() {
        let stream = TLSStream(client: .client(self.authority), name: "sip.example.com")
        stream.handle(.start, now: .zero)
        var until: Instant?
        while true {
            if case .wait(let instant) = stream.pollOutput() {
                until = instant
                break
            }
        }
        XCTAssertEqual(until, .zero + .milliseconds(3000))
        stream.handle(.timeout, now: .zero + .milliseconds(2999))
        XCTAssertEqual(stream.pollOutput(), .wait(until: until))
        stream.handle(.timeout, now: .zero + .milliseconds(3000))
        XCTAssertEqual(
            stream.pollOutput(), .failed(.handshake("the other side did not finish the handshake")))
        XCTAssertEqual(stream.pollOutput(), .wait(until: nil))
    }

    func testWhatIsNoTLSIsAFaultWithItsReason() {
        let pair = self.pair()
        pair.client(.received(Array("SIP/2.0 400 Bad Request\r\n\r\n".utf8)))
        guard case .handshake(let words)? = pair.fault else { return XCTFail("no fault") }
        XCTAssertFalse(words.isEmpty)
    }

    func testAServerWhoseWordsAreTamperedWithIsRefused() {
        let flight = self.flight()
        XCTAssertGreaterThan(flight.count, 500)
        for place in stride(from: 0, to: flight.count, by: 7) {
            var bytes = flight
            bytes[place] ^= 0x55
            let stream = TLSStream(client: .client(self.authority), name: "sip.example.com")
            stream.handle(.start, now: .zero)
            self.drain(stream)
            stream.handle(.received(bytes), now: .zero)
            self.drain(stream)
            XCTAssertFalse(stream.isOpen)
        }
    }

    func testBeforeTheHandshakeIsDoneWaitingBytesAreBounded() {
        let pair = self.pair()
        for _ in 0..<5 { pair.client(.send([UInt8](repeating: 0, count: 60_000))) }
        XCTAssertEqual(pair.fault, .handshake("too much waits for the end of the handshake"))
    }

    func testVersionsBelow12AreRefused() {
        let context = SSL_CTX_new(TLS_server_method())
        callbox_tls_prepare(context)
        defer { SSL_CTX_free(context) }
        let connection = SSL_new(context)
        defer { SSL_free(connection) }
        XCTAssertEqual(SSL_ctrl(connection, SSL_CTRL_GET_MIN_PROTO_VERSION, 0, nil), Int(TLS1_2_VERSION))
    }

    func testTheNameIsAskedForAndAnAddressIsNot() {
        XCTAssertTrue(self.hello("sip.example.com").contains("sip.example.com"))
        XCTAssertFalse(self.hello("192.0.2.7").contains("192.0.2.7"))
        XCTAssertFalse(self.hello("2001:db8::1").contains("2001:db8::1"))
    }

    func testTenThousandFailuresLeaveNoMemoryBehind() {
        let flight = self.flight()
        let client = TLSContext.client(self.authority)
        func fail(_ count: Int) {
            for index in 0..<count {
                let stream = TLSStream(client: client, name: "sip.example.com")
                stream.handle(.start, now: .zero)
                self.drain(stream)
                stream.handle(.received(index % 2 == 0 ? flight : Array("nonsense, not TLS".utf8)), now: .zero)
                self.drain(stream)
                XCTAssertFalse(stream.isOpen)
            }
        }
        fail(1000)
        let before = ProcessCounters.read().residentKB
        fail(10_000)
        XCTAssertLessThan(ProcessCounters.read().residentKB - before, 2000)
    }

    func testRefusedCertificatesLeaveNoMemoryBehind() {
        let client = TLSContext.client(self.authority)
        func refuse(_ count: Int) {
            for _ in 0..<count {
                let pair = Pair(client: client, server: self.good, name: "elsewhere.example.com")
                pair.client(.start)
                XCTAssertEqual(pair.reasons, [.otherName])
            }
        }
        refuse(100)
        let before = ProcessCounters.read().residentKB
        refuse(500)
        XCTAssertLessThan(ProcessCounters.read().residentKB - before, 1000)
    }

    // MARK: - Helpers

    @discardableResult
    private func drain(_ stream: TLSStream) -> [UInt8] {
        var wire: [UInt8] = []
        while true {
            switch stream.pollOutput() {
            case .wait: return wire
            case .transmit(let bytes): wire += bytes
            case .deliver, .opened, .certificate, .ask, .closed, .failed: break
            }
        }
    }

    private func hello(_ name: ByteString) -> String {
        let stream = TLSStream(client: .client(self.authority), name: name)
        stream.handle(.start, now: .zero)
        return String(decoding: self.drain(stream).map { $0 < 0x80 ? $0 : 0 }, as: UTF8.self)
    }

    /// What a server says to somebody else's first words.
    private func flight() -> [UInt8] {
        let client = TLSStream(client: .client(self.authority), name: "sip.example.com")
        client.handle(.start, now: .zero)
        let server = TLSStream(server: self.good)
        server.handle(.received(self.drain(client)), now: .zero)
        return self.drain(server)
    }
}
