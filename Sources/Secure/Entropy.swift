// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// A seed from the operating system's generator (getrandom(2)), for the engines' seeded generators: tags, branches,
/// Call-IDs and SSRCs must not be guessable from outside.
public func entropySeed() -> UInt64 {
    var seed: UInt64 = 0
    while getrandom(&seed, 8, 0) != 8 {}
    return seed
}

/// Bytes for keys, from the same source.
public func entropyBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
        let got = bytes.withUnsafeMutableBytes { getrandom($0.baseAddress! + filled, count - filled, 0) }
        if got > 0 { filled += got }
    }
    return bytes
}
