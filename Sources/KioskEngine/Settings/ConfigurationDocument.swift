// SPDX-License-Identifier: Apache-2.0
import Bytes

/// The table of settings as text for people.
public enum ConfigurationDocument {
    // MARK: - docs/configuration.md

    /// A heading, a sentence and a table for each section, as Markdown.
    static var reference: ByteString {
        var text = ByteString()
        for section in ConfigurationSection.all where !self.isRepetition(section) {
            let names = ([section] + self.repetitions(of: section)).map { "`[" + $0.name + "]`" }
            text += "### " + ConfigurationValue.joined(names) + "\n\n" + self.onOneLine(section.meaning) + "\n\n"
            text += section.like.map { self.keysLike($0, of: section) } ?? self.table(section.settings)
        }
        return text
    }

    private static func table(_ settings: [ConfigurationSetting]) -> ByteString {
        var text: ByteString = "| Key | Default | Meaning |\n| --- | --- | --- |\n"
        for setting in settings {
            let standard = setting.standard.isEmpty ? "" : "`" + setting.standard + "`"
            text += "| `" + setting.key + "` | " + standard + " | " + self.onOneLine(setting.meaning) + " |\n"
        }
        return text + "\n"
    }

    private static func keysLike(_ like: ByteString, of section: ConfigurationSection) -> ByteString {
        let keys = ConfigurationValue.joined(section.settings.map { "`" + $0.key + "`" })
        return "Keys: " + keys + ", as in `[" + like + "]`.\n\n"
    }

    // MARK: - The sample

    /// A whole `callbox.conf` in which every key stands behind a `#` with its default.
    public static var sample: ByteString {
        var text: ByteString = """
            # SPDX-License-Identifier: Apache-2.0
            #
            # The settings of this help point. Only the address to call has to be set; every other line shows its
            # default. Remove the # at the beginning of a line to change it. Any text editor will do.
            #
            # What is wrong with the file is shown on the screen of the help point, and written beside it into
            # callbox-report.txt. On a PC, "callbox check callbox.conf" says the same.

            """
        for section in ConfigurationSection.all where !self.isRepetition(section) {
            text += "\n" + self.comment(section.meaning)
            let others = self.repetitions(of: section).map { "[" + $0.name + "]" }
            if !others.isEmpty { text += "# The same keys in " + ConfigurationValue.joined(others) + ".\n" }
            text += "\n[" + section.name + "]\n"
            for setting in section.settings {
                if section.like == nil { text += self.comment(setting.meaning) }
                text += "#" + setting.key + " =" + (setting.example.isEmpty ? "" : " " + setting.example) + "\n"
            }
        }
        return text
    }

    private static let columnsMax = 118

    /// Lines that begin with `#`, without the backticks.
    private static func comment(_ meaning: StaticString) -> ByteString {
        var text = ByteString()
        var line: ByteString = "#"
        for word in self.onOneLine(meaning).split(on: ASCII.space) {
            let word = ByteString(word.bytes.filter { $0 != UInt8(ascii: "`") })
            if line.count + 1 + word.count > self.columnsMax {
                text += line + "\n"
                line = "#"
            }
            line += " " + word
        }
        return text + line + "\n"
    }

    // MARK: - Both

    /// A section that says nothing new: one more account, one more button that calls.
    private static func isRepetition(_ section: ConfigurationSection) -> Bool {
        section.like.map { like in
            ConfigurationSection.all.contains { $0.name == like && self.repeats(section, $0) }
        } ?? false
    }

    private static func repetitions(of section: ConfigurationSection) -> [ConfigurationSection] {
        ConfigurationSection.all.filter { $0.like == section.name && self.repeats($0, section) }
    }

    private static func repeats(_ one: ConfigurationSection, _ other: ConfigurationSection) -> Bool {
        ByteString(one.meaning) == ByteString(other.meaning)
    }

    private static func onOneLine(_ meaning: StaticString) -> ByteString {
        ByteString(ByteString(meaning).bytes.map { $0 == ASCII.lineFeed ? ASCII.space : $0 })
    }
}
