// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import PanelEngine

final class KeyMatrixTests: XCTestCase {
    private let keys = Array("123456789*0#".utf8)

    /// Scans for so long with these keys down, as wires would show them.
    private func scan(
        _ matrix: inout KeyMatrix, _ down: String, ms: Int, from now: inout Instant
    ) -> [KeyMatrix.Event] {
        var events: [KeyMatrix.Event] = []
        var rows = [UInt16](repeating: 0, count: 4)
        for key in down.utf8 {
            guard let index = self.keys.firstIndex(of: key) else { continue }
            rows[index / 3] |= 1 << UInt16(index % 3)
        }
        let end = now + .milliseconds(ms)
        while matrix.scansAt <= end {
            now = max(now, matrix.scansAt)
            events += matrix.handle(.scanned(rows, atRest: rows.reduce(0, |)), now: now)
        }
        now = end
        return events
    }

    private func make() -> KeyMatrix {
        KeyMatrix(rows: 4, columns: 3, keys: self.keys, debounceMs: 10, now: .zero)
    }

    func testEachKeyIsToldWhenItGoesDownAndUp() {
        var matrix = self.make()
        var now = Instant.zero
        XCTAssertEqual(self.scan(&matrix, "", ms: 1000, from: &now), [])
        for key in self.keys {
            _ = matrix.handle(.woken, now: now)
            let down = self.scan(&matrix, String(UnicodeScalar(key)), ms: 80, from: &now)
            XCTAssertEqual(down, [.key(KeyEvent(key, isPressed: true))])
            let up = self.scan(&matrix, "", ms: 100, from: &now)
            XCTAssertEqual(up, [.key(KeyEvent(key, isPressed: false))])
        }
    }

    func testNothingIsScannedAtRest() {
        var matrix = self.make()
        var now = Instant.zero
        _ = self.scan(&matrix, "5", ms: 100, from: &now)
        _ = self.scan(&matrix, "", ms: 100, from: &now)
        XCTAssertGreaterThan(matrix.scansAt - now, .milliseconds(4_800))
        now = now + .seconds(1)
        _ = matrix.handle(.woken, now: now)
        XCTAssertEqual(matrix.scansAt, now)
        _ = matrix.handle(.scanned([0, 0, 0, 0], atRest: 0), now: now)
        _ = matrix.handle(.woken, now: now)
        XCTAssertEqual(matrix.scansAt, now + .milliseconds(10), "what the scan itself moves does not go in circles")
    }

    func testAKeyThatGoesDownWhileOtherRowsAreLookedAtIsLookedForAgain() {
        var matrix = self.make()
        var now = Instant.zero
        _ = self.scan(&matrix, "", ms: 1000, from: &now)
        _ = matrix.handle(.woken, now: now)
        // Its contact was open when its row was driven, and closed again before the columns could wake anybody.
        XCTAssertEqual(matrix.handle(.scanned([0, 0, 0, 0], atRest: 0b010), now: now), [])
        XCTAssertEqual(matrix.scansAt, now + .milliseconds(10))
        XCTAssertEqual(self.scan(&matrix, "5", ms: 60, from: &now), [.key(KeyEvent(0x35, isPressed: true))])
    }

    func testTwoKeysAtOnceAreBothToldAndAThirdIsNotBelieved() {
        var matrix = self.make()
        var now = Instant.zero
        let two = self.scan(&matrix, "15", ms: 100, from: &now)
        XCTAssertEqual(two.count, 2)
        // 1, 2 and 4 held look as if 5 was held too.
        XCTAssertEqual(self.scan(&matrix, "1245", ms: 200, from: &now), [], "no ghost")
        XCTAssertEqual(self.scan(&matrix, "", ms: 200, from: &now).count, 2)
    }

    func testAStuckKeyIsToldAndTheOthersWork() {
        var matrix = self.make()
        var now = Instant.zero
        let held = self.scan(&matrix, "7", ms: 61_000, from: &now)
        XCTAssertEqual(held, [.key(KeyEvent(0x37, isPressed: true)), .stuck(0x37)])
        _ = matrix.handle(.scanned([0, 0, 1, 0], atRest: 1), now: now)
        XCTAssertEqual(matrix.scansAt, now + .milliseconds(200), "a stuck key does not keep the program busy")
        _ = matrix.handle(.woken, now: now)
        let other = self.scan(&matrix, "73", ms: 100, from: &now)
        XCTAssertEqual(other, [.key(KeyEvent(0x33, isPressed: true))])
        let up = self.scan(&matrix, "", ms: 300, from: &now)
        XCTAssertTrue(up.contains(.healed(0x37)))
        XCTAssertTrue(up.contains(.key(KeyEvent(0x33, isPressed: false))))
    }

    func testScansOfTheWrongLengthDoNoHarm() {
        var matrix = self.make()
        XCTAssertEqual(matrix.handle(.scanned([], atRest: 0), now: .zero), [])
        XCTAssertEqual(matrix.handle(.scanned([UInt16](repeating: 0, count: 99), atRest: 0), now: .zero), [])
    }
}

final class EventCodesTests: XCTestCase {
    func testDigitsOfTheRowThePadAndTheTelephoneAreKeys() {
        // linux/input-event-codes.h: KEY_1 is 2, KEY_0 is 11, KEY_NUMERIC_0 is 0x200.
        let row = (2...11).compactMap { EventCodes.key(of: $0) }
        XCTAssertEqual(row, Array("1234567890".utf8))
        let pad: [UInt16] = [82, 79, 80, 81, 75, 76, 77, 71, 72, 73]
        XCTAssertEqual(pad.compactMap { EventCodes.key(of: $0) }, Array("0123456789".utf8))
        let telephone = (0x200...0x20F).compactMap { EventCodes.key(of: $0) }
        XCTAssertEqual(telephone, Array("0123456789*#ABCD".utf8))
    }

    func testStarEnterAndLettersAreKeysAndTheRestIsNone() {
        XCTAssertEqual([55, 96, 28].compactMap { EventCodes.key(of: $0) }, Array("*##".utf8))
        XCTAssertEqual([30, 48, 46, 32].compactMap { EventCodes.key(of: $0) }, Array("ABCD".utf8))
        let known = (UInt16.min...UInt16.max).filter { EventCodes.key(of: $0) != nil }
        XCTAssertEqual(known.count, 10 + 16 + 10 + 3 + 4)
    }
}
