// SPDX-License-Identifier: Apache-2.0

import Bytes
import Loop

/// A device that may get stuck: its USB port is reset then, where it has one.
struct StuckDevice {
    /// For people, as in `the camera`.
    let name: ByteString
    private var watch = StuckWatch()
    private var resets = PortResets()

    init(_ name: ByteString) {
        self.name = name
    }

    /// It is there, and failed after it had worked for so long. `entry`: what it is in sysfs.
    mutating func failed(workedMs: Int, entry: ByteString?, now: Instant, wires: Wires) {
        guard self.watch.failed(workedMs: workedMs), let port = entry.flatMap({ USBPort(of: $0) }),
            self.resets.take(now: now)
        else { return }
        wires.records.order(.resetPort(port, of: self.name))
    }
}
