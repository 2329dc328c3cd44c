// SPDX-License-Identifier: Apache-2.0

/// The loudest sample since it was last asked. Pure.
struct LevelMeter {
    private var peak = 0

    mutating func add(_ samples: [Int16]) {
        for sample in samples where Int(sample.magnitude) > self.peak { self.peak = Int(sample.magnitude) }
    }

    /// 0 to 32768, and begins anew.
    mutating func take() -> Int {
        defer { self.peak = 0 }
        return self.peak
    }
}
