// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import KioskEngine
import XCTest

@testable import Display

/// What the screen counts by itself, and how often it has to look.
final class MomentTests: XCTestCase {
    private let start = Instant(nanoseconds: 5_000_000_000)

    private func moment(_ state: ScreenState, afterMs: Int, time: WallTime? = nil) -> (PageMoment, next: Instant?) {
        Display.moment(of: state, self.start + .milliseconds(afterMs), { time })
    }

    func testAPageThatCountsNothingIsNeverLookedAtAgain() {
        for page in [ScreenPage.card, .image, .black, .mirror, .problems, .health, .dark] {
            var state = ScreenState(headline: "x")
            state.page = page
            let (moment, next) = self.moment(state, afterMs: 0, time: WallTime(hour: 1, minute: 2, second: 3))
            XCTAssertEqual(moment, PageMoment())
            XCTAssertNil(next)
        }
    }

    func testATimerCountsOnceASecondFromTheAnswer() {
        var state = ScreenState()
        state.timer = self.start
        for (afterMs, seconds) in [(0, 0), (999, 0), (1_000, 1), (61_500, 61)] {
            let (moment, next) = self.moment(state, afterMs: afterMs)
            XCTAssertEqual(moment.timerSeconds, seconds)
            XCTAssertEqual(next, self.start + .seconds(seconds + 1))
        }
        XCTAssertEqual(self.moment(state, afterMs: -500).0.timerSeconds, 0, "the clock is read before the answer is")
    }

    func testACountdownEndsWithOne() {
        var state = ScreenState()
        state.countdown = Countdown("Hold on", endsAt: self.start + .seconds(3))
        for (afterMs, seconds, nextMs) in [(0, 3, 1_000), (1, 3, 1_000), (1_000, 2, 2_000), (2_999, 1, 3_000)] {
            let (moment, next) = self.moment(state, afterMs: afterMs)
            XCTAssertEqual(moment.countdownSeconds, seconds, "\(afterMs)")
            XCTAssertEqual(next, self.start + .milliseconds(nextMs), "\(afterMs)")
        }
        let (moment, next) = self.moment(state, afterMs: 4_000)
        XCTAssertEqual(moment.countdownSeconds, 0)
        XCTAssertNil(next)
    }

    func testTheClockIsDrawnOnceAMinuteAndOnlyWhereTheTimeIsKnown() {
        var state = ScreenState()
        state.page = .clock
        let (moment, next) = self.moment(state, afterMs: 0, time: WallTime(hour: 7, minute: 5, second: 40))
        XCTAssertEqual(moment.clock, "7:05")
        XCTAssertEqual(next, self.start + .seconds(20))
        XCTAssertEqual(self.moment(state, afterMs: 0).0.clock, "")
    }

    func testLengthsOfCalls() {
        for (seconds, text) in [(0, "0:00"), (9, "0:09"), (65, "1:05"), (600, "10:00"), (3_725, "1:02:05")] {
            XCTAssertEqual(Page.duration(seconds).string, text)
        }
    }

    /// WCAG 2.2 success criterion 2.3.1 allows three flashes a second; nothing here changes more than once.
    func testNothingIsDrawnMoreThanOnceASecondByItself() {
        var state = ScreenState()
        state.page = .clock
        state.timer = self.start
        state.countdown = Countdown("x", endsAt: self.start + .seconds(60))
        var now = self.start
        var changes = 0
        while now < self.start + .seconds(30) {
            let (_, next) = Display.moment(of: state, now, { WallTime(hour: 1, minute: 1, second: 0) })
            now = next ?? self.start + .seconds(30)
            changes += 1
        }
        XCTAssertLessThanOrEqual(changes, 31)
    }
}

final class OwnPictureTests: XCTestCase {
    private func head(width: UInt32, height: UInt32) -> [UInt8] {
        var head: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
        for number in [width, height] {
            for shift in [24, 16, 8, 0] { head.append(UInt8(number >> UInt32(shift) & 0xFF)) }
        }
        return head
    }

    private func refusal(_ bytes: [UInt8]) -> String? {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("callbox-picture-\(getpid()).png")
        try? Data(bytes).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        do throws(OwnPicture.Refusal) {
            _ = try OwnPicture.read(ByteString(utf8Of: path.path))
            return nil
        } catch {
            return error.reason.string
        }
    }

    func testWhatIsNoPictureIsRefusedWithAReason() {
        XCTAssertEqual(self.refusal([]), "it is no PNG picture")
        XCTAssertEqual(self.refusal(Array("GIF89a and so on, longer than a head".utf8)), "it is no PNG picture")
        XCTAssertEqual(self.refusal(self.head(width: 100, height: 100)), "the file is damaged")
        XCTAssertEqual(
            self.refusal(self.head(width: 100, height: 100) + [UInt8](repeating: 7, count: 5_000)),
            "the file is damaged")
        let size = "the picture has more than 3840x2160 pixels"
        for (width, height) in [(0, 10), (4_097, 10), (4_096, 4_096), (0x7FFF_FFFF, 0x7FFF_FFFF)] as [(UInt32, UInt32)]
        {
            XCTAssertEqual(self.refusal(self.head(width: width, height: height)), size)
        }
        XCTAssertEqual(self.refusal(self.head(width: 0xFFFF_FFFF, height: 1)), "it is no PNG picture")
        XCTAssertThrowsError(try OwnPicture.read("/nonexistent/picture.png"))
        XCTAssertThrowsError(try OwnPicture.read("/dev"))
    }

    func testALargeFileIsRefusedBeforeItIsRead() {
        let bytes = self.head(width: 100, height: 100) + [UInt8](repeating: 0, count: OwnPicture.fileBytesMax)
        XCTAssertEqual(self.refusal(bytes), "the file is larger than 8 MB")
    }
}

final class FontTests: XCTestCase {
    /// The fonts that the image brings, and the virtual board has.
    func testEveryLanguageCanBeWritten() {
        for language in Language.all { XCTAssertTrue(Fonts.canWrite(language.sample, in: language), "\(language)") }
    }

    func testLettersOfNoFontAreNoticed() {
        // A character of a private use area is in no font.
        XCTAssertFalse(Fonts.canWrite(ByteString(utf8Of: "\u{F8F0}"), in: .english))
    }
}
