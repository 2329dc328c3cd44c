// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import KioskEngine

/// What holds in every language.
final class TextsTests: XCTestCase {
    /// All words of a language with their names.
    private func words(_ language: Language) -> [(name: String, text: String)] {
        let texts = Texts.of(language)
        var found: [(String, String)] = []
        for child in Mirror(reflecting: texts).children { self.collect(child.value, child.label ?? "", &found) }
        return found
    }

    private func collect(_ value: Any, _ name: String, _ found: inout [(String, String)]) {
        if let text = value as? ByteString { return found.append((name, text.string)) }
        for child in Mirror(reflecting: value).children {
            self.collect(child.value, "\(name).\(child.label ?? "")", &found)
        }
    }

    func testEveryLanguageHasWordsOfItsOwn() {
        let english = self.words(.english)
        XCTAssertGreaterThan(english.count, 100)
        for language in Language.all where language != .english {
            let words = self.words(language)
            XCTAssertEqual(words.map { $0.name }, english.map { $0.name })
            // Where the name stands in a sentence is a matter of the language.
            for (own, other) in zip(words, english) where !own.name.hasSuffix("before") && !own.name.hasSuffix("after")
            {
                XCTAssertEqual(own.text.isEmpty, other.text.isEmpty, own.name)
            }
            // "Message" is French too.
            let same = zip(words, english).filter { $0.text == $1.text && $0.text.count > 1 }
            XCTAssertLessThanOrEqual(same.count, 1, "\(language) \(same)")
        }
    }

    func testAllTextsArePlainUTF8WithoutDigits() {
        for language in Language.all {
            for (name, text) in self.words(language) {
                XCTAssertTrue(UTF8Text.isPlain(ByteString(utf8Of: text).bytes[...]), "\(language) \(name)")
                XCTAssertNil(text.rangeOfCharacter(from: .decimalDigits), "\(language) \(name)")
            }
        }
    }

    /// They are read from afar, in large type.
    func testHeadlinesAndButtonsAreShort() {
        for language in Language.all {
            for (name, text) in self.words(language) {
                if name.hasSuffix("headline") { XCTAssertLessThan(text.count, 24, text) }
                if name.hasPrefix("buttons") { XCTAssertLessThan(text.count, 18, text) }
                if name.hasSuffix("detail"), !text.isEmpty {
                    XCTAssertTrue([".", "。"].contains(String(text.suffix(1))), text)
                }
            }
        }
    }

    func testCodesOfLanguages() {
        for language in Language.all { XCTAssertEqual(Language(code: language.code), language) }
        XCTAssertNil(Language(code: "xx"))
        XCTAssertEqual(Language.all.filter { $0.isRightToLeft }, [.arabic])
    }

    func testTheButtonGoesRoundAmongThoseOfferedAndTheFirst() {
        var settings = LanguageSettings()
        XCTAssertEqual(settings.next(after: .english), .english, "there is no other")
        settings.offered = [.german, .english, .arabic]
        XCTAssertEqual(settings.next(after: .english), .german)
        XCTAssertEqual(settings.next(after: .german), .arabic)
        XCTAssertEqual(settings.next(after: .arabic), .english)
        XCTAssertEqual(settings.next(after: .chinese), .english, "it is not offered any more")
    }
}
