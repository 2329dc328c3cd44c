// SPDX-License-Identifier: Apache-2.0

import Bytes
import CTLS
import XCTest

@testable import Secure

final class OpenSSLTests: XCTestCase {
    func testTextIsCutAndErrorsAreForgotten() {
        XCTAssertEqual(OpenSSL.text(countMax: 3) { BIO_write($0, "abcdef", 6) }, "abc")
        XCTAssertEqual(OpenSSL.takeError("nothing"), "nothing")
    }
}
