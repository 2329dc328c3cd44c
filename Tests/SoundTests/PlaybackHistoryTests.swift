// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import Sound

final class PlaybackHistoryTests: XCTestCase {
    private func period(_ value: Int16) -> [Int16] { [Int16](repeating: value, count: 4) }

    func testWhatIsCertainIsGivenOnceAndInOrder() {
        var history = PlaybackHistory(capacity: 16)
        var taken = self.period(0)
        XCTAssertFalse(history.take(into: &taken, changeable: 0), "nothing was written")
        history.append([1, 2, 3, 4])
        history.append([5, 6, 7, 8])
        XCTAssertFalse(history.take(into: &taken, changeable: 5), "the fourth can still be changed")
        XCTAssertTrue(history.take(into: &taken, changeable: 4))
        XCTAssertEqual(taken, [1, 2, 3, 4])
        XCTAssertFalse(history.take(into: &taken, changeable: 4))
        XCTAssertTrue(history.take(into: &taken, changeable: 0))
        XCTAssertEqual(taken, [5, 6, 7, 8])
        XCTAssertFalse(history.take(into: &taken, changeable: 0))
    }

    func testWhatIsPutInLateIsInIt() {
        var history = PlaybackHistory(capacity: 16)
        history.append([1, 2, 3, 4])
        XCTAssertEqual(history.amend(2) { $0 = $0.map { $0 + 100 } }, [103, 104])
        var taken = self.period(0)
        XCTAssertTrue(history.take(into: &taken, changeable: 0))
        XCTAssertEqual(taken, [1, 2, 103, 104])
    }

    func testWhatNobodyAskedForIsForgotten() {
        var history = PlaybackHistory(capacity: 8)
        for value in 1...5 { history.append(self.period(Int16(value))) }
        XCTAssertEqual(history.untaken, 8)
        history.skip(changeable: 4)
        var taken = self.period(0)
        XCTAssertTrue(history.take(into: &taken, changeable: 0))
        XCTAssertEqual(taken, self.period(5))
        history.skip(changeable: 8)
        XCTAssertFalse(history.take(into: &taken, changeable: 0), "what was given is not given again")
    }

    func testAGapIsSilenceInItsPlace() {
        var history = PlaybackHistory(capacity: 16)
        history.append([1, 2, 3, 4])
        history.appendSilence(3)
        history.append([5, 6, 7, 8])
        var taken = self.period(9)
        var heard: [Int16] = []
        while history.take(into: &taken, changeable: 0) { heard += taken }
        XCTAssertEqual(heard, [1, 2, 3, 4, 0, 0, 0, 5], "what is heard keeps its moment")
        history.append([9])
        XCTAssertTrue(history.take(into: &taken, changeable: 0))
        XCTAssertEqual(taken, [6, 7, 8, 9])
        history.append([1, 2, 3, 4])
        history.appendSilence(1_000_000)
        XCTAssertEqual(history.untaken, 16, "a long one has no more than is kept")
        XCTAssertTrue(history.take(into: &taken, changeable: 0))
        XCTAssertEqual(taken, self.period(0))
    }
}
