// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import Display
import Loop
import Picture

/// One trial by its name.
func run(_ what: ByteString, _ path: ByteString, _ words: [ByteString]) throws(HardwareCodecError) {
    let clip = Clip(path)
    let first = words.first ?? ""
    let second = words.count > 1 ? words[1] : ""
    if what == "crc", words.count > 2 {
        return try checksums(clip, letters(first), bySoftware: second == "software", words[2])
    }
    if what == "changes" { return try changes(clip, times: number(first)) }
    if what == "flush" { return try flush(clip) }
    if what == "encode" { return try encode(clip, isShared: first == "shared") }
    if what == "fault" { return try fault(clip) }
    if what == "slices", words.count > 2 {
        let isCut = words.dropFirst(3).first == "cut"
        return try decodeSlices(second, bySlice: first == "slice", times: number(words[2]), isCut: isCut)
    }
    if what == "jpeg", words.count > 1 {
        return decodeJPEG(path, width: number(first), height: number(second))
    }
    if what == "pace" { return try pace(clip, turns: number(first), shows: second == "show") }
    say("no trial is called " + what)
}

private func number(_ text: ByteString) -> Int {
    text.bytes.reduce(0) { $0 * 10 + Int($1 &- 0x30) }
}

private func checksums(
    _ clip: Clip, _ format: UInt32, bySoftware: Bool, _ path: ByteString
) throws(HardwareCodecError) {
    let show = Show()
    guard let sums = Checksums(path) else { return say("no checksums") }
    let playing = try Playing(format: format)
    try playing.play(clip.units[...]) { picture in
        let isShown = show.put(picture, bySoftware: bySoftware)
        say("crc " + (isShown ? sums.next(show.display.fileDescriptor ?? -1) : "lost"))
    }
    tell(show)
}

private func tell(_ show: Show) {
    let counters = show.display.counters(.remote)
    say("shown " + word(Int(clamping: counters.shown)) + " copies " + word(Int(clamping: counters.copies)))
    if let reason = show.display.copyReason(.remote) { say("reason " + reason) }
    for plan in show.display.arrangement { say(plan.text) }
}

/// The clip holds pictures of several sizes: playing it once goes through as many changes.
private func changes(_ clip: Clip, times: Int) throws(HardwareCodecError) {
    let show = Show()
    let playing = try Playing(format: 0)
    var (shown, pool, changed) = (0, UInt64(0), 0)
    var round = 0
    while changed < times {
        try playing.play(clip.units[...], isDraining: false) { picture in
            if show.put(picture, bySoftware: false) { shown += 1 }
            if picture.poolID != pool { changed += 1 }
            pool = picture.poolID
        }
        round += 1
        if round == 3 || changed >= times {
            say(
                "held " + word(changed) + " " + word(Holdings.descriptors) + " "
                    + word(show.display.framebufferCount) + " " + word(Holdings.pages))
        }
    }
    say("changes " + word(changed) + " shown " + word(shown))
    tell(show)
}

private func flush(_ clip: Clip) throws(HardwareCodecError) {
    let playing = try Playing(format: 0)
    let middle = clip.units.count / 2
    var (before, after) = (0, 0)
    try playing.play(clip.units[..<middle], isDraining: false) { _ in before += 1 }
    for _ in 0..<10 {
        try playing.decoder.flush()
        after = 0
        try playing.play(clip.units[middle...], isDraining: false) { _ in after += 1 }
    }
    try playing.decoder.drain()
    try playing.decoder.flush()
    try playing.play(clip.units[middle...]) { _ in after += 1 }
    say("before " + word(before) + " after " + word(after) + " damaged " + word(playing.damaged))
}

private func fault(_ clip: Clip) throws(HardwareCodecError) {
    var pictures = 0
    let playing = try Playing(format: 0)
    try playing.play(clip.units[...]) { _ in pictures += 1 }
    say("pictures " + word(pictures) + " damaged " + word(playing.damaged))
}

/// The display alone: pictures that were decoded before, one each time that it has shown the last.
private func pace(_ clip: Clip, turns: Int, shows: Bool) throws(HardwareCodecError) {
    let show = Show()
    let playing = try Playing(format: 0)
    var pictures: [SharedPicture] = []
    try playing.play(clip.units.prefix(3), isDraining: false) { pictures.append($0) }
    for picture in pictures { _ = show.put(picture, bySoftware: false) }
    // The machine beside reads its clock at each of these lines.
    say("ready")
    _ = poll(nil, 0, 300)
    let converter = SharedPictureConverter()
    for turn in 0..<turns {
        if shows {
            let image = pictures[turn % pictures.count].image(converter)
            show.display.submit(image, on: .remote, now: Clock.now())
            show.display.turn(now: Clock.now())
            _ = show.wait(limitMs: 100)
        } else {
            _ = poll(nil, 0, 16)
        }
    }
    say("paced")
    _ = poll(nil, 0, 500)
    tell(show)
}
