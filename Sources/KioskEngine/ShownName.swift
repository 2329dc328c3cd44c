// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// What a far end calls itself, as people may see it.
enum ShownName {
    static let bytesMax = 48

    /// The display name, else the user part, in characters that can be shown; empty where neither says anything.
    static func text(of party: NameAddr) -> ByteString {
        let given = party.displayName.trimmed()
        let name = given.isEmpty ? party.uri.sip?.decodedUser ?? ByteString() : given
        return UTF8Text.displayable(name, bytesMax: self.bytesMax)
    }
}
