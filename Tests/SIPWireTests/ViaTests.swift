// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import XCTest

final class ViaTests: XCTestCase {
    private let source = SocketAddress(.v4(0xC000_0263), port: 4444)

    func testEveryPartIsRead() throws {
        let via = try XCTUnwrap(
            Via("SIP/2.0/tls [2001:db8::9]:5061;branch=z9hG4bKx;received=192.0.2.1;rport=77;maddr=224.0.1.75;ttl=16"))
        XCTAssertEqual(via.transport, "tls")
        XCTAssertEqual(via.host.printed, "[2001:db8::9]")
        XCTAssertEqual(via.port, 5061)
        XCTAssertEqual(via.transactionBranch, "z9hG4bKx")
        XCTAssertEqual(via.received, .v4(0xC000_0201))
        XCTAssertEqual(via.rport, 77)
        XCTAssertEqual(via.maddr, .address(.v4(0xE000_014B)))
    }

    func testPrintingAndReadingAgree() throws {
        let via = Via(
            transport: .tcp, sentBy: SocketAddress(.v6(high: 0x2001_0DB8 << 32, low: 1), port: 5070), branch: "z9hG4bKq"
        )
        XCTAssertEqual(via.printed, "SIP/2.0/TCP [2001:db8::1]:5070;branch=z9hG4bKq;rport")
        XCTAssertEqual(Via(via.printed), via)
    }

    func testFaultyHopsAreNone() {
        let faulty: [ByteString] = [
            "", "SIP/2.0", "SIP/2.0/UDP", "SIP/2.0/UDP ", "SIP/3.0/UDP h", "HTTP/2.0/UDP h", "SIP/2.0/UDP h:",
            "SIP/2.0/UDP h:0", "SIP/2.0/UDP h:65536", "SIP/2.0/UDP h;", "SIP/2.0/UDP h;;branch=x", "SIP/2.0/UDP h x",
            "SIP/2.0/UDP [::1", "SIP/2.0/UDP 2001:db8::1", "SIP/2.0/UDPh", "SIP/2.0/ h", "SIP/2.0/UDP [h]",
        ]
        for value in faulty { XCTAssertNil(Via(value), value.string) }
    }

    func testBase64BranchesOfRealPeersAreTaken() {
        XCTAssertEqual(Via("SIP/2.0/UDP h;branch=z9hG4bK+a/b==;rport=")?.branch, "z9hG4bK+a/b==")
        XCTAssertEqual(Via("SIP/2.0/UDP h;branch=z9hG4bK1;rport=")?.asksRport, true)
    }

    func testStampingAddsReceivedOnlyWhereTheSourceDiffers() throws {
        var same = try XCTUnwrap(Via("SIP/2.0/UDP 192.0.2.99:5060;branch=z9hG4bK1"))
        same.stamp(source: SocketAddress(.v4(0xC000_0263), port: 4444))
        XCTAssertEqual(same.printed, "SIP/2.0/UDP 192.0.2.99:5060;branch=z9hG4bK1")
        XCTAssertEqual(same.replyAddress?.port, 5060, "without rport the reply goes to the sent-by port")
        var named = try XCTUnwrap(Via("SIP/2.0/UDP host:5070;branch=z9hG4bK1"))
        XCTAssertNil(named.replyAddress)
        named.stamp(source: self.source)
        XCTAssertEqual(named.replyAddress, SocketAddress(.v4(0xC000_0263), port: 5070))
    }

    func testStampingAnswersRport() throws {
        var via = try XCTUnwrap(Via("SIP/2.0/UDP 10.0.0.1:5060;rport;branch=z9hG4bK1"))
        via.stamp(source: self.source)
        XCTAssertEqual(via.printed, "SIP/2.0/UDP 10.0.0.1:5060;rport=4444;branch=z9hG4bK1;received=192.0.2.99")
        XCTAssertEqual(via.replyAddress, self.source)
    }

    func testAForgedReceivedIsOverwritten() throws {
        var via = try XCTUnwrap(Via("SIP/2.0/UDP 10.0.0.1;received=203.0.113.1;rport=9"))
        via.stamp(source: self.source)
        XCTAssertEqual(via.replyAddress, self.source)
        var sly = try XCTUnwrap(Via("SIP/2.0/UDP 192.0.2.99;received=203.0.113.1"))
        sly.stamp(source: self.source)
        XCTAssertEqual(sly.replyAddress?.address, self.source.address, "nobody sends our replies to a third party")
    }

    func testAHopThatWasTakenCanBeReadOnceItIsStamped() throws {
        for count in 30...33 {
            for start: ByteString in ["rport", "a=\"<,\"", "received=\",>\""] {
                let more = (1..<count).reduce(start) { $0 + ";p" + ByteString(decimal: $1) + "=\">,<\"" }
                let request = Self.request(via: "SIP/2.0/UDP [2001:db8::9];" + more)
                guard count <= SIPLimits.parameters else {
                    XCTAssertNil(try? SIPMessage.parse(request, framing: .datagram), "\(count) are too many")
                    continue
                }
                var message = try SIPMessage.parse(request, framing: .datagram)
                var via = try XCTUnwrap(message.topVia)
                via.stamp(source: self.source)
                message.replaceTopVia(via)
                XCTAssertEqual(message.topVia, via, "\(count) parameters from \(start.string)")
                XCTAssertEqual(message.vias?.count, 2, "the hop below stays")
                XCTAssertEqual(message.envelope?.via.received, self.source.address)
            }
        }
    }

    /// An OPTIONS whose Via has `via` above one other hop.
    private static func request(via: ByteString) -> [UInt8] {
        let text: ByteString = "OPTIONS sip:a@h SIP/2.0\r\nVia: " + via + ", SIP/2.0/UDP h2;branch=z9hG4bK2\r\n"
        return (text + "From: <sip:b@h>;tag=1\r\nTo: <sip:a@h>\r\nCall-ID: c\r\nCSeq: 1 OPTIONS\r\n\r\n").bytes
    }

    func testSentByIsComparedWithTheDefaultPort() throws {
        let left = try XCTUnwrap(Via("SIP/2.0/UDP Host.example"))
        XCTAssertTrue(left.hasSameSentBy(as: try XCTUnwrap(Via("SIP/2.0/UDP host.EXAMPLE:5060"))))
        XCTAssertFalse(left.hasSameSentBy(as: try XCTUnwrap(Via("SIP/2.0/UDP host.example:5061"))))
    }
}
