// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The longest that one input may take, in seconds of processor time: a busy machine is not the input's fault.
private let slowestSeconds = 1.0

/// What is fuzzed, by the names that `board/fuzz` knows.
private let targets: [(name: String, run: ([UInt8]) -> Void)] = [
    ("sip", fuzzSIP), ("stream", fuzzStream), ("sdp", fuzzSDP), ("uri", fuzzURI), ("challenge", fuzzChallenge),
    ("rtp", fuzzRTP), ("rtcp", fuzzRTCP), ("h264", fuzzH264), ("configuration", fuzzConfiguration),
    ("dialog", fuzzDialog), ("bitstream", fuzzBitstream),
]

/// Set once, before the first input.
nonisolated(unsafe) private var run: ([UInt8]) -> Void = { _ in }

/// One binary holds all targets, for all share their modules; `--target=NAME` chooses. libFuzzer passes over words that
/// begin with two dashes.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
    let given = (0..<Int(count.pointee)).compactMap { words.pointee[$0].map { String(cString: $0) } }
    guard let target = targets.first(where: { given.contains("--target=" + $0.name) }) else {
        fatalError("--target= wants one of " + targets.map { $0.name }.joined(separator: ", "))
    }
    run = target.run
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let begin = clock()
    run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    require(Double(clock() - begin) / Double(CLOCKS_PER_SEC) < slowestSeconds, "the input took longer than a second")
    return 0
}

/// A property that holds whatever came in. What breaks it is a find, as a trap is.
func require(_ holds: Bool, _ what: StaticString) {
    if !holds { fatalError("\(what)") }
}

/// Cuts an input into the pieces that a target wants.
struct Pieces {
    private var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) {
        self.rest = input[...]
    }

    var isEmpty: Bool { self.rest.isEmpty }

    /// Zero where nothing is left.
    mutating func byte() -> UInt8 { self.rest.popFirst() ?? 0 }

    /// As many bytes as there are, at most `count`.
    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { self.rest = self.rest.dropFirst(count) }
        return Array(self.rest.prefix(count))
    }

    mutating func remaining() -> [UInt8] { self.bytes(self.rest.count) }
}
