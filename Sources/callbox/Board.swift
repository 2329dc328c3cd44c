// SPDX-License-Identifier: Apache-2.0

import Bytes
import Loop
import Secure

/// What tells this board from every other (RFC 5626 section 4.1). It follows from the serial number that the maker gave
/// the board, so that it is the same again after a new image, and another one where a copy of the card runs in another
/// board. A board without a number draws an id once, which the data directory keeps.
func boardInstanceID(data: ByteString, _ wires: Wires) -> ByteString {
    let bytes = readFile("/proc/device-tree/serial-number", sizeMax: serialBytesMax) ?? []
    let serial = ByteString(bytes.filter { ASCII.isLetter($0) || ASCII.isDigit($0) })
    if serial.bytes.contains(where: { $0 != ASCII.zero }) { return instanceID(of: serial) }
    let path = data + "/instance-id"
    let kept = ByteString(readFile(path, sizeMax: serialBytesMax) ?? []).trimmed()
    if isInstanceID(kept) { return kept }
    let drawn = instanceID(from: entropyBytes(16))
    let failed = path + " cannot be written; the next start draws another instance id"
    wires.records.order(.files([SmallFile(path: path, bytes: (drawn + "\n").bytes, failed: failed)]))
    return drawn
}

private let serialBytesMax = 256
