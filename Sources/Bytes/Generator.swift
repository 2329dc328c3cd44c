// SPDX-License-Identifier: Apache-2.0

/// A seeded source of random numbers (SplitMix64), so that a run replays from its seed.
///
/// Not for keys: those come from the operating system.
public struct Generator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        self.state = seed
    }

    public mutating func next() -> UInt64 {
        self.state = self.state &+ 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in `0..<bound`; 0 where `bound` is 0.
    public mutating func below(_ bound: UInt64) -> UInt64 {
        bound == 0 ? 0 : self.next().multipliedFullWidth(by: bound).high
    }

    /// `count` random hexadecimal digits, for tags, branches and Call-IDs (RFC 3261 section 19.3 asks for 32 bits).
    public mutating func token(digits count: Int) -> ByteString {
        var token = ByteString()
        var pool: UInt64 = 0
        for index in 0..<count {
            if index % 16 == 0 { pool = self.next() }
            token.append(byte: ASCII.hexDigit(UInt8(truncatingIfNeeded: pool)))
            pool >>= 4
        }
        return token
    }
}
