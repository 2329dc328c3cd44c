// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import Secure

/// What tells one board from another.
final class InstanceIDTests: XCTestCase {
    func testABoardHasTheSameIDForEver() {
        XCTAssertEqual(
            instanceID(of: "10000000abcdef01"), "urn:uuid:8bf7ef1b-7807-526b-9072-14051c16b489",
            "a new image must not make another board of it")
        XCTAssertNotEqual(instanceID(of: "10000000abcdef01"), instanceID(of: "10000000abcdef02"))
    }

    func testADrawnIDIsAUUIDOfVersion4() {
        let drawn = instanceID(from: [UInt8](repeating: 0xFF, count: 16))
        XCTAssertEqual(drawn, "urn:uuid:ffffffff-ffff-4fff-bfff-ffffffffffff")
        XCTAssertTrue(isInstanceID(drawn))
    }

    func testWhatAFileHoldsIsNotBelievedBlindly() {
        for text in [
            "", "urn:uuid:", "urn:uuid:ffffffff-ffff-4fff-bfff-fffffffffff",
            "urn:uuid:ffffffff-ffff-4fff-bfff-fffffffffffg",
            "urn:uuid:ffffffffffff-4fff-bfff-ffffffffffff-", "uuid:ffffffff-ffff-4fff-bfff-ffffffffffff",
            "urn:uuid:ffffffff-ffff-4fff-bfff-ffffffffff>\r",
        ] { XCTAssertFalse(isInstanceID(ByteString(utf8Of: text)), text) }
    }
}
