// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// Lines to standard error, which is the journal on the boards, and to files. Any thread may write.
public enum Log {
    private static let sink = LogSink()

    public static func write(_ line: ByteString) {
        let bytes = line.bytes + [ASCII.lineFeed]
        _ = bytes.withUnsafeBytes { CSystem.write(STDERR_FILENO, $0.baseAddress, $0.count) }
        self.sink.write(line)
    }

    /// From now on to these files too.
    /// - Parameters:
    ///   - stamp: the time, as each line begins.
    ///   - kept: the line as it is kept; nil where it is not.
    ///   - tell: the files cannot be written any more, with the reason; or can again, with nil. It must not wait.
    public static func keep(
        in files: LogFiles, stamp: @escaping () -> ByteString, kept: @escaping (ByteString) -> ByteString?,
        tell: @escaping (ByteString?) -> Void
    ) {
        self.sink.set(files, stamp, kept, tell)
    }
}

private final class LogSink {
    private let lock = Lock()
    private var files: LogFiles?
    private var stamp: () -> ByteString = { ByteString() }
    private var kept: (ByteString) -> ByteString? = { $0 }
    private var tell: (ByteString?) -> Void = { _ in }
    private var hasFailed = false

    func set(
        _ files: LogFiles, _ stamp: @escaping () -> ByteString, _ kept: @escaping (ByteString) -> ByteString?,
        _ tell: @escaping (ByteString?) -> Void
    ) {
        self.lock.locked {
            self.files = files
            self.stamp = stamp
            self.kept = kept
            self.tell = tell
        }
    }

    func write(_ line: ByteString) {
        self.lock.locked {
            if let files = self.files, let kept = self.kept(line) { self.keep(self.stamp() + " " + kept, in: files) }
        }
    }

    private func keep(_ line: ByteString, in files: LogFiles) {
        let isWritten = files.append(line)
        guard isWritten == self.hasFailed else { return }
        self.hasFailed = !isWritten
        self.tell(isWritten ? nil : files.failure)
    }
}

/// A log in a ring of files: `NAME`, and older ones as `NAME.1` to `NAME.3`. All together never hold more than
/// `countMax` times what one may.
///
/// A line is one write to a file opened for appending: a power cut loses the newest lines, or tears the last one, which
/// the next line then does not run into.
public final class LogFiles {
    public static let countMax = 4

    private let path: ByteString
    /// Of one file, in bytes or in lines.
    private let limit: Limit
    private let isSynced: Bool
    private var descriptor: Int32 = -1
    private var used = 0
    /// Of the last write that failed; a part of a line was written where the room was just gone.
    private var lastError = ENOSPC

    public enum Limit: Sendable {
        case bytes(Int)
        case lines(Int)
    }

    /// - Parameter isSynced: whether each line has to outlive a power cut.
    public init(_ path: ByteString, limit: Limit, isSynced: Bool = false) {
        self.path = path
        self.limit = limit
        self.isSynced = isSynced
        self.open()
    }

    deinit {
        if self.descriptor >= 0 { close(self.descriptor) }
    }

    /// Why nothing can be written now.
    public var failure: ByteString { self.path + ": " + ByteString(cString: strerror(self.lastError)) }

    /// Whether the whole line was written. What could not be opened is tried again each time.
    @discardableResult
    public func append(_ line: ByteString) -> Bool {
        if self.used >= self.usedMax { self.turn() }
        if self.descriptor < 0 { self.open() }
        guard self.descriptor >= 0 else { return false }
        let bytes = line.bytes + [ASCII.lineFeed]
        let count = bytes.withUnsafeBytes { CSystem.write(self.descriptor, $0.baseAddress, $0.count) }
        if count < 0 { self.lastError = callbox_errno() }
        guard count > 0 else { return false }
        if self.isSynced { fsync(self.descriptor) }
        switch self.limit {
        case .bytes: self.used += count
        case .lines: self.used += 1
        }
        return count == bytes.count
    }

    /// The lines that there are, the oldest first.
    public static func lines(_ path: ByteString, sizeMax: Int) -> [ByteString] {
        var lines: [ByteString] = []
        for index in (0..<self.countMax).reversed() {
            guard let bytes = readBeginning(self.name(path, index), sizeMax: sizeMax) else { continue }
            lines += ByteString(bytes).split(on: ASCII.lineFeed).filter { !$0.isEmpty }
        }
        return lines
    }

    private var usedMax: Int {
        switch self.limit {
        case .bytes(let count), .lines(let count): return count
        }
    }

    private static func name(_ path: ByteString, _ index: Int) -> ByteString {
        index == 0 ? path : path + "." + ByteString(decimal: index)
    }

    private func open() {
        self.descriptor = self.path.withCString { callbox_open_append($0) }
        self.used = 0
        if self.descriptor < 0 { self.lastError = callbox_errno() }
        guard self.descriptor >= 0, var bytes = readBeginning(self.path, sizeMax: Self.readMax) else { return }
        if let last = bytes.last, last != ASCII.lineFeed {
            var end = ASCII.lineFeed
            _ = CSystem.write(self.descriptor, &end, 1)
            bytes.append(end)
        }
        switch self.limit {
        case .bytes: self.used = bytes.count
        case .lines: self.used = bytes.filter { $0 == ASCII.lineFeed }.count
        }
    }

    /// More than any file of ours holds.
    private static let readMax = 8 * 1024 * 1024

    private func turn() {
        if self.descriptor >= 0 { close(self.descriptor) }
        for index in (0..<Self.countMax - 1).reversed() {
            let (from, to) = (Self.name(self.path, index), Self.name(self.path, index + 1))
            _ = from.withCString { from in to.withCString { rename(from, $0) } }
        }
        self.open()
    }
}
