// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// Carries a closure into a thread.
private final class ThreadBody {
    let run: () -> Void

    init(_ run: @escaping () -> Void) {
        self.run = run
    }
}

/// How urgent a thread's work is.
public enum ThreadPriority {
    case ordinary
    /// SCHED_RR, for sound; silently ordinary where the process may not ask for it.
    case realTime(Int32)

    fileprivate var level: Int32 {
        switch self {
        case .ordinary: return 0
        case .realTime(let level): return level
        }
    }
}

public enum Thread {
    /// Starts a thread for the rest of the process's life. `name` is what `ps` shows, 15 bytes at most.
    public static func start(_ name: StaticString, priority: ThreadPriority = .ordinary, _ run: @escaping () -> Void) {
        let body = Unmanaged.passRetained(ThreadBody(run)).toOpaque()
        let failure = ByteString(name).withCString { name in
            callbox_start_thread(
                name, priority.level,
                { context in
                    Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue().run()
                    return nil
                }, body)
        }
        precondition(
            failure == 0, "threads are started at start only: a system that cannot give five cannot run a call")
    }
}
