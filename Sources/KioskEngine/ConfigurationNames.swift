// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What editors and systems make of the name of the configuration file: Notepad adds `.txt`, which Windows then hides;
/// old FAT drivers write capitals.
public enum ConfigurationNames {
    public static let countMax = 4

    /// Of the names in a folder those that may be meant by `name`, itself first. At most `countMax`.
    public static func candidates(for name: ByteString, among names: [ByteString]) -> [ByteString] {
        var found: [ByteString] = names.contains(name) ? [name] : []
        for meant in [name, name + ".txt", name + ".conf", name + ".conf.txt"] {
            for other in names where other != name && other.equalsIgnoringCase(meant) { found.append(other) }
        }
        return Array(found.prefix(self.countMax))
    }
}
