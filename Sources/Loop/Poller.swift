// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// What a file descriptor is ready for.
public struct Readiness {
    /// The number given at `add`.
    public var token: UInt64
    public var isReadable: Bool
    public var isWritable: Bool
    /// An error or a hang-up waits to be read.
    public var hasError: Bool
}

/// Waits on file descriptors and one deadline: epoll(7).
///
/// The engines give a single deadline, so there is no timer heap here: the wait's time limit is the timer.
public struct Poller: ~Copyable {
    private let descriptor: Int32
    private static let eventsMax = 64

    /// Can be read when anything here is ready, for whoever has to wait for something else too.
    public var number: Int32 { self.descriptor }

    public init() {
        self.descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        precondition(self.descriptor >= 0, "the kernel gives an epoll descriptor: nothing can run without one")
    }

    deinit {
        close(self.descriptor)
    }

    /// Starts watching for input, and for room to write where asked. Watching again changes what is watched.
    public func watch(_ fileDescriptor: Int32, token: UInt64, forWriting: Bool = false) {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | (forWriting ? EPOLLOUT.rawValue : 0)
        event.data.u64 = token
        if epoll_ctl(self.descriptor, EPOLL_CTL_MOD, fileDescriptor, &event) != 0 {
            epoll_ctl(self.descriptor, EPOLL_CTL_ADD, fileDescriptor, &event)
        }
    }

    public func unwatch(_ fileDescriptor: Int32) {
        var event = epoll_event()
        epoll_ctl(self.descriptor, EPOLL_CTL_DEL, fileDescriptor, &event)
    }

    /// Waits until something is ready or the deadline has come; nil waits for ever.
    public func wait(until deadline: Instant?) -> [Readiness] {
        var events = [epoll_event](repeating: epoll_event(), count: Self.eventsMax)
        var limit = timespec()
        var count: Int32
        if let deadline {
            let left = max(Duration.zero, deadline - Clock.now())
            limit.tv_sec = .init(left.nanoseconds / 1_000_000_000)
            limit.tv_nsec = .init(left.nanoseconds % 1_000_000_000)
            count = callbox_epoll_wait(self.descriptor, &events, Int32(Self.eventsMax), &limit)
        } else {
            count = callbox_epoll_wait(self.descriptor, &events, Int32(Self.eventsMax), nil)
        }
        count = max(0, count)
        return events.prefix(Int(count)).map { event in
            Readiness(
                token: event.data.u64,
                isReadable: event.events & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0,
                isWritable: event.events & EPOLLOUT.rawValue != 0,
                hasError: event.events & EPOLLERR.rawValue != 0)
        }
    }
}
