// SPDX-License-Identifier: Apache-2.0
import Bytes
import Foundation
import XCTest

@testable import KioskEngine

/// The sample file and the reference are what the table makes. `board/document` writes them.
final class ConfigurationDocumentTests: XCTestCase {
    private static let sample = "rootfs-overlay/boot/callbox/callbox.conf"

    func testTheReferenceIsWhatTheTableMakes() throws {
        try Documents.check("docs/configuration.md", ConfigurationDocument.reference.string)
    }

    func testTheSampleIsWhatTheTableMakes() throws {
        try Documents.check(whole: Self.sample, ConfigurationDocument.sample.string)
    }

    /// `#key = value` without the `#`; other comments stay.
    private func uncommented(_ sample: String) -> String {
        let lines = sample.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard line.hasPrefix("#"), !line.hasPrefix("# "), line.contains("=") else { return String(line) }
            return String(line.dropFirst())
        }
        return lines.joined(separator: "\n")
    }

    func testTheSampleAsShippedLacksOnlyTheAddress() {
        let (conf, problems) = Configuration.parse(ConfigurationDocument.sample.bytes)
        XCTAssertEqual(problems.map { $0.sentence.string }, ["[call] uri: missing: the call button has nobody to call"])
        XCTAssertEqual(conf, Configuration())
    }

    func testTheSampleShowsEveryKeyWithItsDefault() {
        let sample = self.uncommented(ConfigurationDocument.sample.string)
        let (conf, problems) = Configuration.parse(Array(sample.utf8))
        XCTAssertEqual(problems.map { $0.sentence.string }, [])
        var expected = Configuration()
        expected.call.uri = conf.call.uri
        for index in expected.accounts.indices { expected.accounts[index].uri = conf.accounts[index].uri }
        XCTAssertEqual(conf, expected)
        for section in ConfigurationSection.all where section.like == nil {
            XCTAssertTrue(sample.contains("\n[\(section.name.string)]\n"), section.name.string)
            for setting in section.settings { XCTAssertTrue(sample.contains("\n\(setting.key.string) ="), sample) }
        }
    }

    func testTheDefaultsInWordsAreTheDefaults() throws {
        for setting in ConfigurationSetting.all where !setting.standard.isEmpty {
            var conf = Configuration()
            try setting.apply(setting.standard, &conf)
            XCTAssertEqual(conf, Configuration(), "[\(setting.section.string)] \(setting.key.string)")
        }
    }

    func testEachKeyIsThereOnceAndTellsWhatItMeans() {
        let names = ConfigurationSetting.all.map { "[\($0.section.string)] \($0.key.string)" }
        XCTAssertEqual(Set(names).count, names.count)
        for setting in ConfigurationSetting.all {
            let meaning = ByteString(setting.meaning).string
            XCTAssertTrue(meaning.hasSuffix("."), "[\(setting.section.string)] \(setting.key.string): \(meaning)")
            XCTAssertFalse(meaning.contains("|"), "a table is made of it: \(meaning)")
        }
    }
}
