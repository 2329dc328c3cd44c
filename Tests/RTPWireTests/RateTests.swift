// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire
import XCTest

/// Bounds of what is sent, as RFC 5104 and draft-alvestrand-rmcat-remb-03 draw them.
final class RateTests: XCTestCase {
    private func parsed(_ bytes: [UInt8]) -> [RTCPPacket]? { try? RTCPCompound.parse(bytes, reducedSize: true) }

    func testRequestBytes() {
        // 300 kbit/s is 75000 * 2^2; 52 bytes of headers.
        let word: UInt32 = 2 << 26 | 75_000 << 9 | 52
        var bytes: [UInt8] = [0x83, 205, 0, 4, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 8]
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(shift))) }
        let bound = RateBound(source: SSRC(8), bitsPerSecond: 300_000, overheadBytes: 52)
        let expected = RTCPPacket.rateRequest(sender: SSRC(9), [bound])
        XCTAssertEqual(self.parsed(bytes), [expected])
        XCTAssertEqual(RTCPCompound.print([expected]), bytes)
        bytes[0] = 0x84
        XCTAssertEqual(self.parsed(bytes), [.rateNotice(sender: SSRC(9), [bound])])
    }

    func testReceivableBytes() {
        // 1 Mbit/s is 250000 * 2^2, of two sources.
        let bytes: [UInt8] =
            [0x8F, 206, 0, 6, 0, 0, 0, 9, 0, 0, 0, 0] + Array("REMB".utf8) + [2, 2 << 2 | 3, 0xD0, 0x90]
            + [0, 0, 0, 8, 0, 0, 0, 7]
        let expected = RTCPPacket.receivableRate(sender: SSRC(9), bitsPerSecond: 1_000_000, [SSRC(8), SSRC(7)])
        XCTAssertEqual(self.parsed(bytes), [expected])
        XCTAssertEqual(RTCPCompound.print([expected]), bytes)
    }

    func testOtherFeedbackOfApplicationsIsKeptRaw() {
        let bytes: [UInt8] = [0x8F, 206, 0, 3, 0, 0, 0, 9, 0, 0, 0, 0] + Array("REMA".utf8)
        XCTAssertEqual(
            self.parsed(bytes),
            [.feedback(isTransport: false, format: 15, sender: SSRC(9), media: SSRC(0), body: Array("REMA".utf8))])
    }

    func testWithoutAllOfItsSourcesItIsKeptRaw() {
        let body = Array("REMB".utf8) + [200, 0, 0, 1, 0, 0, 0, 8]
        XCTAssertEqual(
            self.parsed([0x8F, 206, 0, 5, 0, 0, 0, 9, 0, 0, 0, 0] + body),
            [.feedback(isTransport: false, format: 15, sender: SSRC(9), media: SSRC(0), body: body)])
    }

    func testRatesBeyondAllNumbersAreTheLargest() {
        let bytes: [UInt8] = [0x83, 205, 0, 4, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 8, 0xFF, 0xFF, 0xFF, 0xFF]
        let bound = RateBound(source: SSRC(8), bitsPerSecond: .max, overheadBytes: 511)
        XCTAssertEqual(self.parsed(bytes), [.rateRequest(sender: SSRC(9), [bound])])
        let none: [UInt8] = [0x83, 205, 0, 4, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 8, 0xFC, 0, 0, 0]
        let zero = RateBound(source: SSRC(8), bitsPerSecond: 0, overheadBytes: 0)
        XCTAssertEqual(self.parsed(none), [.rateRequest(sender: SSRC(9), [zero])])
    }

    func testEveryRateIsPrintedAsTheNextBelowIt() {
        for shift in 0..<64 {
            for rate in [UInt64(1) << UInt64(shift), UInt64.max >> UInt64(shift)] {
                let bound = RateBound(source: SSRC(8), bitsPerSecond: rate, overheadBytes: 9999)
                let packets: [RTCPPacket] = [
                    .rateNotice(sender: SSRC(9), [bound]),
                    .receivableRate(sender: SSRC(9), bitsPerSecond: rate, [SSRC(8)]),
                ]
                guard let again = self.parsed(RTCPCompound.print(packets)), again.count == 2,
                    case .rateNotice(_, let bounds) = again[0], case .receivableRate(_, let other, _) = again[1]
                else { return XCTFail("\(rate)") }
                XCTAssertEqual(bounds.map { $0.overheadBytes }, [511])
                for printed in [bounds[0].bitsPerSecond, other] {
                    XCTAssertLessThanOrEqual(printed, rate)
                    XCTAssertGreaterThanOrEqual(printed, rate - rate >> 16)
                }
            }
        }
    }

    func testBoundsOfOneRequestAreBounded() {
        let bound = RateBound(source: SSRC(8), bitsPerSecond: 1000, overheadBytes: 0)
        let bytes = RTCPCompound.print([.rateRequest(sender: SSRC(9), Array(repeating: bound, count: 500))])
        guard case .rateRequest(_, let bounds)? = self.parsed(bytes)?.first else { return XCTFail("no request") }
        XCTAssertEqual(bounds.count, RTPLimits.rateBoundsMax)
    }
}
