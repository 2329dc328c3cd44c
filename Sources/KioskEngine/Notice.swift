// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// A text of a far end's on the screen.
struct Notice: Equatable {
    var name: ByteString
    var text: ByteString
    /// Shown until then.
    var until: Instant

    /// Bytes that fit on the screen in a size that can be read from afar.
    static let textBytesMax = 400
    static let shownMs = 60_000

    init(_ message: IncomingMessage, now: Instant) {
        self.name = ShownName.text(of: message.from)
        // Lines are the screen's own.
        let text = message.text.bytes.map { ASCII.isBlank($0) || $0 < ASCII.space ? ASCII.space : $0 }
        self.text = UTF8Text.displayable(ByteString(text).trimmed(), bytesMax: Self.textBytesMax)
        self.until = now + .milliseconds(Self.shownMs)
    }
}
