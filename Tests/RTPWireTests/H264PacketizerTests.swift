// SPDX-License-Identifier: Apache-2.0

import RTPWire
import XCTest

final class H264PacketizerTests: XCTestCase {
    private let modeOne = H264Packetizer(mode: .nonInterleaved, maxPayloadSize: 100)
    private let modeZero = H264Packetizer(mode: .singleNAL, maxPayloadSize: 100)

    func testMarkerIsOnTheLastPayloadOnly() {
        let units = [NAL.sps(), NAL.pps(), NAL.slice(idr: true, size: 350)]
        for packetizer in [self.modeOne, self.modeZero] {
            let payloads = packetizer.payloads(of: units)
            XCTAssertEqual(payloads.map { $0.marker }, Array(repeating: false, count: payloads.count - 1) + [true])
        }
    }

    func testModeZeroSendsEveryUnitAlone() {
        let units = [NAL.sps(), NAL.pps(), NAL.slice(idr: true, size: 350)]
        XCTAssertEqual(self.modeZero.payloads(of: units).map { $0.bytes }, units)
    }

    func testModeZeroLeavesOutWhatNoDatagramHolds() {
        let units = [NAL.sps(), NAL.slice(size: 70_000)]
        XCTAssertEqual(self.modeZero.payloads(of: units).map { $0.bytes }, [units[0]])
        XCTAssertEqual(self.modeZero.payloads(of: units).last?.marker, true)
    }

    func testSmallUnitsShareOneSTAPA() {
        let units = [NAL.sps(), NAL.pps(), NAL.slice(idr: true, size: 500)]
        let payloads = self.modeOne.payloads(of: units)
        // The parameter sets have the importance of 0x67: three.
        var expected: [UInt8] = [0x78, 0, UInt8(units[0].count)] + units[0]
        expected += [0, UInt8(units[1].count)] + units[1]
        XCTAssertEqual(payloads.first?.bytes, expected)
    }

    func testOneSmallUnitIsSentBare() {
        let unit = NAL.slice(size: 100)
        XCTAssertEqual(self.modeOne.payloads(of: [unit]).map { $0.bytes }, [unit])
    }

    func testLongUnitsAreFragmentedEvenly() {
        let unit = NAL.slice(idr: true, size: 101)
        let payloads = self.modeOne.payloads(of: [unit])
        XCTAssertEqual(payloads.map { $0.bytes.count }, [52, 52])
        XCTAssertEqual(payloads[0].bytes.prefix(2), [0x7C, 0x85])
        XCTAssertEqual(payloads[1].bytes.prefix(2), [0x7C, 0x45])
        XCTAssertEqual([unit[0]] + payloads.flatMap { $0.bytes.dropFirst(2) }, unit)
    }

    func testNoPayloadIsLongerThanAllowedAtAnySize() {
        for size in 1...1200 {
            let unit = Array(NAL.slice(idr: true, size: size).prefix(size))
            let payloads = self.modeOne.payloads(of: [unit])
            XCTAssertFalse(payloads.contains { $0.bytes.count > 100 }, "\(size)")
            let body = payloads.count == 1 ? payloads[0].bytes : [unit[0]] + payloads.flatMap { $0.bytes.dropFirst(2) }
            XCTAssertEqual(body, unit, "\(size)")
        }
    }

    func testEmptyUnitsAreLeftOut() {
        XCTAssertTrue(self.modeOne.payloads(of: []).isEmpty)
        XCTAssertTrue(self.modeOne.payloads(of: [[]]).isEmpty)
        XCTAssertEqual(self.modeOne.payloads(of: [[], [0x41], []]).map { $0.bytes }, [[0x41]])
        XCTAssertEqual(self.modeZero.payloads(of: [[], [0x41], []]).map { $0.marker }, [true])
    }
}
