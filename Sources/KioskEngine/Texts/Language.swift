// SPDX-License-Identifier: Apache-2.0
import Bytes

/// A language that the screen speaks.
public enum Language: UInt8, Sendable {
    case english
    case german
    case french
    case spanish
    case arabic
    case chinese

    public static let all: [Language] = [.english, .german, .french, .spanish, .arabic, .chinese]

    /// ISO 639-1, as in the configuration.
    public var code: ByteString {
        switch self {
        case .english: return "en"
        case .german: return "de"
        case .french: return "fr"
        case .spanish: return "es"
        case .arabic: return "ar"
        case .chinese: return "zh"
        }
    }

    public init?(code: ByteString) {
        guard let language = Self.all.first(where: { $0.code == code }) else { return nil }
        self = language
    }

    /// A text that may run the other way, kept together within one of this language: else its signs would go astray
    /// (Unicode Standard Annex 9, section 2.4.2).
    func apart(_ text: ByteString) -> ByteString {
        self.isRightToLeft ? "\u{2068}" + text + "\u{2069}" : text
    }

    public var isRightToLeft: Bool {
        switch self {
        case .arabic: return true
        case .english, .german, .french, .spanish, .chinese: return false
        }
    }
}

/// Which languages the screen speaks: the `[language]` section.
public struct LanguageSettings: Equatable, Sendable {
    /// Spoken until somebody chooses another one, and again when the kiosk has been idle for a while.
    public var first = Language.english
    /// Those that the language button offers, in its order.
    public var offered: [Language] = []

    public init() {}

    /// The one after `language` on the button; the first one is always among them.
    func next(after language: Language) -> Language {
        let all = [self.first] + self.offered.filter { $0 != self.first }
        guard let index = all.firstIndex(of: language) else { return self.first }
        return all[(index + 1) % all.count]
    }
}

extension Language {
    /// Much of what is read on the screen, for whoever has to know whether a font has its letters.
    public var sample: ByteString {
        let texts = Texts.of(self)
        let states = texts.states
        return [
            states.idle, states.ringing, states.queued, states.connecting, states.interrupted, texts.outcomes.busy,
            texts.outcomes.notPrivate, texts.outcomes.unknownHost,
        ].reduce(texts.outcomes.staff) { $0 + $1.headline + " " + $1.detail + "\n" }
    }
}
