// SPDX-License-Identifier: Apache-2.0
import Bytes

/// One thing that is wrong with a configuration file. The value in question has its default instead.
public struct ConfigurationProblem: Equatable, Sendable {
    /// From 1; 0 for what is missing from the file as a whole.
    public var line: Int
    /// Without brackets; empty before the first section.
    public var section: ByteString
    /// Empty where the problem is not about one key.
    public var key: ByteString
    public var kind: Kind
    /// What is wrong, without the place; no full stop.
    public var reason: ByteString
    /// For an unknown key or section: the known one that is most like it.
    public var nearest: ByteString?

    /// What kind of thing is wrong; decides the code in events and in `docs/errors.md`.
    public enum Kind: Sendable {
        /// The file as a whole.
        case file
        /// A line that makes no sense.
        case line
        /// An unknown section.
        case section
        /// A key that is unknown, or not known in this section.
        case key
        case value
        /// A key for the second time.
        case twice
        /// The address to call is not there.
        case missing
        /// What a value names cannot be opened.
        case opening
    }

    public init(
        _ kind: Kind, line: Int = 0, section: ByteString = "", key: ByteString = "", reason: ByteString,
        nearest: ByteString? = nil
    ) {
        self.kind = kind
        self.line = line
        self.section = section
        self.key = key
        self.reason = reason
        self.nearest = nearest
    }

    /// The reason with the suggestion: `unknown key; the nearest known key is "uri"`.
    public var text: ByteString {
        guard let nearest = self.nearest else { return self.reason }
        let what: ByteString = self.key.isEmpty ? "section" : "key"
        return self.reason + "; the nearest known " + what + " is \"" + nearest + "\""
    }

    /// The whole, for a person: `line 3, [call] urii: unknown key; the nearest known key is "uri"`.
    public var sentence: ByteString {
        var place = ByteString()
        if self.line > 0 { place = "line " + ByteString(decimal: self.line) }
        var subject = ByteString()
        if !self.section.isEmpty { subject = "[" + self.section + "]" }
        if !self.key.isEmpty { subject += (subject.isEmpty ? "" : " ") + self.key }
        if !place.isEmpty && !subject.isEmpty { place += ", " }
        let head = place + subject
        return head.isEmpty ? self.text : head + ": " + self.text
    }
}

/// Likeness of names, for suggestions.
enum Nearest {
    /// Longer names are not compared: what is so long is not a slip of the finger.
    static let nameBytesMax = 64

    /// The candidate with the fewest edits, the earlier one of equals; nil where none has anything in common with
    /// `name`.
    static func name(to name: ByteString, among candidates: [ByteString]) -> ByteString? {
        guard !name.isEmpty, name.count <= self.nameBytesMax else { return nil }
        let folded = name.lowercasedASCII()
        var best: (ByteString, Int)?
        for candidate in candidates {
            let edits = self.distance(folded, candidate)
            if edits < max(folded.count, candidate.count), edits < best?.1 ?? Int.max { best = (candidate, edits) }
        }
        return best?.0
    }

    /// Insertions, deletions, replacements and swaps of neighbours that lead from one name to the other (optimal string
    /// alignment), in bytes.
    static func distance(_ left: ByteString, _ right: ByteString) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let isSame = left.bytes[row] == right.bytes[column]
                var edits = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left.bytes[row] == right.bytes[column - 1],
                    left.bytes[row - 1] == right.bytes[column]
                {
                    edits = min(edits, beforeLast[column - 1] + 1)
                }
                current.append(edits)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
