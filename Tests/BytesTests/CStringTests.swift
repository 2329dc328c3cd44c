// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

final class CStringTests: XCTestCase {
    func testTextGoesToCAndComesBack() {
        let text = ByteString(utf8Of: "Türe 1")
        XCTAssertEqual(text.withCString { ByteString(cString: $0) }, text)
        XCTAssertEqual(text.withCString { strlen($0) }, text.count)
    }

    func testAnAbsentStringIsEmptyAndALongOneIsCut() {
        XCTAssertEqual(ByteString(cString: nil), "")
        let long = ByteString([UInt8](repeating: 0x41, count: 300))
        XCTAssertEqual(long.withCString { ByteString(cString: $0) }.count, 255)
    }
}
