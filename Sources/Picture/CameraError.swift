// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Why there are no pictures; `text` is a plain sentence for the person who installs the board.
public struct CameraError: Error {
    public enum Kind: Equatable, Sendable {
        /// No such device or file.
        case missing
        /// Another program has it.
        case busy
        /// It is there, but cannot do what is needed.
        case unusable
        /// It went away, or stopped sending, while in use; opening it again may help.
        case lost
    }

    public let kind: Kind
    public let text: ByteString

    init(_ kind: Kind, _ text: ByteString) {
        self.kind = kind
        self.text = text
    }
}
