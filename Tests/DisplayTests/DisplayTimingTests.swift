// SPDX-License-Identifier: Apache-2.0

import KioskEngine
import XCTest

@testable import Display

/// Modes that no display has told of.
final class DisplayTimingTests: XCTestCase {
    private func mode(_ width: Int, _ height: Int, _ refreshHz: Int) -> ScreenMode {
        ScreenMode(PictureSize(width: width, height: height), refreshHz: refreshHz)
    }

    private func numbers(_ timing: DisplayTiming) -> [Int] {
        [timing.clockKHz]
            + [timing.horizontal, timing.vertical].flatMap { [$0.shown, $0.pulse, $0.pulseEnd, $0.total] }
    }

    func testTelevisionsGetTheirOwnTiming() {
        XCTAssertEqual(
            self.numbers(DisplayTiming(self.mode(1920, 1080, 60))),
            [148_500, 1920, 2008, 2052, 2200, 1080, 1084, 1089, 1125])
        let info = DisplayTiming(self.mode(640, 480, 60)).modeInfo
        XCTAssertEqual(info.clock, 25_175)
        XCTAssertEqual(info.flags, 0b1010, "both pulses go down")
    }

    /// What `cvt -r` of the X.Org project prints for these.
    func testAllOthersAreMadeByVESAsFormula() {
        for (width, height, expected) in [
            (1920, 1080, [138_500, 1920, 1968, 2000, 2080, 1080, 1083, 1088, 1111]),
            (1680, 1050, [119_000, 1680, 1728, 1760, 1840, 1050, 1053, 1059, 1080]),
            (2560, 1440, [241_500, 2560, 2608, 2640, 2720, 1440, 1443, 1448, 1481]),
        ] {
            let timing = DisplayTiming.reducedBlanking(self.mode(width, height, 60))
            XCTAssertEqual(self.numbers(timing), expected)
            XCTAssertTrue(timing.horizontal.isPositive && !timing.vertical.isPositive)
        }
    }

    func testEachListedTimingHasThePaceThatItSays() {
        for (width, height, refresh) in [
            (640, 480, 60), (720, 480, 60), (720, 576, 50), (800, 600, 60), (1024, 768, 60), (1280, 720, 60),
            (1280, 720, 50), (1280, 1024, 60), (1920, 1080, 60), (1920, 1080, 50), (1920, 1080, 30),
            (1920, 1080, 25), (1920, 1080, 24), (3840, 2160, 30), (1366, 768, 60), (800, 480, 60),
            (3840, 2160, 240),
        ] {
            let timing = DisplayTiming(self.mode(width, height, refresh))
            let pace = Double(timing.clockKHz) * 1000 / Double(timing.horizontal.total * timing.vertical.total)
            XCTAssertEqual(pace, Double(refresh), accuracy: Double(refresh) * 0.03, "\(width)x\(height)")
            for axis in [timing.horizontal, timing.vertical] {
                XCTAssertLessThan(axis.shown, axis.pulse)
                XCTAssertLessThan(axis.pulse, axis.pulseEnd)
                XCTAssertLessThan(axis.pulseEnd, axis.total)
            }
        }
    }
}
