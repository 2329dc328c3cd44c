// SPDX-License-Identifier: Apache-2.0
import Bytes
import Foundation
import XCTest

@testable import KioskEngine

/// The sample file and the reference say what the program does.
final class ConfigurationDocumentTests: XCTestCase {
    private static let top = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func read(_ path: String) throws -> String {
        try String(contentsOf: Self.top.appendingPathComponent(path), encoding: .utf8)
    }

    /// `#key = value` without the `#`; other comments stay.
    private func uncommented(_ sample: String) -> String {
        let lines = sample.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard line.hasPrefix("#"), !line.hasPrefix("# "), line.contains("=") else { return String(line) }
            return String(line.dropFirst())
        }
        return lines.joined(separator: "\n")
    }

    func testTheSampleAsShippedLacksOnlyTheAddress() throws {
        let (conf, problems) = Configuration.parse(
            Array(try self.read("rootfs-overlay/boot/callbox/callbox.conf").utf8))
        XCTAssertEqual(problems.map { $0.sentence.string }, ["[call] uri: missing: the call button has nobody to call"])
        XCTAssertEqual(conf, Configuration())
    }

    func testTheSampleShowsEveryKeyWithItsDefault() throws {
        let sample = self.uncommented(try self.read("rootfs-overlay/boot/callbox/callbox.conf"))
        let (conf, problems) = Configuration.parse(Array(sample.utf8))
        XCTAssertEqual(problems.map { $0.sentence.string }, [])
        var expected = Configuration()
        expected.call.uri = conf.call.uri
        for index in expected.accounts.indices { expected.accounts[index].uri = conf.accounts[index].uri }
        XCTAssertEqual(conf, expected)
        let keys = sample.split(separator: "\n").filter { !$0.hasPrefix("#") && $0.contains("=") }
        XCTAssertEqual(keys.count, ConfigurationSetting.all.count)
    }

    func testTheReferenceHasARowForEachKeyWithTheDefaultThatTheProgramNames() throws {
        let rows = try self.read("docs/callbox.conf.md").split(separator: "\n").filter { $0.hasPrefix("| `") }
        let cells = rows.map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
        }
        XCTAssertEqual(
            cells.map { "\($0[0]) \($0[1])" },
            ConfigurationSetting.all.map { "\($0.section.string) \($0.key.string)" })
        for (row, setting) in zip(cells, ConfigurationSetting.all) where setting.key != "line" && setting.key != "uri" {
            XCTAssertEqual(row[2], setting.standard.string, "[\(row[0])] \(row[1])")
        }
    }

    func testTheDefaultsInWordsAreTheDefaults() throws {
        for setting in ConfigurationSetting.all where setting.key != "line" && setting.key != "uri" {
            var conf = Configuration()
            try setting.apply(setting.standard, &conf)
            conf.call.uri = nil
            XCTAssertEqual(conf, Configuration(), "[\(setting.section.string)] \(setting.key.string)")
        }
    }
}
