// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop

/// A configuration file longer than this is not one.
let configurationSizeMax = 64 * 1024

/// Prints every problem of a configuration file, one a line. 0 where there is none, 1 where there are some, 2 where the
/// file cannot be read.
func check(_ path: ByteString) -> Int32 {
    guard let bytes = readBeginning(path, sizeMax: configurationSizeMax) else {
        Log.write("callbox: " + path + " cannot be read")
        return 2
    }
    let (_, problems) = Configuration.parse(bytes)
    for problem in problems { printLine(path + ":" + problem.sentence) }
    if problems.isEmpty { printLine(path + ": no problems") }
    return problems.isEmpty ? 0 : 1
}
