// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

final class CursorTests: XCTestCase {
    func testNumbersAreReadBigEndian() {
        var reader = ByteReader(Array(0...17))
        XCTAssertEqual(reader.uint8(), 0)
        XCTAssertEqual(reader.uint16(), 0x0102)
        XCTAssertEqual(reader.uint24(), 0x030405)
        XCTAssertEqual(reader.uint32(), 0x0607_0809)
        XCTAssertEqual(reader.uint64(), 0x0A0B_0C0D_0E0F_1011)
        XCTAssertTrue(reader.isAtEnd)
    }

    func testAReadPastTheEndGivesNilAndMovesNothing() {
        var reader = ByteReader([1, 2, 3])
        XCTAssertNil(reader.uint32())
        XCTAssertNil(reader.uint64())
        XCTAssertNil(reader.take(4))
        XCTAssertNil(reader.take(-1))
        XCTAssertNil(reader.take(Int.max))
        XCTAssertFalse(reader.skip(Int.min))
        XCTAssertNil(reader.take(upTo: 9))
        XCTAssertEqual(reader.remaining, 3)
        XCTAssertEqual(reader.uint24(), 0x010203)
        XCTAssertNil(reader.uint8())
        XCTAssertNil(reader.peek())
    }

    func testSlicesKeepTheirOwnIndices() {
        var reader = ByteReader([9, 9, 1, 2, 0, 3][2...])
        XCTAssertEqual(reader.take(upTo: 0), [1, 2])
        XCTAssertEqual(reader.peek(), 3)
        XCTAssertEqual(reader.rest, [3])
        XCTAssertTrue(reader.skip(1))
        XCTAssertEqual(reader.take(0), [])
    }

    func testWhatIsWrittenIsReadAgain() {
        var writer = ByteWriter(reserving: 64)
        writer.put(UInt8(0xFE))
        writer.put(UInt16(0xFEDC))
        writer.put(uint24: 0xFFFE_DCBA)
        writer.put(UInt32(0xFEDC_BA98))
        writer.put(UInt64(0xFEDC_BA98_7654_3210))
        writer.put([1, 2])
        writer.put([3, 4][1...])
        writer.put("ab" as ByteString)
        writer.patch(0xABCD, at: 1)
        XCTAssertEqual(writer.count, 23)
        var reader = ByteReader(writer.bytes)
        XCTAssertEqual(reader.uint8(), 0xFE)
        XCTAssertEqual(reader.uint16(), 0xABCD)
        XCTAssertEqual(reader.uint24(), 0xFEDCBA)
        XCTAssertEqual(reader.uint32(), 0xFEDC_BA98)
        XCTAssertEqual(reader.uint64(), 0xFEDC_BA98_7654_3210)
        XCTAssertEqual(Array(reader.rest), [1, 2, 4, 0x61, 0x62])
    }

    func testTheCharacterClasses() {
        for byte in UInt8.min...UInt8.max {
            let scalar = Character(UnicodeScalar(byte))
            let isASCII = byte < 0x80
            XCTAssertEqual(ASCII.isDigit(byte), isASCII && scalar.isWholeNumber)
            XCTAssertEqual(ASCII.isLetter(byte), isASCII && scalar.isLetter, "\(byte)")
            XCTAssertEqual(ASCII.hexValue(byte).map { Int($0) }, isASCII ? scalar.hexDigitValue : nil)
            XCTAssertEqual(ASCII.lowercased(byte), isASCII && scalar.isUppercase ? byte + 32 : byte)
            XCTAssertEqual(ASCII.isBlank(byte), [9, 10, 13, 32].contains(byte))
        }
        XCTAssertEqual((0..<16).map { ASCII.hexDigit($0) }, Array("0123456789abcdef".utf8))
        XCTAssertEqual(ASCII.hexDigit(0xAB), UInt8(ascii: "b"), "only the low four bits count")
    }
}
