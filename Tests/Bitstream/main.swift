// SPDX-License-Identifier: Apache-2.0

import Foundation
import H264

/// Prints every syntax element that is read of an H.264 byte stream, one a line, by the names of the specification; in
/// front of each NAL unit stands "unit TYPE". What cannot be read is told instead of its elements. --judged
/// says whether a decoder in a call takes the stream; --rewritten writes it again, its sequence parameter sets told not
/// to wait.
let words = Array(CommandLine.arguments.dropFirst())
guard let path = words.first(where: { !$0.hasPrefix("--") }), let data = FileManager.default.contents(atPath: path)
else {
    print("usage: Bitstream FILE | --judged FILE | --rewritten FILE OUTPUT")
    exit(2)
}

/// The NAL units between start codes, without the zeros that may pad them.
func units(in stream: [UInt8]) -> [[UInt8]] {
    var starts: [Int] = []
    var index = 0
    while index + 2 < stream.count {
        if stream[index] == 0, stream[index + 1] == 0, stream[index + 2] == 1 {
            starts.append(index + 3)
            index += 3
        } else {
            index += 1
        }
    }
    return zip(starts, starts.dropFirst().map { $0 - 3 } + [stream.count]).map { begin, end in
        var end = end
        while end > begin, stream[end - 1] == 0 { end -= 1 }
        return Array(stream[begin..<end])
    }
}

let stream = units(in: Array(data))
if words.first == "--rewritten", words.count == 3 {
    var written: [UInt8] = []
    for unit in stream {
        let changed = SequenceParameterSet.parse(unit).map { ($0.withoutReordering() ?? $0).nalUnit() } ?? unit
        written += [0, 0, 0, 1] + changed
    }
    guard FileManager.default.createFile(atPath: words[2], contents: Data(written)) else {
        print("cannot write \(words[2])")
        exit(1)
    }
} else if words.first == "--judged" {
    print(judged(stream))
} else {
    var listing = Listing()
    for unit in stream { listing.add(unit) }
    print(listing.lines.joined(separator: "\n"))
}

/// What a decoder in a call says of the stream: its refusal in words, or "taken".
func judged(_ stream: [[UInt8]]) -> String {
    var sequencer = PictureSequencer(accepting: H264Acceptance())
    var picture: [[UInt8]] = []
    do {
        for (index, unit) in stream.enumerated() {
            // A slice at macroblock 0, or what is no slice after one, begins a picture.
            let begins = SlicePrefix.parse(unit).map { $0.firstMacroblock == 0 } ?? true
            if begins, picture.contains(where: { SlicePrefix.parse($0) != nil }) {
                _ = try sequencer.take(picture, id: UInt64(index))
                picture = []
            }
            picture.append(unit)
        }
        _ = try sequencer.take(picture, id: 0)
        return "taken"
    } catch {
        return String(decoding: error.text.bytes, as: UTF8.self)
    }
}
