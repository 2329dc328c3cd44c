// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import KioskEngine

/// What the start of the board has to say.
final class BootNotesTests: XCTestCase {
    private func notes(_ text: String) -> BootNotes { BootNotes(Array(text.utf8)) }

    func testEachWordIsAFaultOfItsOwnCode() {
        for (word, code) in [
            ("safe", "CB-BOOT-SAFE"), ("boot-lost", "CB-BOOT-LOST"), ("boot-readonly", "CB-BOOT-FULL"),
            ("boot-full", "CB-BOOT-FULL"), ("data-lost", "CB-DAT-LOST"), ("data-none", "CB-DAT-NONE"),
            ("no-clock", "CB-CLK-NONE"),
        ] {
            let notes = self.notes(word + "\n")
            XCTAssertEqual(notes.isSafe, word == "safe")
            XCTAssertEqual(notes.reports.map { $0.family.fault.code.string }, [code], word)
            let complaint = notes.reports.first?.complaint?.string ?? ""
            XCTAssertTrue(complaint.hasPrefix(code + ": "), complaint)
        }
    }

    func testWhatIsNoWordOfOursIsLeftOut() {
        XCTAssertEqual(self.notes(""), self.notes("\n\nsafer\nSAFE\nboot-\n\u{0}\u{FF}safe x\n"))
        XCTAssertEqual(BootNotes([0xFF, 0x0A, 0x80]).reports, [])
        let many = self.notes(String(repeating: "boot-full\nboot-readonly\r\nsafe", count: 50))
        XCTAssertEqual(many.reports.map { $0.family }, [.bootWrite, .safeMode], "each fault once")
    }

    func testTheyStandOnTheScreenInEventsAndInTheDoctorsWords() {
        let scene = Scene()
        scene.forget()
        for report in self.notes("safe\nno-clock\n").reports { scene.feed(.device(report)) }
        XCTAssertEqual(scene.events("fault").map { $0["fault_code"] as? String }, ["CB-BOOT-SAFE", "CB-CLK-NONE"])
        XCTAssertTrue(scene.screen?.banner.string.contains("Safe mode: the board did not come up") ?? false)
        XCTAssertEqual(scene.kiosk.complaints.count, 2)
        scene.feed(.device(.restored(.clock)))
        XCTAssertEqual(scene.kiosk.complaints.count, 1, "the time came; how the board started does not change")
    }

    func testSafeModeCallsWithoutCameraAndServersForWays() {
        var configuration = Configuration()
        configuration.ice.use = .on
        let safe = configuration.forSafeMode
        XCTAssertEqual(safe.camera.device, .none)
        XCTAssertEqual(safe.ice.use, .off)
        XCTAssertEqual(safe.call, configuration.call)
    }
}
