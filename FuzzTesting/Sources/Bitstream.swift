// SPDX-License-Identifier: Apache-2.0

import H264

/// A byte stream, cut at its start codes, as access units of one stream: pictures that are taken are sound, and
/// parameter sets are written as they were read. The first bit says whether pictures may be out of order.
func fuzzBitstream(_ input: [UInt8]) {
    var sequencer = PictureSequencer(accepting: H264Acceptance(allowsReordering: (input.first ?? 0) & 1 == 1))
    var unit: [[UInt8]] = []
    var id: UInt64 = 0
    for nalUnit in nalUnits(input.dropFirst()) {
        if let set = SequenceParameterSet.parse(nalUnit) { check(set) }
        let begins = SlicePrefix.parse(nalUnit).map { $0.firstMacroblock == 0 } ?? true
        if begins, unit.contains(where: { SlicePrefix.parse($0) != nil }) {
            id += 1
            take(unit, id, &sequencer)
            unit = []
        }
        unit.append(nalUnit)
    }
    take(unit, id + 1, &sequencer)
}

private func take(_ unit: [[UInt8]], _ id: UInt64, _ sequencer: inout PictureSequencer) {
    do {
        guard let picture = try sequencer.take(unit, id: id) else { return }
        require(!picture.slices.isEmpty && picture.slices.count <= H264Limits.slicesMax, "pictures have slices")
        require(picture.references.count <= H264Limits.framesMax, "frames are bounded")
        require(picture.references.allSatisfy { $0.id < id }, "frames refer to those before")
        require(picture.scaling.lists.allSatisfy { $0.count == 16 || $0.count == 64 }, "weights are all there")
        for slice in picture.slices {
            require(slice.unit < unit.count, "a slice is one of the units")
            require(slice.header.headerBits <= unit[slice.unit].count * 8, "a header ends within its unit")
            for (list, entries) in slice.lists.enumerated() {
                let active = Int(slice.header.activeReferences[list])
                require(entries.count == active, "lists are as long as they are active")
                require(entries.allSatisfy { $0 < picture.references.count }, "entries name frames")
            }
        }
    } catch {
        require(!error.text.isEmpty, "what is refused is told")
    }
}

private func check(_ set: SequenceParameterSet) {
    require(SequenceParameterSet.parse(set.nalUnit()) == set, "sets read as they are written")
    guard let changed = set.withoutReordering() else { return }
    require(SequenceParameterSet.parse(changed.nalUnit()) == changed, "changed sets can be read")
    require(changed.width == set.width && changed.height == set.height, "they say the same of the picture")
}

/// What stands between start codes, none of it empty.
private func nalUnits(_ stream: ArraySlice<UInt8>) -> [[UInt8]] {
    var units: [[UInt8]] = []
    var unit: [UInt8] = []
    for byte in stream {
        unit.append(byte)
        if byte == 1, unit.count >= 3, unit[unit.count - 2] == 0, unit[unit.count - 3] == 0 {
            unit.removeLast(3)
            if !unit.isEmpty { units.append(unit) }
            unit = []
        }
    }
    if !unit.isEmpty { units.append(unit) }
    return units
}
