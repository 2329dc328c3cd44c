// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The size of the pictures that we are going to send, in an offer (RFC 6236 section 3.1):
/// `* send [x=640,y=360] recv *`. What comes may be of any size.
public struct ImageAttribute: Hashable, Sendable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    var printed: ByteString {
        let sides = "x=" + ByteString(decimal: self.width) + ",y=" + ByteString(decimal: self.height)
        return "* send [" + sides + "] recv *"
    }
}
