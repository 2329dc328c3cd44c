// SPDX-License-Identifier: Apache-2.0

import KioskEngine
import Loop

/// The counts of the call that runs, kept by all media threads together.
final class SharedCounters {
    private var counters = MediaCounters()
    private var displayCounters = DisplayCounters()
    private let lock = Lock()

    func update(_ body: (inout MediaCounters) -> Void) {
        self.lock.locked { body(&self.counters) }
    }

    func read() -> MediaCounters {
        self.lock.locked { self.counters }
    }

    func reset() {
        self.update { $0 = MediaCounters() }
    }

    /// What the display tells, kept over calls.
    var display: DisplayCounters {
        get { self.lock.locked { self.displayCounters } }
        set { self.lock.locked { self.displayCounters = newValue } }
    }
}

struct DisplayCounters {
    /// Held now.
    var framebuffers: UInt64 = 0
    /// How often words were drawn.
    var drawings: UInt64 = 0
}
