// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import Picture

final class AnnexBTests: XCTestCase {
    func testStartCodesOfThreeAndFourBytesPartTheUnits() {
        XCTAssertEqual(AnnexB.nalUnits(in: [0, 0, 0, 1, 7, 8, 0, 0, 1, 5, 0, 0, 0, 1, 1]), [[7, 8], [5], [1]])
    }

    func testZeroBytesAfterAUnitArePadding() {
        XCTAssertEqual(AnnexB.nalUnits(in: [0, 0, 1, 9, 0, 0, 0, 0, 0, 1, 6, 0, 0]), [[9], [6]])
    }

    func testWhatHasNoStartCodeHasNoUnits() {
        for stream: [UInt8] in [[], [1], [0, 0], [0, 0, 1], [0, 0, 2, 1], [5, 6, 7, 8, 9], [0, 0, 0, 0, 0]] {
            XCTAssertEqual(AnnexB.nalUnits(in: stream), [], "\(stream)")
        }
    }

    func testEmptyUnitsAndLeadingBytesAreLeftOut() {
        XCTAssertEqual(AnnexB.nalUnits(in: [9, 9, 0, 0, 1, 0, 0, 1, 3, 0, 0, 1]), [[3]])
    }

    func testNoMoreUnitsThanTheLimit() {
        XCTAssertEqual(AnnexB.nalUnits(in: [0, 0, 1, 1, 0, 0, 1, 2, 0, 0, 1, 3], limit: 2), [[1], [2]])
    }

    func testWhatIsWrittenIsReadAgain() {
        var generator = Generator(seed: 1)
        for _ in 0..<500 {
            let units: [[UInt8]] = (0..<generator.below(6)).map { _ in
                // From 2 up no start code can appear within a unit.
                (0...generator.below(12)).map { _ in UInt8(2 + generator.below(250)) }
            }
            var target = [UInt8](repeating: 0xEE, count: units.reduce(0) { $0 + $1.count + 4 })
            let room = target.count
            let used = target.withUnsafeMutableBufferPointer { buffer in
                buffer.baseAddress.map { AnnexB.write(units, to: $0, room: room) } ?? 0
            }
            XCTAssertEqual(used, room)
            XCTAssertEqual(AnnexB.nalUnits(in: target), units)
        }
    }

    func testUnitsThatDoNotFitAreNotWritten() {
        var target = [UInt8](repeating: 0, count: 16)
        let used = target.withUnsafeMutableBufferPointer {
            AnnexB.write([[1, 2], [3, 4, 5]], to: $0.baseAddress!, room: 12)
        }
        XCTAssertEqual(used, 6)
    }

    /// Against the plain definition, on bytes in which start codes are frequent.
    func testAgreesWithTheDefinitionOnRandomBytes() {
        var generator = Generator(seed: 2)
        for _ in 0..<2000 {
            let stream = (0..<generator.below(40)).map { _ in UInt8(generator.below(3)) }
            XCTAssertEqual(AnnexB.nalUnits(in: stream), self.defined(stream), "\(stream)")
        }
    }

    private func defined(_ stream: [UInt8]) -> [[UInt8]] {
        var starts: [Int] = []
        var index = 0
        while index + 2 < stream.count {
            let isStart = stream[index] == 0 && stream[index + 1] == 0 && stream[index + 2] == 1
            if isStart { starts.append(index) }
            index += isStart ? 3 : 1
        }
        return starts.indices.compactMap { number in
            let end = number + 1 < starts.count ? starts[number + 1] : stream.count
            var unit = Array(stream[(starts[number] + 3)..<end])
            while unit.last == 0 { unit.removeLast() }
            return unit.isEmpty ? nil : unit
        }
    }
}
