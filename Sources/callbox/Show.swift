// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import Loop

/// Lines that the kiosk has written into the data folder.
struct KeptLines {
    var path: ByteString
    /// How many of the last.
    var count = 50
    /// And what comes, until interrupted.
    var follows = false
}

/// `logs` and `calls` with what stands behind them.
func parseKept(_ verb: ByteString, _ arguments: [ByteString]) -> Command {
    var data = RunOptions().dataPath
    var kept = KeptLines(path: ByteString())
    var index = 0
    while index < arguments.count {
        let name = arguments[index]
        let value = index + 1 < arguments.count ? arguments[index + 1] : nil
        if name == "--follow", verb == "logs" {
            kept.follows = true
            index += 1
            continue
        }
        if name == "--data", let value {
            data = value
        } else if name == "-n", let count = value?.decimal(max: 1_000_000) {
            kept.count = Int(count)
        } else {
            return .misuse(verb + ": see callbox --help for what it takes")
        }
        index += 2
    }
    kept.path = verb == "logs" ? Records.logPath(data) : Records.callsPath(data)
    return .show(kept)
}

/// Prints them. 0, or 2 where there are none that can be read.
func show(_ kept: KeptLines) -> Int32 {
    let lines = LogFiles.lines(kept.path, sizeMax: sizeMax)
    guard !lines.isEmpty || kept.follows else {
        Log.write("callbox: there is nothing in " + kept.path + ", or it may not be read")
        return 2
    }
    for line in lines.suffix(kept.count) { printLine(line) }
    guard kept.follows else { return 0 }
    var follower = Follower(kept.path)
    while true {
        usleep(periodUs)
        follower.lines().forEach { printLine($0) }
    }
}

/// Reads on from the end of a file, and from the beginning of the one that takes its name.
private struct Follower {
    private let path: ByteString
    private var descriptor: Int32
    private var partial: [UInt8] = []

    init(_ path: ByteString) {
        self.path = path
        self.descriptor = path.withCString { callbox_open_read($0) }
        if self.descriptor >= 0 { lseek(self.descriptor, 0, SEEK_END) }
    }

    /// What has come since the last time.
    mutating func lines() -> [ByteString] {
        var lines = self.read()
        var (open, named) = (stat(), stat())
        guard self.path.withCString({ stat($0, &named) }) == 0 else { return lines }
        let isSame = self.descriptor >= 0 && fstat(self.descriptor, &open) == 0 && open.st_ino == named.st_ino
        if !isSame {
            if self.descriptor >= 0 { close(self.descriptor) }
            self.descriptor = self.path.withCString { callbox_open_read($0) }
            lines += self.read()
        }
        return lines
    }

    private mutating func read() -> [ByteString] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while self.descriptor >= 0 {
            let count = CSystem.read(self.descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            self.partial += buffer[..<count]
        }
        guard let end = self.partial.lastIndex(of: ASCII.lineFeed) else { return [] }
        defer { self.partial = Array(self.partial[(end + 1)...]) }
        return ByteString(self.partial[..<end]).split(on: ASCII.lineFeed)
    }
}

private let sizeMax = 8 * 1024 * 1024
private let periodUs: UInt32 = 500_000
