// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import Loop
import Picture

/// Decodes a clip and encodes it anew, from the decoder's own memory or from a copy; orders a key frame in the middle.
func encode(_ clip: Clip, isShared: Bool) throws(HardwareCodecError) {
    let playing = try Playing(format: 0)
    let converter = SharedPictureConverter()
    var encoder: V4L2StatefulEncoder?
    var fault: HardwareCodecError?
    var made: [HardwareUnit] = []
    var index = 0
    try playing.play(clip.units[...]) { picture in
        do throws(HardwareCodecError) {
            if encoder == nil {
                encoder = try V4L2StatefulEncoder(
                    HardwareEncoderSettings(
                        coded: codedFormat, width: picture.visible.width, height: picture.visible.height,
                        bitrateKbps: 1000, keyFrameIntervalMs: 500),
                    source: isShared ? picture : nil)
            }
            guard let encoder else { return }
            let wantsKeyFrame = index == clip.units.count / 2
            let isTaken: Bool
            if isShared {
                isTaken = try encoder.submit(picture, forceKeyFrame: wantsKeyFrame)
            } else if let frame = picture.converted(by: converter) {
                isTaken = try encoder.submit(frame, forceKeyFrame: wantsKeyFrame)
            } else {
                isTaken = false
            }
            if let unit = isTaken ? try answer(of: encoder) : nil { made.append(unit) }
            index += 1
        } catch {
            fault = error
        }
    }
    if let fault { throw fault }
    guard let encoder else { return say("nothing came") }
    say("units " + word(made.count) + " copies " + word(Int(clamping: encoder.copies)))
    let keys = made.indices.filter { Clip.isKeyFrame(made[$0].bytes) }
    say("keys" + keys.reduce(ByteString()) { $0 + " " + word($1) })
    say("bitrate " + (encoder.setBitrate(kbps: 500) ? "set" : "fixed"))
    encoder.stop()
    try decodeAgain(made)
}

/// One unit, where it comes in time.
private func answer(of encoder: V4L2StatefulEncoder) throws(HardwareCodecError) -> HardwareUnit? {
    let until = Clock.now() + .milliseconds(Playing.limitMs)
    while Clock.now() < until {
        if let unit = try encoder.takeUnit() { return unit }
        var entry = pollfd(fd: encoder.descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, 20)
    }
    throw HardwareCodecError.stuck(afterMs: Playing.limitMs)
}

/// What was made is worth nothing unless it can be seen.
private func decodeAgain(_ made: [HardwareUnit]) throws(HardwareCodecError) {
    let playing = try Playing(format: 0)
    var pictures = 0
    try playing.play(made.map { $0.bytes }[...]) { _ in pictures += 1 }
    say("decoded " + word(pictures) + " damaged " + word(playing.damaged))
}
