// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire

/// Reads a message with what the engine looks at in each, and prints it. The number of bytes printed; 0 for a fault.
@_cdecl("callbox_parse_and_print")
public func parseAndPrint(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    guard let message = try? SIPMessage.parse(input, framing: .datagram), message.envelope != nil else { return 0 }
    return message.printed().count
}
