// SPDX-License-Identifier: Apache-2.0
import Bytes

/// The copy of the last configuration file in which nothing was wrong, as the data folder keeps it: the file byte for
/// byte under a line with its checksum, so that what a dying card makes of it is noticed.
public enum LastGoodFile {
    public static let fileBytesMax = ConfigurationText.fileBytesMax + 64
    private static let head: ByteString = "# The last good callbox.conf, "

    public static func sealed(_ file: [UInt8]) -> [UInt8] {
        self.line(file).bytes + file
    }

    /// Nil where it is not whole.
    public static func opened(_ stored: [UInt8]) -> [UInt8]? {
        guard let end = stored.firstIndex(of: ASCII.lineFeed) else { return nil }
        let file = Array(stored[(end + 1)...])
        return self.line(file).bytes == Array(stored[...end]) ? file : nil
    }

    private static func line(_ file: [UInt8]) -> ByteString {
        var line = self.head
        line.append(hex: UInt64(self.checksum(file)), width: 8)
        return line + "\n"
    }

    /// CRC-32 as in ISO 3309, bit by bit: a file is short and read once.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var rest = UInt32.max
        for byte in bytes {
            rest ^= UInt32(byte)
            for _ in 0..<8 { rest = rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
        }
        return ~rest
    }
}

extension ConfigurationProblem.Kind {
    /// Whether a file with such a problem is no example for later ones.
    var spoilsFile: Bool {
        switch self {
        case .file, .line, .section, .key, .value, .missing: return true
        // The first value counts; what is named may come back.
        case .twice, .opening: return false
        }
    }

    /// Whether settings may be missing from the file that its writer believes to be there.
    var losesLines: Bool {
        switch self {
        case .file, .line, .section, .key, .missing: return true
        case .value, .twice, .opening: return false
        }
    }
}

extension Configuration {
    /// Whether a file that was read with these problems is worth keeping.
    public static func isGood(_ problems: [ConfigurationProblem]) -> Bool {
        !problems.contains { $0.kind.spoilsFile }
    }
}
