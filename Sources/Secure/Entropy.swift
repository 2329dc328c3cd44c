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
