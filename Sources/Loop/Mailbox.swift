// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// Bounded queues between threads: one for what may be lost, and one for orders, which media must never push out.
///
/// A full queue drops its oldest element and counts it: late is worse than lost. Orders are taken first; only a thread
/// that has stood still for a hundred of them loses any.
public final class Mailbox<Element> {
    private var queue: BoundedQueue<Element>
    private var orders = BoundedQueue<Element>(capacity: 128)
    private var acknowledged: UInt64 = 0
    private let lock = Lock()
    /// Becomes readable when something is put in; for `Poller` or `wait`.
    public let wakeup: Int32

    public init(capacity: Int) {
        self.queue = BoundedQueue(capacity: capacity)
        self.wakeup = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(self.wakeup >= 0, "mailboxes are made at start, when descriptors are free")
    }

    deinit {
        close(self.wakeup)
    }

    /// Puts in what may be dropped when the other side lags behind.
    public func put(_ element: Element) {
        self.lock.locked { self.queue.push(element) }
        self.wake()
    }

    /// Puts in what must arrive, and before anything else that waits.
    public func order(_ element: Element) {
        self.lock.locked { self.orders.push(element) }
        self.wake()
    }

    private func wake() {
        var one: UInt64 = 1
        _ = write(self.wakeup, &one, 8)
    }

    public func take() -> Element? {
        self.lock.locked { self.orders.pop() ?? self.queue.pop() }
    }

    /// Call before draining, so that a later `put` wakes again.
    public func acknowledge() {
        var count: UInt64 = 0
        _ = read(self.wakeup, &count, 8)
        self.lock.locked { self.acknowledged &+= 1 }
    }

    /// Wakes whoever takes out, who may find nothing: its `turns` then show that it lives.
    public func nudge() { self.wake() }

    /// How often somebody came to take out.
    public var turns: UInt64 {
        self.lock.locked { self.acknowledged }
    }

    /// Blocks until something was put in or the time is over.
    public func wait(limit: Duration) {
        var poll = pollfd(fd: self.wakeup, events: Int16(POLLIN), revents: 0)
        _ = CSystem.poll(&poll, 1, Int32(clamping: limit.milliseconds))
        self.acknowledge()
    }

    /// The same, or until a device has news (POLLIN, POLLOUT or POLLPRI of poll(2)).
    public func wait(limit: Duration, orDevice descriptor: Int32) {
        let limitMs = Int32(clamping: max(limit.milliseconds, 0))
        var polled = (
            pollfd(fd: self.wakeup, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN | POLLOUT | POLLPRI), revents: 0)
        )
        withUnsafeMutableBytes(of: &polled) { bytes in
            _ = CSystem.poll(bytes.baseAddress?.assumingMemoryBound(to: pollfd.self), 2, limitMs)
        }
        // A device in fault is ready at once, always: nobody is to spin for it.
        if Int32(polled.1.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 {
            _ = CSystem.poll(&polled.0, 1, min(limitMs, Self.faultPauseMs))
        }
        self.acknowledge()
    }

    private static var faultPauseMs: Int32 { 5 }

    /// Elements dropped because nobody took them in time.
    public var dropped: UInt64 {
        self.lock.locked { self.queue.dropped }
    }
}
