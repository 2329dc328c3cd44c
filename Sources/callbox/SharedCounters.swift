// SPDX-License-Identifier: Apache-2.0

import CSystem
import KioskEngine

/// The counts of the call that runs, kept by all media threads together.
final class SharedCounters {
    private var counters = MediaCounters()
    private var displayCounters = DisplayCounters()
    private let lock: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        self.lock = UnsafeMutablePointer.allocate(capacity: 1)
        callbox_init_mutex(self.lock)
    }

    deinit {
        pthread_mutex_destroy(self.lock)
        self.lock.deallocate()
    }

    func update(_ body: (inout MediaCounters) -> Void) {
        pthread_mutex_lock(self.lock)
        body(&self.counters)
        pthread_mutex_unlock(self.lock)
    }

    func read() -> MediaCounters {
        pthread_mutex_lock(self.lock)
        defer { pthread_mutex_unlock(self.lock) }
        return self.counters
    }

    func reset() {
        self.update { $0 = MediaCounters() }
    }

    /// What the display tells, kept over calls.
    var display: DisplayCounters {
        get {
            pthread_mutex_lock(self.lock)
            defer { pthread_mutex_unlock(self.lock) }
            return self.displayCounters
        }
        set {
            pthread_mutex_lock(self.lock)
            self.displayCounters = newValue
            pthread_mutex_unlock(self.lock)
        }
    }
}

struct DisplayCounters {
    /// Held now.
    var framebuffers: UInt64 = 0
    /// How often words were drawn.
    var drawings: UInt64 = 0
}
