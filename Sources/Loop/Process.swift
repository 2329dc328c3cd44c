// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// What this process holds, read from /proc (proc(5)).
public struct ProcessCounters {
    public var fileDescriptors: Int
    public var threads: Int
    public var residentKB: Int

    public static func read() -> ProcessCounters {
        let status = readFile("/proc/self/status", sizeMax: 8192) ?? []
        return ProcessCounters(
            fileDescriptors: Self.countEntries("/proc/self/fd"),
            threads: Self.field("Threads:", in: status),
            residentKB: Self.field("VmRSS:", in: status))
    }

    private static func countEntries(_ path: ByteString) -> Int {
        // The folder's own descriptor is open while it is read, and `.` and `..` are listed.
        max(0, Int(path.withCString { callbox_count_entries($0) }) - 3)
    }

    private static func field(_ name: ByteString, in status: [UInt8]) -> Int {
        for line in ByteString(status).split(on: ASCII.lineFeed) where line.hasPrefix(name) {
            let value = line.slice(name.count..<line.count).trimmed()
            let digits = ByteString(value.bytes.prefix { ASCII.isDigit($0) })
            return Int(digits.decimal(max: 1 << 40) ?? 0)
        }
        return 0
    }
}

/// The bytes of a small file; nil where it cannot be read or is longer than `sizeMax`.
public func readFile(_ path: ByteString, sizeMax: Int) -> [UInt8]? {
    let descriptor = path.withCString { callbox_open_read($0) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return readAll(descriptor, sizeMax: sizeMax)
}

/// The bytes of a file; of one that is longer than `sizeMax` its first `sizeMax` + 1. Nil where it cannot be read.
public func readBeginning(_ path: ByteString, sizeMax: Int) -> [UInt8]? {
    let descriptor = path.withCString { callbox_open_read($0) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= sizeMax {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0 { return nil }
        if count == 0 { return bytes }
        bytes += buffer[..<count]
    }
    return Array(bytes.prefix(sizeMax + 1))
}

/// The names in a folder, in no order; none where it cannot be read. Bounded: 64 KB of names.
public func namesInFolder(_ path: ByteString) -> [ByteString] {
    texts { buffer, size in path.withCString { callbox_list($0, buffer, size) } }
}

/// The addresses of this machine that others can reach.
public func ownAddresses() -> [ByteString] {
    texts { callbox_addresses($0, $1) }
}

/// What a C function has written, text by text, each ending in NUL.
private func texts(_ write: (UnsafeMutableRawPointer?, Int) -> Int) -> [ByteString] {
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let count = buffer.withUnsafeMutableBytes { write($0.baseAddress, $0.count) }
    return ByteString(buffer[..<count]).split(on: 0).filter { !$0.isEmpty }
}

/// Whether anything is there under that name.
public func fileExists(_ path: ByteString) -> Bool {
    path.withCString { access($0, F_OK) } == 0
}

/// All that is left to read; nil where that fails or is longer than `sizeMax`.
func readAll(_ descriptor: Int32, sizeMax: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0 { return nil }
        if count == 0 { return bytes }
        bytes += buffer[..<count]
        if bytes.count > sizeMax { return nil }
    }
}

/// Standard output, for commands that a person runs.
public func printLine(_ line: ByteString) {
    let bytes = line.bytes + [ASCII.lineFeed]
    _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

/// SIGTERM, SIGINT and SIGHUP as a descriptor (signalfd(2)); SIGPIPE is ignored. Call before any thread is started, so
/// that all inherit the mask. -1 where the kernel gives none.
public func openSignals() -> Int32 {
    callbox_open_signals()
}

/// Tells the service manager how far we are (sd_notify(3)): `READY=1`, `STOPPING=1`, `WATCHDOG=1`.
public func notifyServiceManager(_ state: ByteString) {
    _ = state.withCString { sd_notify(0, $0) }
}

/// After how long a silence of `WATCHDOG=1` the service manager ends this program (sd_watchdog_enabled(3)); nil where
/// it never does.
public func watchdogInterval() -> Duration? {
    var microseconds: UInt64 = 0
    guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
    return .milliseconds(Int(clamping: microseconds / 1000))
}

/// Begins this program anew in the same process, with the arguments that it was started with: descriptors are closed,
/// other threads end, signals that come meanwhile wait. Returns only where that fails.
public func replaceProcess() {
    guard var words = readFile("/proc/self/cmdline", sizeMax: 64 * 1024) else { return }
    words.withUnsafeMutableBytes { callbox_replace_self($0.baseAddress, $0.count) }
}
