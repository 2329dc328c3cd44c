// SPDX-License-Identifier: Apache-2.0

import Bytes
import Loop
import Secure

/// What tells this board from every other, and stays the same when it gets a new image: the serial number that its maker
/// gave it. Where it has none, what the system drew at its first start. Empty where there is neither.
func boardInstanceID() -> ByteString {
    for path in ["/proc/device-tree/serial-number", "/etc/machine-id"] as [ByteString] {
        let bytes = readFile(path, sizeMax: serialBytesMax) ?? []
        let serial = ByteString(bytes.filter { ASCII.isLetter($0) || ASCII.isDigit($0) })
        if serial.bytes.contains(where: { $0 != ASCII.zero }) { return instanceID(of: serial) }
    }
    return ByteString()
}

private let serialBytesMax = 256
