// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import KioskEngine

/// A file that is no good calls whom the last good one called.
final class ConfigurationLastGoodTests: XCTestCase {
    private static let good = """
        [call]
        uri = sip:good@192.0.2.1
        ring_timeout = 33
        [button.call]
        line = panel-call
        [button.hook]
        line = panel-hook
        [camera]
        fps = 7
        [sip]
        password = hush
        """

    private func parse(_ file: [UInt8]) -> (Configuration, [String]) {
        let (configuration, problems) = Configuration.parse(file, lastGood: Array(Self.good.utf8))
        return (configuration, problems.map { $0.sentence.string })
    }

    private func parse(_ text: String) -> (Configuration, [String]) { self.parse(Array(text.utf8)) }

    func testFilesOfNoUseAreReplacedByTheLastGoodOneAndSaySo() {
        var generator = Generator(seed: 7)
        let noise = (0..<3000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        let files: [(String, [UInt8])] = [
            ("empty", []), ("blanks", Array("\r\n\r\n  \r\n".utf8)), ("binary", noise),
            ("zeros", [UInt8](repeating: 0, count: 4096)), ("half", Array("[call]\nuri".utf8)),
            ("huge", [UInt8](repeating: 0x41, count: 10_000_000)), ("picture", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A]),
            ("half UTF-16", [0xFF, 0xFE, 0x5B, 0x00, 0x63]), ("web page", Array("<html><body>404</body></html>".utf8)),
        ]
        for (name, file) in files {
            let (configuration, problems) = self.parse(file)
            XCTAssertEqual(configuration.call.uri?.printed, "sip:good@192.0.2.1", name)
            XCTAssertEqual(configuration[.call].line?.text, "panel-call", name)
            XCTAssertEqual(configuration[.hook].line?.text, "panel-hook", name)
            XCTAssertEqual(configuration.camera.fps, 7, name)
            XCTAssertTrue(problems.contains("what the file does not say is taken from the last good one"), name)
            let called = "\"sip:good@192.0.2.1\" of the last good file is called"
            XCTAssertTrue(problems.contains { $0.contains(called) }, name)
        }
    }

    func testABrokenValueHasThatOfTheLastGoodFile() {
        let (configuration, problems) = self.parse(
            "[call]\nuri = http://help\nring_timeout = soon\nmedia_timeout = 0\n[button.call]\nline = 17\n")
        XCTAssertEqual(configuration.call.uri?.printed, "sip:good@192.0.2.1")
        XCTAssertEqual(configuration.call.ringTimeoutMs, 33_000)
        XCTAssertEqual(configuration.call.mediaTimeoutMs, 10_000)
        XCTAssertEqual(configuration[.call].line?.text, "panel-call")
        XCTAssertTrue(problems[1].hasSuffix("; \"33\" of the last good file is used"), problems[1])
        XCTAssertTrue(problems[2].hasSuffix("; 10 is used"), problems[2])
    }

    func testANameThatIsInNoDomainIsReplacedToo() {
        let (configuration, problems) = self.parse("[call]\nuri = help\n")
        XCTAssertEqual(configuration.call.uri?.printed, "sip:good@192.0.2.1")
        XCTAssertTrue(problems[0].hasSuffix("\"sip:good@192.0.2.1\" of the last good file is used"), problems[0])
    }

    /// Nothing is wrong with it, so its writer means what is there and what is not.
    func testAGoodFileTakesNothingFromTheFormerOne() {
        let (configuration, problems) = self.parse("[call]\nuri = sip:new@192.0.2.2\nuri = sip:x@y\n")
        XCTAssertEqual(configuration.call.uri?.printed, "sip:new@192.0.2.2")
        XCTAssertNil(configuration[.call].line)
        XCTAssertEqual(configuration.camera.fps, 30)
        XCTAssertEqual(problems.count, 1)
    }

    func testALineOfTheFormerFileIsNotTakenTwice() {
        let (configuration, _) = self.parse("[call]\nuri = sip:a@b\n[button.hook]\nline = panel-call\nlost words\n")
        XCTAssertEqual(configuration[.hook].line?.text, "panel-call")
        XCTAssertNil(configuration[.call].line)
    }

    func testWhatIsWrongWithTheWholeIsSaidHoweverManyLinesAreWrong() {
        let (_, problems) = self.parse(String(repeating: "words\n", count: 200))
        XCTAssertEqual(problems.count, ConfigurationParser.lineProblemsMax + 2)
        XCTAssertEqual(problems.suffix(2).map { $0.contains("of the last good file is called") }, [true, false])
        XCTAssertEqual(problems.last, "what the file does not say is taken from the last good one")
    }

    func testASecretIsNotRepeated() {
        let (configuration, problems) = self.parse(
            "[call]\nuri = sip:a@b\n[sip]\npassword = \(String(repeating: "x", count: 900))\nlost words")
        XCTAssertEqual(configuration.sip.password, "")
        XCTAssertFalse(problems.contains { $0.contains("hush") || $0.contains("xxx") })
    }

    func testWhichFilesAreGood() {
        let cases: [(String, Bool)] = [
            ("uri = sip:a@b", true), ("uri = sip:a@b\nuri = sip:c@d", true), ("", false), ("uri = help", false),
            ("uri = sip:a@b\nurii = x", false), ("uri = sip:a@b\n[x]", false), ("uri = sip:a@b\nwords", false),
        ]
        for (text, isGood) in cases {
            XCTAssertEqual(Configuration.isGood(Configuration.parse(Array("[call]\n\(text)".utf8)).1), isGood, text)
        }
    }

    // MARK: - The copy

    func testTheCopyIsOpenedWholeOrNotAtAll() {
        for file in [[], Array(Self.good.utf8), [0, 0x0A, 0xFF]] as [[UInt8]] {
            let stored = LastGoodFile.sealed(file)
            XCTAssertEqual(LastGoodFile.opened(stored), file)
            for count in 0..<stored.count { XCTAssertNil(LastGoodFile.opened(Array(stored[..<count])), "\(count)") }
            for index in stored.indices {
                var broken = stored
                broken[index] ^= 0x10
                XCTAssertNil(LastGoodFile.opened(broken), "\(index)")
            }
        }
        XCTAssertNil(LastGoodFile.opened([]))
    }

    // MARK: - Names

    func testNamesThatEditorsMake() {
        let cases: [(names: [ByteString], found: [ByteString])] = [
            (["callbox.conf"], ["callbox.conf"]), (["a", "CALLBOX.CONF"], ["CALLBOX.CONF"]),
            (["callbox.conf.txt"], ["callbox.conf.txt"]), (["Callbox.conf.TXT"], ["Callbox.conf.TXT"]),
            (["callbox.conf.txt", "callbox.conf"], ["callbox.conf", "callbox.conf.txt"]),
            (["callbox.conf.conf"], ["callbox.conf.conf"]),
            (["callbox.conf~", "callbox-report.txt", "callbox.conf.new", "callbox.con", "box.conf"], []), ([], []),
        ]
        for (names, found) in cases {
            XCTAssertEqual(ConfigurationNames.candidates(for: "callbox.conf", among: names), found)
        }
    }
}
