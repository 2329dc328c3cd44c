// SPDX-License-Identifier: Apache-2.0

import Bytes
import CTLS

/// What the other files of this folder share of OpenSSL.
enum OpenSSL {
    /// The oldest error of this thread in OpenSSL's words, and all later ones forgotten; `fallback` where there is none.
    static func takeError(_ fallback: ByteString) -> ByteString {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return fallback }
        let reason = ByteString(cString: ERR_reason_error_string(code))
        return reason.isEmpty ? fallback : reason
    }

    /// Takes all that a memory BIO holds.
    static func drain(_ bio: OpaquePointer?) -> [UInt8] {
        let count = BIO_ctrl_pending(bio)
        guard count > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = bytes.withUnsafeMutableBytes { BIO_read(bio, $0.baseAddress, Int32(clamping: $0.count)) }
        return Array(bytes.prefix(max(0, Int(read))))
    }

    /// What `write` puts into a BIO, at most `countMax` bytes of it.
    static func text(countMax: Int, _ write: (OpaquePointer) -> Void) -> ByteString {
        guard let bio = BIO_new(BIO_s_mem()) else { return ByteString() }
        defer { BIO_free(bio) }
        write(bio)
        return ByteString(self.drain(bio).prefix(countMax))
    }
}
