// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ConfigurationSection {
    static let screen = ConfigurationSection(
        "screen", "What the screen shows while nobody calls.",
        [
            .init(
                "idle", "text",
                Self.choice([
                    ("text", .text), ("clock", .clock), ("image", .image), ("black", .black), ("self", .selfView),
                ]),
                """
                `text` (what to do, in large letters), `clock` (the same with the time of day), `image` (a picture of
                yours), `black` (nothing, but faults), or `self` (the own camera, as in a mirror).
                """
            ) { $0.screen.idle = $1 },
            .init(
                "image", "none", ConfigurationValue.path,
                """
                Your picture: the whole path of a PNG file of 3840x2160 pixels and 8 MB at most
                (`/boot/callbox/picture.png`).
                """
            ) { $0.screen.image = $1 },
            .init(
                "headline", "none", ConfigurationValue.textOrNone,
                "In place of \"Press to call\", in every language. A section for one language goes before this."
            ) { $0.screen.words.headline = $1 },
            .init(
                "detail", "none", ConfigurationValue.textOrNone, "In place of the sentence below it."
            ) { $0.screen.words.detail = $1 },
            .init(
                "blank_after", "never", ConfigurationValue.secondsOrNever,
                "Seconds after the last press or call until the screen goes dark, 5 to 86400, or `never`."
            ) { $0.screen.blankAfterMs = $1 },
        ])

    static let screens: [ConfigurationSection] = Language.all.map { language in
        let index = Int(language.rawValue)
        return ConfigurationSection(
            "screen." + language.code, like: "screen", "Your words for one language.",
            [
                .init("headline", "none", ConfigurationValue.textOrNone, "As in `[screen]`.") {
                    $0.screen.wordsByLanguage[index].headline = $1
                },
                .init("detail", "none", ConfigurationValue.textOrNone, "As in `[screen]`.") {
                    $0.screen.wordsByLanguage[index].detail = $1
                },
            ])
    }

    static let language = ConfigurationSection(
        "language", "What the screen speaks: `en`, `de`, `fr`, `es`, `ar` or `zh`.",
        [
            .init(
                "first", "en", ConfigurationValue.language,
                "Spoken until somebody chooses another one, and again a minute after that call."
            ) { $0.language.first = $1 },
            .init(
                "offered", "none", ConfigurationValue.languages,
                "Those that the language button goes through, with commas between them (`en, de`)."
            ) { $0.language.offered = $1 },
        ])
}

extension ConfigurationValue {
    static func language(_ text: ByteString) throws(BadValue) -> Language {
        if let language = Language(code: text.lowercasedASCII()) { return language }
        throw BadValue(self.quoted(text) + " is not one of " + self.joined(Language.all.map { $0.code }))
    }

    /// Each once; `none` for none.
    static func languages(_ text: ByteString) throws(BadValue) -> [Language] {
        if text.equalsIgnoringCase("none") { return [] }
        var languages: [Language] = []
        for part in text.bytes.split(separator: UInt8(ascii: ",")) {
            let language = try self.language(ByteString(trimming: part))
            if !languages.contains(language) { languages.append(language) }
        }
        return languages
    }

    /// In milliseconds; nil for `never`.
    static func secondsOrNever(_ text: ByteString) throws(BadValue) -> Int? {
        if text.equalsIgnoringCase("never") { return nil }
        return try self.number(text, 5...86_400, unit: "seconds") * 1000
    }
}
