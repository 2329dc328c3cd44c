// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

final class AddressTests: XCTestCase {
    func testIPv4TextIsReadStrictly() {
        XCTAssertEqual(IPAddress("192.0.2.1"), .v4(0xC000_0201))
        XCTAssertEqual(IPAddress("0.0.0.0"), .v4(0))
        XCTAssertEqual(IPAddress("255.255.255.255"), .v4(.max))
        for text in [
            "", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.", ".1.2.3", "1..2.3", "1.2.3.4 ", "a.b.c.d",
            "0001.2.3.4", "1.2.3.-4", "host",
        ] {
            XCTAssertNil(IPAddress(ByteString(utf8Of: text)), text)
        }
    }

    func testIPv6TextIsReadAndPrintedAsRFC5952Says() {
        let table: [(ByteString, ByteString)] = [
            ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
            ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
            ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("fe80::1:2", "fe80::1:2"),
            ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
            ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
            ("0:0:0:0:0:0:0:0", "::"), ("1:0:0:0:0:0:0:0", "1::"), ("::ffff:192.0.2.1", "192.0.2.1"),
            ("::FFFF:c000:0201", "192.0.2.1"),
        ]
        for (text, printed) in table {
            XCTAssertEqual(IPAddress(text)?.text.string, printed.string, text.string)
            XCTAssertEqual(IPAddress(printed), IPAddress(text))
        }
    }

    func testFaultyIPv6TextIsNone() {
        for text in [
            ":", ":::", "1:::2", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::",
            "::1:2:3:4:5:6:7:8",
            "12345::", "g::", ":1", "1:", ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", "::1.2.3", "::1.2.3.4:5", "1.2.3.4::",
            "[::1]", "fe80::1%eth0", "::1 ", "-1::", "1::1:", ":1::1",
        ] { XCTAssertNil(IPAddress(ByteString(utf8Of: text)), text) }
    }

    func testEveryIPv6AddressComesOutAsItWentIn() {
        var generator = Generator(seed: 5_952)
        for _ in 0..<2_000 {
            // Many zero groups, so that runs of every length and place occur.
            let half = { () -> UInt64 in
                (0..<4).reduce(UInt64(0)) { sum, _ in
                    sum << 16 | (generator.below(3) == 0 ? generator.below(0x1_0000) : 0)
                }
            }
            let address = IPAddress.v6(high: half() | 1 << 63, low: half())
            XCTAssertEqual(IPAddress(address.text), address, address.text.string)
        }
    }

    func testRandomTextNeverTraps() {
        var generator = Generator(seed: 6)
        let alphabet = Array("::::...0019afF[%]".utf8)
        for _ in 0..<20_000 {
            let text = ByteString(
                (0..<generator.below(24)).map { _ in alphabet[Int(generator.below(UInt64(alphabet.count)))] })
            if let address = IPAddress(text) { XCTAssertEqual(IPAddress(address.text), address, text.string) }
        }
    }

    func testSocketAddressesAreWrittenWithBracketsWhereNeeded() {
        XCTAssertEqual(SocketAddress(.v4(0x7F00_0001), port: 5060).text, "127.0.0.1:5060")
        XCTAssertEqual(SocketAddress(.v6(high: 0, low: 1), port: 65_535).text, "[::1]:65535")
        XCTAssertTrue(IPAddress.v4(0).isUnspecified)
        XCTAssertTrue(IPAddress.v6(high: 0, low: 0).isUnspecified)
        XCTAssertFalse(IPAddress.v6(high: 0, low: 1).isUnspecified)
    }

    func testPrivateAddresses() {
        let own: [ByteString] = [
            "10.1.2.3", "127.0.0.1", "100.64.0.1", "100.127.255.255", "169.254.1.1", "172.16.0.1", "172.31.255.255",
            "192.168.0.1", "fc00::1", "fdff::1", "fe80::1", "febf::1", "::1",
        ]
        let all: [ByteString] = [
            "11.0.0.1", "100.63.0.1", "100.128.0.1", "169.253.0.1", "172.15.0.1", "172.32.0.1", "192.169.0.1",
            "203.0.113.1", "2001:db8::1", "fec0::1", "fbff::1", "::2",
        ]
        for text in own { XCTAssertEqual(IPAddress(text)?.isPrivate, true, text.string) }
        for text in all { XCTAssertEqual(IPAddress(text)?.isPrivate, false, text.string) }
    }
}
