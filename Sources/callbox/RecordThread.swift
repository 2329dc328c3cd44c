// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine
import Loop

/// A small file that takes another's place, whole or not at all.
struct SmallFile {
    var path: ByteString
    var bytes: [UInt8]
    /// What the log says once it is written, and where it cannot be.
    var done: ByteString?
    var failed: ByteString?
}

/// What goes to the record thread.
enum RecordMessage {
    /// One line of the call log.
    case call(ByteString)
    /// The report beside `callbox.conf`, and what stands above it where it is written anew.
    case report(path: ByteString, head: ByteString, text: ByteString)
    /// Each only where the one before it was written.
    case files([SmallFile])
    /// This one is not to be there any more.
    case remove(ByteString)
    /// The program ends: tell when all before this is written.
    case finish
}

/// Writes to the card, which may take seconds, so that a press never waits for it: whatever is to outlive the program
/// goes this way.
final class RecordThread {
    private static let reportSizeMax = 64 * 1024

    private let calls: LogFiles
    private let wires: Wires
    private var hasFailed = false

    init(calls: LogFiles, wires: Wires) {
        self.calls = calls
        self.wires = wires
    }

    func run() {
        while true {
            self.wires.records.wait(limit: .seconds(3600))
            while let message = self.wires.records.take() { self.carryOut(message) }
        }
    }

    private func carryOut(_ message: RecordMessage) {
        switch message {
        case .call(let line): self.calls.append(line)
        case .report(let path, let head, let text):
            guard text != self.present(path) else { return }
            let isWritten = replaceFile(path, with: (head + text).bytes, mode: 0o644)
            if !isWritten, !self.hasFailed { Log.write("callbox: " + path + " cannot be written") }
            self.hasFailed = !isWritten
        case .files(let files): self.replace(files)
        case .remove(let path): _ = path.withCString { unlink($0) }
        case .finish: self.wires.recorded.order(())
        }
    }

    private func replace(_ files: [SmallFile]) {
        for file in files {
            let isWritten = replaceFile(file.path, with: file.bytes, mode: 0o600)
            if let news = isWritten ? file.done : file.failed { Log.write("callbox: " + news) }
            guard isWritten else { return }
        }
    }

    /// What the file says now, but for its date.
    private func present(_ path: ByteString) -> ByteString? {
        guard let bytes = readFile(path, sizeMax: Self.reportSizeMax),
            let end = bytes.firstIndex(of: ASCII.lineFeed)
        else { return nil }
        return ByteString(bytes[(end + 1)...])
    }
}
