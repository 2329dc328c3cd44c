// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import Loop
import Picture

// Plays clips of the kernel's test codec by the product's own decoder, encoder and display, and says what happened:
//
//     player crc CLIP FORMAT direct|software CRC a checksum of the screen for each picture
//     player changes CLIP TIMES                  what is held at the beginning, and after so many changes of size
//     player flush CLIP                          half of the clip, an end without a wait, the other half
//     player encode CLIP shared|copied           the clip made anew, a key frame in its middle
//     player fault CLIP                          what is said of a device that fails
//     player slices - frame|slice STREAM TIMES [cut]
//                                                an H.264 byte stream by the decoder that is told of each picture
//     player jpeg FILE WIDTH HEIGHT              a camera's picture by who decodes such
//     player pace CLIP TURNS show|hold           pictures at the display's pace, or as long a wait

let words = ByteString(Clip.read("/proc/self/cmdline")).split(on: 0)
guard words.count >= 3 else {
    say("usage: player WHAT CLIP ...")
    exit(64)
}
let begin = Clock.now()
do throws(HardwareCodecError) {
    try run(words[1], words[2], Array(words[3...]))
} catch {
    say("error " + error.kind.name + " after " + word((Clock.now() - begin).milliseconds) + " ms: " + error.text)
}
