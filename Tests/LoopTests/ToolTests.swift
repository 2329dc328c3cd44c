// SPDX-License-Identifier: Apache-2.0

import Bytes
import Loop
import XCTest

/// Programs that are waited for, and threads that show that they live.
final class ToolTests: XCTestCase {
    func testWordsAreArgumentsAndNotRead() {
        let (status, output) = Tool.run(["printf", "%s|", "a b", "$(id)", "'\"", ";"])
        XCTAssertEqual(status, 0)
        XCTAssertEqual(output, "a b|$(id)|'\"|;|")
    }

    func testHowItEnded() {
        XCTAssertEqual(Tool.run(["true"]).status, 0)
        XCTAssertEqual(Tool.run(["sh", "-c", "exit 7"]).status, 7)
        XCTAssertEqual(Tool.run(["sh", "-c", "kill -9 $$"]).status, -1)
        XCTAssertNotEqual(Tool.run(["no-such-program-anywhere"]).status, 0)
        XCTAssertEqual(Tool.run([]).status, -1)
        XCTAssertEqual(Tool.run(["sh", "-c", "exit 3"], isHeard: true).status, 3)
    }

    func testWhatIsTooMuchIsCutAndKeepsNobodyWaiting() {
        let (status, output) = Tool.run(["sh", "-c", "yes | head -c 1000000; exit 5"])
        XCTAssertEqual(status, 5)
        XCTAssertEqual(output.count, Tool.outputMax)
    }

    func testWhatIsInThePath() {
        XCTAssertTrue(Tool.isInPath("sh"))
        XCTAssertFalse(Tool.isInPath("no-such-program-anywhere"))
    }

    func testANudgeWakesWhoeverTakesOutAndItsTurnsAreCounted() {
        let mailbox = Mailbox<Int>(capacity: 2)
        XCTAssertEqual(mailbox.turns, 0)
        mailbox.nudge()
        mailbox.nudge()
        let begin = Clock.now()
        mailbox.wait(limit: .seconds(10))
        XCTAssertLessThan((Clock.now() - begin).milliseconds, 5_000)
        XCTAssertNil(mailbox.take())
        XCTAssertEqual(mailbox.turns, 1)
    }
}
