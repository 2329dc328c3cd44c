// SPDX-License-Identifier: Apache-2.0
import Bytes

/// `[screen]`, and `[screen.de]` … for single languages.
public struct ScreenSettings: Equatable, Sendable {
    /// What is on the screen while nobody calls.
    public enum Idle: Sendable {
        case text
        case clock
        case image
        case black
        case selfView
    }

    /// The owner's words for the idle screen; empty for our own.
    struct Words: Equatable, Sendable {
        var headline = ByteString()
        var detail = ByteString()
    }

    public var idle = Idle.text
    /// A PNG file; nil for none.
    public var image: ByteString?
    /// How long after the last press or call the screen goes dark; nil for never.
    public var blankAfterMs: Int?
    var words = Words()
    /// By `Language.rawValue`.
    var wordsByLanguage = [Words](repeating: Words(), count: Language.all.count)

    /// Whether all but words is the same.
    func hasSameGeneralKeys(as other: ScreenSettings) -> Bool {
        self.idle == other.idle && self.image == other.image && self.blankAfterMs == other.blankAfterMs
    }

    /// The owner's words in a language, those for all where there are none, our own where there are none either.
    func idleCard(_ phrase: Phrase, in language: Language) -> Card {
        let own = self.wordsByLanguage[Int(language.rawValue)]
        let headline = own.headline.isEmpty ? self.words.headline : own.headline
        let detail = own.detail.isEmpty ? self.words.detail : own.detail
        return Card(
            headline.isEmpty ? phrase.headline : headline, detail.isEmpty ? phrase.detail : detail, .handset)
    }
}
