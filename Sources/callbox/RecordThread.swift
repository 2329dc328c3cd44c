// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine
import Loop

/// A small file that takes another's place, whole or not at all.
struct SmallFile {
    var path: ByteString
    var bytes: [UInt8]
    /// What the log says once it is written, and where it cannot be: nil for nothing, and for its name.
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
    /// Nothing for a card, but as slow: a device is made to begin anew.
    case resetPort(USBPort, of: ByteString)
    /// The program ends: tell when all before this is written.
    case finish
}

/// Writes to the card, and resets ports, which may take seconds, so that a press never waits for it: whatever is to
/// outlive the program goes this way.
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
        case .call(let line):
            if !self.calls.append(line) { Log.write("callbox: " + self.calls.failure) }
        case .report(let path, let head, let text):
            guard text != self.present(path) else { return }
            let isWritten = replaceFile(path, with: (head + text).bytes, mode: 0o644)
            if !isWritten, !self.hasFailed { Log.write("callbox: " + path + " cannot be written") }
            self.hasFailed = !isWritten
        case .files(let files): self.replace(files)
        case .remove(let path): _ = path.withCString { unlink($0) }
        case .resetPort(let port, let device):
            let result: ByteString = port.reset() ? " is reset" : " cannot be reset: no permission, or it is gone"
            Log.write("callbox: opening " + device + " anew does not help; its USB port " + port.name + result)
        case .finish: self.wires.recorded.order(())
        }
    }

    private func replace(_ files: [SmallFile]) {
        for file in files {
            let isWritten = replaceFile(file.path, with: file.bytes, mode: 0o600)
            guard isWritten else { return Log.write("callbox: " + (file.failed ?? file.path + " cannot be written")) }
            if let news = file.done { Log.write("callbox: " + news) }
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
