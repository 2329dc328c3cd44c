// SPDX-License-Identifier: Apache-2.0

/// Samples in the order they come, of fixed capacity; what does not fit is dropped and counted. Pure.
struct SampleQueue {
    private var slots: [Int16]
    private var head = 0
    private(set) var count = 0
    private(set) var dropped: UInt64 = 0

    init(capacity: Int) {
        precondition(capacity > 0, "a queue holds at least one sample")
        self.slots = [Int16](repeating: 0, count: capacity)
    }

    mutating func append(_ samples: ArraySlice<Int16>) {
        for sample in samples {
            guard self.count < self.slots.count else {
                self.dropped &+= 1
                continue
            }
            var tail = self.head + self.count
            if tail >= self.slots.count { tail -= self.slots.count }
            self.slots[tail] = sample
            self.count += 1
        }
    }

    mutating func append(_ samples: [Int16]) {
        self.append(samples[...])
    }

    /// Moves samples into `target` from its beginning on, as many as there are and fit.
    ///
    /// - Returns: how many.
    mutating func take(into target: inout [Int16]) -> Int {
        let taken = min(self.count, target.count)
        for index in 0..<taken {
            target[index] = self.slots[self.head]
            self.head += 1
            if self.head == self.slots.count { self.head = 0 }
        }
        self.count -= taken
        return taken
    }

    mutating func removeAll() {
        self.head = 0
        self.count = 0
    }
}
