// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// Another program, that is started with words of its own and waited for.
public enum Tool {
    public static let outputMax = 64 * 1024

    /// - Parameters:
    ///   - words: the program, which is looked for in PATH, and its arguments; no shell reads them.
    ///   - isHeard: what it says goes where ours goes, and not into `output`.
    /// - Returns: its exit status (-1: it could not be started, or a signal ended it), and what it said, cut.
    public static func run(_ words: [ByteString], isHeard: Bool = false) -> (status: Int32, output: ByteString) {
        let joined = words.reduce(into: [UInt8]()) { $0 += $1.bytes + [0] }
        var output = [UInt8](repeating: 0, count: isHeard ? 0 : self.outputMax)
        var count = 0
        let status = joined.withUnsafeBytes { words in
            output.withUnsafeMutableBytes {
                callbox_command(words.baseAddress, words.count, $0.baseAddress, $0.count, &count)
            }
        }
        return (status, ByteString(output[..<min(count, output.count)]))
    }

    /// Whether there is a program of that name.
    public static func isInPath(_ name: ByteString) -> Bool {
        guard let path = getenv("PATH") else { return false }
        return ByteString(cString: path).split(on: ASCII.colon).contains { folder in
            (folder + "/" + name).withCString { access($0, X_OK) } == 0
        }
    }
}
