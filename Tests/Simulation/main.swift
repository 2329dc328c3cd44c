// SPDX-License-Identifier: Apache-2.0
import Foundation

// One process of the simulation: plays worlds one after another and writes a line before and after each.
// `board/simulate` starts some of these, adds up what they say, and prints the log of the world that failed.
//
//     Simulation --seed N --calls M [--stride K] [--canary NAME] [--log]

var seed: UInt64 = 1
var stride: UInt64 = 1
var callsWanted = 1
var canary: Canary?
var log: ((String) -> Void)?

func usage() -> Never {
    fputs("Simulation --seed N --calls M [--stride K] [--canary NAME] [--log]\n", stderr)
    exit(2)
}

/// Written at once: what stands here when the process traps is all that is known.
func tell(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    var start = 0
    while start < bytes.count {
        let count = bytes.withUnsafeBytes { write(1, $0.baseAddress! + start, bytes.count - start) }
        guard count > 0 else { exit(2) }
        start += count
    }
}

var words = CommandLine.arguments.dropFirst()
while let word = words.popFirst() {
    if word == "--log" {
        log = tell
        continue
    }
    guard let value = words.popFirst() else { usage() }
    switch word {
    case "--seed": seed = UInt64(value) ?? 1
    case "--stride": stride = UInt64(value) ?? 1
    case "--calls": callsWanted = Int(value) ?? 1
    case "--canary":
        guard let known = Canary(rawValue: value) else { usage() }
        canary = known
    default: usage()
    }
}

var calls = 0
var finished = ""
repeat {
    tell(finished + "begin \(seed)")
    let world = World(seed: seed, canary: canary, log: log)
    world.play()
    calls += world.calls
    if let violation = world.violation {
        let ms = violation.at.nanoseconds / 1_000_000
        tell("fail \(seed) \(violation.rule) at \(ms) ms: \(violation.text)")
        tell("options \(world.options.text)")
        exit(1)
    }
    finished = "end \(world.calls) \(String(world.digest.value, radix: 16))\n"
    seed &+= stride
} while calls < callsWanted
tell(finished + "done")
