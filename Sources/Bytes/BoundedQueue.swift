// SPDX-License-Identifier: Apache-2.0

/// A first-in first-out queue that never holds more than `capacity` elements: the oldest is dropped, and counted.
public struct BoundedQueue<Element> {
    private var slots: [Element?]
    private var head = 0
    public private(set) var count = 0
    /// How many elements were dropped to make room.
    public private(set) var dropped: UInt64 = 0

    public init(capacity: Int) {
        precondition(capacity > 0, "a queue holds at least one element")
        self.slots = Array(repeating: nil, count: capacity)
    }

    public var capacity: Int { self.slots.count }
    public var isEmpty: Bool { self.count == 0 }

    public mutating func push(_ element: Element) {
        if self.count == self.capacity {
            _ = self.pop()
            self.dropped &+= 1
        }
        self.slots[(self.head + self.count) % self.capacity] = element
        self.count += 1
    }

    public mutating func pop() -> Element? {
        guard self.count > 0 else { return nil }
        let element = self.slots[self.head]
        self.slots[self.head] = nil
        self.head = (self.head + 1) % self.capacity
        self.count -= 1
        return element
    }

    public mutating func removeAll() {
        while self.pop() != nil {}
    }
}
