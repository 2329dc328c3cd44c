// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import XCTest

@testable import Loop

final class RouteWatchTests: XCTestCase {
    func testNothingIsToldWhereNothingChanged() {
        var watch = RouteWatch()
        XCTAssertGreaterThanOrEqual(watch.descriptor, 0)
        XCTAssertFalse(watch.hasChanged(now: Clock.now() + .seconds(60)))
        XCTAssertNil(watch.settlesAt)
    }
}
