// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// Writes a small file so that after a loss of power it is whole, or the former one: into a file beside it, which then
/// takes its place. Only the owner may read it. False where that cannot be done.
@discardableResult
public func writeFile(_ path: ByteString, _ bytes: [UInt8]) -> Bool {
    let beside = path + ".new"
    let descriptor = beside.withCString { callbox_create($0) }
    guard descriptor >= 0 else { return false }
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else {
            close(descriptor)
            return false
        }
        rest = rest.dropFirst(count)
    }
    let isSafe = fsync(descriptor) == 0
    close(descriptor)
    return isSafe && beside.withCString { from in path.withCString { rename(from, $0) } } == 0
}

/// Makes the folder, for its owner alone, where there is none; the one above it must be there.
public func makeFolder(_ path: ByteString) {
    _ = path.withCString { mkdir($0, 0o700) }
}
