// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

final class ByteStringTests: XCTestCase {
    func testDecimalsArePrintedOverTheWholeRangeOfEachType() {
        XCTAssertEqual(ByteString(decimal: 0), "0")
        XCTAssertEqual(ByteString(decimal: Int8.min), "-128")
        XCTAssertEqual(ByteString(decimal: Int64.min), "-9223372036854775808")
        XCTAssertEqual(ByteString(decimal: UInt64.max), "18446744073709551615")
        var generator = Generator(seed: 1)
        for _ in 0..<500 {
            let value = generator.next() >> generator.below(64)
            XCTAssertEqual(ByteString(decimal: value).decimal(), value)
        }
    }

    func testDecimalsAreReadOnlyFromDigitsThatFit() {
        let table: [(ByteString, UInt64?)] = [
            ("", nil), ("0", 0), ("007", 7), ("18446744073709551615", UInt64.max), ("18446744073709551616", nil),
            ("99999999999999999999999", nil), ("+1", nil), ("-1", nil), (" 1", nil), ("1 ", nil), ("1x", nil),
            ("٣", nil),
        ]
        for (text, value) in table { XCTAssertEqual(text.decimal(), value, text.string) }
        XCTAssertEqual(ByteString("255").decimal(max: 255), 255)
        XCTAssertNil(ByteString("256").decimal(max: 255))
    }

    func testHexadecimalsArePadded() {
        let table: [(UInt64, Int, ByteString)] = [
            (0, 1, "0"), (0, 4, "0000"), (0xABC, 1, "abc"), (0xABC, 6, "000abc"), (0x12345, 4, "12345"),
            (.max, 1, "ffffffffffffffff"), (1, 16, "0000000000000001"), (0x10, 1, "10"),
        ]
        for (value, width, expected) in table {
            var text = ByteString()
            text.append(hex: value, width: width)
            XCTAssertEqual(text, expected)
        }
    }

    func testComparisonsFoldOnlyASCIILetters() {
        XCTAssertTrue(ByteString("INVITE").equalsIgnoringCase("invite"))
        XCTAssertFalse(ByteString("invite").equalsIgnoringCase("invites"))
        XCTAssertFalse(ByteString("@").equalsIgnoringCase("`"), "only letters have a case")
        XCTAssertFalse(ByteString("[").equalsIgnoringCase("{"))
        XCTAssertFalse(ByteString("É").equalsIgnoringCase("é"))
        XCTAssertTrue(ByteString("").equalsIgnoringCase(""))
        XCTAssertTrue(ByteString("Via: x").hasPrefixIgnoringCase("vIA"))
        XCTAssertFalse(ByteString("vi").hasPrefixIgnoringCase("via"))
    }

    func testAffixes() {
        XCTAssertTrue(ByteString("abc").hasPrefix("ab"))
        XCTAssertTrue(ByteString("abc").hasPrefix(""))
        XCTAssertFalse(ByteString("ab").hasPrefix("abc"))
        XCTAssertTrue(ByteString("abc").hasSuffix("bc"))
        XCTAssertFalse(ByteString("c").hasSuffix("bc"))
    }

    func testSlicesAreClamped() {
        let text: ByteString = "abcd"
        XCTAssertEqual(text.slice(1..<3), "bc")
        XCTAssertEqual(text.slice(2..<99), "cd")
        XCTAssertEqual(text.slice(9..<99), "")
        XCTAssertEqual(text.slice(-5..<2), "ab")
        XCTAssertEqual(ByteString().slice(0..<1), "")
    }

    func testTrimmingAndSplitting() {
        XCTAssertEqual(ByteString(" \t\r\n a b \n").trimmed(), "a b")
        XCTAssertEqual(ByteString("  ").trimmed(), "")
        XCTAssertEqual(ByteString("a").trimmed(), "a")
        XCTAssertEqual(ByteString().trimmed(), "")
        XCTAssertEqual(ByteString(trimming: Array(": b c ;".utf8)[1..<6]), "b c")
        XCTAssertEqual(ByteString(trimming: []), "")
        XCTAssertEqual(ByteString("a,,b,").split(on: ASCII.comma), ["a", "", "b", ""])
        XCTAssertEqual(ByteString().split(on: ASCII.comma), [""])
    }

    func testJoining() {
        var text: ByteString = "a"
        text += "b"
        text.append(literal: "c")
        text.append(byte: 0x64)
        XCTAssertEqual(text + "e", "abcde")
        XCTAssertEqual(ByteString(utf8Of: "dé").count, 3)
        XCTAssertEqual(ByteString("AbC").lowercasedASCII(), "abc")
        XCTAssertEqual(ByteString(Array("xyz".utf8)[1...]), "yz")
    }
}
