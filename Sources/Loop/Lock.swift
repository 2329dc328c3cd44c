// SPDX-License-Identifier: Apache-2.0

import CSystem

/// Lets one thread at a time at what it guards; not twice the same one (pthread_mutex_lock(3)).
///
/// It inherits priority, so that the sound thread never waits for a thread that was put aside.
public final class Lock {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    public init() {
        self.mutex = UnsafeMutablePointer.allocate(capacity: 1)
        callbox_init_mutex(self.mutex)
    }

    deinit {
        pthread_mutex_destroy(self.mutex)
        self.mutex.deallocate()
    }

    public func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        return body()
    }
}
