// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// A file with secrets in it, which is nobody's but ours.
public enum PrivateFile: Equatable {
    case missing
    case bytes([UInt8])
    /// Not to be trusted, or not to be read: a clause that follows the file's name.
    case refused(ByteString)

    /// - Parameter sizeMax: in bytes.
    public static func read(_ path: ByteString, sizeMax: Int) -> PrivateFile {
        let descriptor = path.withCString { callbox_open_plain($0) }
        guard descriptor >= 0 else {
            return callbox_errno() == ENOENT || callbox_errno() == ENOTDIR ? .missing : .refused("cannot be read")
        }
        defer { close(descriptor) }
        // Asked of what was opened, not of the name: that may be another file by now.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) else {
            return .refused("is not a plain file")
        }
        guard status.st_mode & 0o077 == 0, status.st_uid == geteuid() || status.st_uid == 0 || geteuid() == 0
        else {
            return .refused("can be read by others; make it its owner's alone (chmod 600)")
        }
        guard let bytes = readAll(descriptor, sizeMax: sizeMax) else {
            return .refused("cannot be read, or is longer than " + ByteString(decimal: sizeMax / 1024) + " KB")
        }
        return .bytes(bytes)
    }
}

/// Puts a new file in place of an old one, so that after a power cut there is the one or the other, whole.
/// - Parameter mode: of a file that was not there before; one that was keeps its own.
public func replaceFile(_ path: ByteString, with bytes: [UInt8], mode: mode_t) -> Bool {
    let fresh = path + ".new"
    var status = stat()
    let isThere = path.withCString { stat($0, &status) } == 0
    _ = fresh.withCString { unlink($0) }
    let descriptor = fresh.withCString { callbox_create($0, isThere ? status.st_mode & 0o777 : mode) }
    guard descriptor >= 0 else { return false }
    let isWritten = writeAll(bytes, to: descriptor) && fsync(descriptor) == 0
    close(descriptor)
    guard isWritten, fresh.withCString({ fresh in path.withCString { rename(fresh, $0) } }) == 0 else {
        _ = fresh.withCString { unlink($0) }
        return false
    }
    syncFolder(of: path)
    return true
}

private func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}

/// Without it the new name may be forgotten though the file is there.
private func syncFolder(of path: ByteString) {
    let slash = path.bytes.lastIndex(of: ASCII.slash)
    let folder = slash.map { path.slice(0..<max($0, 1)) } ?? "."
    let descriptor = folder.withCString { callbox_open_read($0) }
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
}

/// Makes the folder, for its owner alone unless told otherwise, where there is none; the one above it must be there.
public func makeFolder(_ path: ByteString, mode: mode_t = 0o700) {
    _ = path.withCString { mkdir($0, mode) }
}
