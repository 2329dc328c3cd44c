// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine

/// The certificates that are known by name: the first that was seen under each, and those that were taken on somebody's
/// word. Kept as a text file, a line each: `seen NAME FINGERPRINT` or `pin NAME FINGERPRINT`.
struct CertificateMemory: Equatable {
    enum Kind: Equatable {
        /// It was the first under its name.
        case seen
        /// The program of `[tls] ask` said so.
        case pin

        fileprivate var word: ByteString {
            switch self {
            case .seen: return "seen"
            case .pin: return "pin"
            }
        }
    }

    struct Entry: Equatable {
        var kind: Kind
        var name: ByteString
        var fingerprint: ByteString
    }

    static let entriesMax = 64
    private(set) var entries: [Entry] = []

    /// Lines that make no sense are passed over.
    init(_ file: [UInt8] = []) {
        for line in ByteString(file).split(on: ASCII.lineFeed) {
            let words = line.split(on: ASCII.space)
            guard words.count == 3, self.entries.count < Self.entriesMax, !words[1].isEmpty,
                let fingerprint = CertificateFingerprint.parse(words[2])
            else { continue }
            if words[0] == Kind.seen.word {
                self.entries.append(Entry(kind: .seen, name: words[1], fingerprint: fingerprint))
            } else if words[0] == Kind.pin.word {
                self.entries.append(Entry(kind: .pin, name: words[1], fingerprint: fingerprint))
            }
        }
    }

    var file: [UInt8] {
        self.entries.reduce(into: ByteString()) { text, entry in
            text += entry.kind.word + " " + entry.name + " " + CertificateFingerprint.printed(entry.fingerprint) + "\n"
        }.bytes
    }

    /// What is remembered of this kind under a name.
    func fingerprint(_ kind: Kind, _ name: ByteString) -> ByteString? {
        self.entries.first { $0.kind == kind && $0.name.equalsIgnoringCase(name) }?.fingerprint
    }

    /// In the place of what was remembered; where there is no room, the oldest is forgotten.
    mutating func remember(_ kind: Kind, _ name: ByteString, _ fingerprint: ByteString) {
        self.entries.removeAll { $0.kind == kind && $0.name.equalsIgnoringCase(name) }
        if self.entries.count >= Self.entriesMax { self.entries.removeFirst() }
        self.entries.append(Entry(kind: kind, name: name.lowercasedASCII(), fingerprint: fingerprint))
    }
}
