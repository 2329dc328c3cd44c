// SPDX-License-Identifier: Apache-2.0

/// Outputs in the order they arose. Emptied between two inputs, so it holds no more than one input can cause.
struct OutputQueue {
    private var outputs: [MediaEngine.Output] = []
    private var head = 0

    mutating func push(_ output: MediaEngine.Output) {
        self.outputs.append(output)
    }

    mutating func pop() -> MediaEngine.Output? {
        guard self.head < self.outputs.count else {
            self.outputs.removeAll(keepingCapacity: true)
            self.head = 0
            return nil
        }
        defer { self.head += 1 }
        return self.outputs[self.head]
    }
}
