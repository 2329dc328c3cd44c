// SPDX-License-Identifier: Apache-2.0

import RTPWire
import XCTest

final class NumbersTests: XCTestCase {
    func testSequenceNumbersCompareAcrossTheWrap() {
        let table: [(UInt16, UInt16, Int)] = [
            (1, 0, 1), (0, 1, -1), (0, 65535, 1), (65535, 0, -1), (10, 65530, 16), (32767, 0, 32767),
            (32768, 0, -32768),
            (5, 5, 0),
        ]
        for (left, right, distance) in table {
            XCTAssertEqual(SequenceNumber(left).distance(from: SequenceNumber(right)), distance, "\(left) \(right)")
            XCTAssertEqual(SequenceNumber(left).isAhead(of: SequenceNumber(right)), distance > 0, "\(left) \(right)")
        }
        XCTAssertEqual(SequenceNumber(65535).next, SequenceNumber(0))
        XCTAssertEqual(SequenceNumber(2).advanced(by: -4), SequenceNumber(65534))
    }

    func testTimestampsCompareAcrossTheWrap() {
        XCTAssertEqual(RTPTimestamp(100).distance(from: RTPTimestamp(UInt32.max - 99)), 200)
        XCTAssertEqual(RTPTimestamp(UInt32.max).distance(from: RTPTimestamp(0)), -1)
        XCTAssertEqual(RTPTimestamp(UInt32.max).advanced(by: 2), RTPTimestamp(1))
        XCTAssertEqual(RTPTimestamp(1).moved(back: 2), RTPTimestamp(UInt32.max))
    }

    func testPayloadTypesFromTextAreBounded() {
        XCTAssertEqual(PayloadType(checked: 127)?.value, 127)
        XCTAssertNil(PayloadType(checked: 128))
        XCTAssertNil(PayloadType(checked: 4_294_967_296))
        XCTAssertEqual(PayloadType(0xE0).value, 0x60)
        XCTAssertFalse(PayloadType(72).isSafeWithRTCPMux)
        XCTAssertTrue(PayloadType(96).isSafeWithRTCPMux)
    }

    func testNTPTimeAdvancesInBinaryFractions() {
        let start = NTPTime(10 << 32)
        XCTAssertEqual(start.advanced(byNanoseconds: 1_500_000_000), NTPTime(11 << 32 | 1 << 31))
        XCTAssertEqual(NTPTime(0x0123_4567_89AB_CDEF).compact, 0x4567_89AB)
    }
}
