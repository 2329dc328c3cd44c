// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop

/// What goes to the record thread.
enum RecordMessage {
    /// One line of the call log.
    case call(ByteString)
    /// The report beside `callbox.conf`, and what stands above it where it is written anew.
    case report(path: ByteString, head: ByteString, text: ByteString)
    /// A small file takes another's place.
    case file(path: ByteString, [UInt8])
    /// Nothing for a card, but as slow: a device is made to begin anew.
    case resetPort(USBPort, of: ByteString)
    /// The program ends: tell when all before this is written.
    case finish
}

/// Writes to the card, and resets ports, which may take seconds, so that neither a press nor a call waits for it.
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
        case .file(let path, let bytes):
            if !replaceFile(path, with: bytes, mode: 0o600) { Log.write("callbox: " + path + " cannot be written") }
        case .resetPort(let port, let device):
            let result: ByteString = port.reset() ? " is reset" : " cannot be reset: no permission, or it is gone"
            Log.write("callbox: opening " + device + " anew does not help; its USB port " + port.name + result)
        case .finish: self.wires.recorded.order(())
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
