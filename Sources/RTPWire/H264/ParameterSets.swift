// SPDX-License-Identifier: Apache-2.0

import H264

/// The newest sequence and picture parameter sets of a stream, each kept by its id.
public struct H264ParameterSets: Hashable, Sendable {
    private struct Sequence: Hashable, Sendable {
        var parsed: SequenceParameterSet
        var nalUnit: [UInt8]
    }

    private struct Picture: Hashable, Sendable {
        var id: UInt32
        var sequenceID: UInt32
        var nalUnit: [UInt8]
    }

    /// Oldest first.
    private var sequences: [Sequence] = []
    private var pictures: [Picture] = []

    public init() {}

    /// The newest sequence parameter set that could be read.
    public var sequence: SequenceParameterSet? { self.sequences.last?.parsed }

    /// Remembers a set of either kind; anything else, and sets that cannot be read, are ignored.
    public mutating func learn(_ nalUnit: [UInt8]) {
        guard let first = nalUnit.first, nalUnit.count <= H264Limits.parameterSetBytesMax else { return }
        switch NALUnitType.of(first) {
        case NALUnitType.sequenceParameterSet: self.learnSequence(nalUnit)
        case NALUnitType.pictureParameterSet: self.learnPicture(nalUnit)
        default: break
        }
    }

    private mutating func learnSequence(_ nalUnit: [UInt8]) {
        guard let parsed = SequenceParameterSet.parse(nalUnit) else { return }
        if let known = self.sequences.last, known.nalUnit == nalUnit { return }
        self.sequences.removeAll { $0.parsed.id == parsed.id }
        if self.sequences.count == RTPLimits.parameterSetsMax { self.sequences.removeFirst() }
        self.sequences.append(Sequence(parsed: parsed, nalUnit: nalUnit))
    }

    private mutating func learnPicture(_ nalUnit: [UInt8]) {
        guard let ids = PictureParameterSet.ids(nalUnit) else { return }
        if let known = self.pictures.last, known.nalUnit == nalUnit { return }
        self.pictures.removeAll { $0.id == ids.picture }
        if self.pictures.count == RTPLimits.parameterSetsMax { self.pictures.removeFirst() }
        self.pictures.append(Picture(id: ids.picture, sequenceID: ids.sequence, nalUnit: nalUnit))
    }

    /// The sequence and picture parameter set that a slice with this picture parameter set id needs; nil unless both
    /// are known.
    func needed(byPicture id: UInt32) -> (sequence: [UInt8], picture: [UInt8])? {
        guard let picture = self.pictures.first(where: { $0.id == id }),
            let sequence = self.sequences.first(where: { $0.parsed.id == picture.sequenceID })
        else { return nil }
        return (sequence.nalUnit, picture.nalUnit)
    }
}
