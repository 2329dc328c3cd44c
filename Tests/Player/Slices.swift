// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import H264
import Loop
import Picture

/// Decodes an H.264 byte stream by the decoder that is told of each picture, and says what came of it. The kernel's
/// test decoder (visl) draws what it was told instead of decoding. `times` over: each round holds as many pictures as a
/// display does, and lets go of them late. `isCut`: before each round it is given some pictures that it has to forget.
func decodeSlices(_ path: ByteString, bySlice: Bool, times: Int, isCut: Bool) throws(HardwareCodecError) {
    let units = accessUnits(AnnexB.nalUnits(in: Clip.read(path), limit: 65_536))
    let decoder = try V4L2StatelessDecoder(.init(allowsReordering: true, prefersSlices: bySlice))
    say("mode " + (decoder.decodesSlices ? "slice" : "frame"))
    var held: [SharedPicture] = []
    var (pictures, damaged) = (0, 0)
    var before = 0
    for round in 0..<times {
        if round == 1 { before = Holdings.descriptors }
        if isCut {
            for unit in units.prefix(1 + round % 6) { _ = try put(unit, decoder) }
            try decoder.flush()
        }
        var rest = units[...]
        var until = Clock.now() + .milliseconds(Playing.limitMs)
        var isDone = false
        while !isDone {
            while let unit = rest.first, try put(unit, decoder) { rest = rest.dropFirst() }
            if rest.isEmpty { try decoder.drain() }
            var isIdle = false
            while !isIdle, !isDone {
                switch try decoder.takePicture() {
                case .picture(let picture):
                    pictures += 1
                    held.append(picture)
                    if held.count > 3 { held.removeFirst().release() }
                    until = Clock.now() + .milliseconds(Playing.limitMs)
                case .damaged: damaged += 1
                case .drained: isDone = true
                case .nothing: isIdle = true
                }
            }
            if isDone || decoder.canTakeUnit && !rest.isEmpty { continue }
            if !decoder.wait(limitMs: 20), Clock.now() > until { throw .stuck(afterMs: Playing.limitMs) }
        }
    }
    say("units " + word(units.count * times) + " pictures " + word(pictures) + " damaged " + word(damaged))
    let grown = times > 1 ? Holdings.descriptors - before : 0
    say("size " + (held.last.map { place($0.visible) } ?? "none") + " grown " + word(grown))
    decoder.stop()
}

private func place(_ part: VisiblePart) -> ByteString {
    word(part.width) + "x" + word(part.height) + " at " + word(part.x) + "," + word(part.y)
}

private func put(_ unit: [UInt8], _ decoder: V4L2StatelessDecoder) throws(HardwareCodecError) -> Bool {
    var fault: HardwareCodecError?
    let isTaken = unit.withUnsafeBytes { bytes -> Bool in
        do throws(HardwareCodecError) {
            return try decoder.submit(bytes, captured: Clock.now())
        } catch {
            fault = error
            return false
        }
    }
    if let fault { throw fault }
    return isTaken
}

/// With start codes; a slice at macroblock 0, or what is no slice after one, begins a picture.
private func accessUnits(_ nalUnits: [[UInt8]]) -> [[UInt8]] {
    var units: [[UInt8]] = []
    var unit: [UInt8] = []
    var hasSlice = false
    for nalUnit in nalUnits {
        let prefix = SlicePrefix.parse(nalUnit)
        if hasSlice, prefix.map({ $0.firstMacroblock == 0 }) ?? true {
            units.append(unit)
            unit = []
            hasSlice = false
        }
        unit += [0, 0, 0, 1] + nalUnit
        if prefix != nil { hasSlice = true }
    }
    return hasSlice ? units + [unit] : units
}
