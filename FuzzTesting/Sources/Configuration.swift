// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine

/// A `callbox.conf`.
func fuzzConfiguration(_ input: [UInt8]) {
    let (_, problems) = Configuration.parse(input)
    let lines = input.lazy.filter { $0 == ASCII.lineFeed || $0 == ASCII.carriageReturn }.count + 1
    for problem in problems {
        require((0...lines).contains(problem.line), "a problem is in the file")
        let sentence = problem.sentence
        require(!sentence.isEmpty && sentence.count <= 1_024, "a sentence can be shown")
        require(sentence.bytes.allSatisfy { $0 >= ASCII.space && $0 != 0x7F }, "a sentence is one line of text")
    }
}
