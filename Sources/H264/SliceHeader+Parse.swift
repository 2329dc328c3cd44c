// SPDX-License-Identifier: Apache-2.0

extension SliceHeader {
    /// Nil where `nalUnit` is no whole slice (types 1 and 5), its header cannot be read, or `sets` does not know the
    /// picture parameter set with the id that it is asked for.
    public static func parse(
        _ nalUnit: [UInt8], sets: (UInt32) -> (picture: PictureParameterSet, sequence: SequenceParameterSet)?
    ) -> SliceHeader? {
        guard let first = nalUnit.first else { return nil }
        let type = NALUnitType.of(first)
        guard type == NALUnitType.slice || type == NALUnitType.idrSlice else { return nil }
        var reader = RBSPReader(nalUnit.dropFirst(), limit: H264Limits.sliceHeaderBytesMax)
        guard let prefix = try? SlicePrefix(&reader), let known = sets(prefix.pictureParameterSetID) else { return nil }
        return try? SliceHeader(
            &reader, first: first, prefix: prefix, picture: known.picture, sequence: known.sequence)
    }

    init(
        _ reader: inout RBSPReader, first: UInt8, prefix: SlicePrefix, picture: PictureParameterSet,
        sequence: SequenceParameterSet
    ) throws(SyntaxFault) {
        self.referenceIDC = (first >> 5) & 3
        self.isIDR = NALUnitType.of(first) == NALUnitType.idrSlice
        self.prefix = prefix
        if sequence.hasSeparatePlanes { self.plane = try reader.byte(2) }
        self.frameNumber = try reader.bits(Int(sequence.frameNumberBits))
        if !sequence.isFrameOnly {
            self.isField = try reader.flag()
            if self.isField { self.isBottomField = try reader.flag() }
        }
        if self.isIDR { self.idrPictureID = try reader.unsigned(max: 65535) }
        try self.readOrder(&reader, picture: picture, sequence: sequence)
        if picture.hasRedundancy { self.redundantCount = try reader.small(max: 127) }
        try self.readReferences(&reader, picture: picture, sequence: sequence)
        if picture.isArithmetic, !self.kind.isIntra { self.cabacInit = try reader.small(max: 2) }
        try self.readQuality(&reader)
        if picture.controlsDeblocking { try self.readDeblocking(&reader) }
        if case .changing(_, _, let rate)? = picture.sliceGroups {
            let units = UInt64(sequence.columns) * UInt64(sequence.rows)
            let steps = (units + UInt64(rate)) / (UInt64(rate) + 1)
            self.sliceGroupChange = try reader.bits(64 - steps.leadingZeroBitCount)
        }
        self.headerBits = 8 + reader.position
    }

    private mutating func readOrder(
        _ reader: inout RBSPReader, picture: PictureParameterSet, sequence: SequenceParameterSet
    ) throws(SyntaxFault) {
        let begin = reader.position
        let hasBottom = picture.hasBottomOrder && !self.isField
        switch sequence.order {
        case .sent(let bits):
            self.orderLow = try reader.bits(Int(bits))
            if hasBottom { self.orderBottom = try reader.signed() }
        case .cycle(let cycle) where !cycle.isExact:
            self.orderOff[0] = try reader.signed()
            if hasBottom { self.orderOff[1] = try reader.signed() }
        case .cycle, .decoding: break
        }
        self.orderBits = reader.position - begin
    }

    /// What decides which pictures this one refers to, and which will be there to refer to after it.
    private mutating func readReferences(
        _ reader: inout RBSPReader, picture: PictureParameterSet, sequence: SequenceParameterSet
    ) throws(SyntaxFault) {
        if self.kind == .b { self.isDirectSpatial = try reader.flag() }
        let lists = self.kind.lists
        if lists > 0 {
            self.overridesActive = try reader.flag()
            let activeMax = UInt8(self.isField ? H264Limits.referencesMax : H264Limits.framesMax)
            for list in 0..<lists {
                let active =
                    self.overridesActive ? try reader.small(max: activeMax - 1) + 1 : picture.activeReferences[list]
                guard active <= activeMax else { throw .range }
                self.activeReferences[list] = active
            }
            for list in 0..<lists { self.modifications[list] = try ListModification.list(&reader) }
        }
        let isWeighted = self.kind == .b ? picture.biprediction == 1 : picture.isWeighted && lists > 0
        if isWeighted {
            self.weights = try PredictionWeights(
                &reader, active: self.activeReferences, hasChroma: sequence.chromaArray != 0)
        }
        if self.isReference {
            let begin = reader.position
            self.marking = try ReferenceMarking(&reader, isIDR: self.isIDR)
            self.markingBits = reader.position - begin
        }
    }

    private mutating func readQuality(_ reader: inout RBSPReader) throws(SyntaxFault) {
        self.qualityOff = try reader.signed(in: -87...87)
        if self.kind == .sp { self.switches = try reader.flag() }
        if self.kind == .sp || self.kind == .si { self.switchingQualityOff = try reader.signed(in: -51...51) }
    }

    private mutating func readDeblocking(_ reader: inout RBSPReader) throws(SyntaxFault) {
        self.deblocking = try reader.small(max: 2)
        guard self.deblocking != 1 else { return }
        self.deblockingAlpha = Int8(truncatingIfNeeded: try reader.signed(in: -6...6))
        self.deblockingBeta = Int8(truncatingIfNeeded: try reader.signed(in: -6...6))
    }
}

// MARK: - Pictures

extension SliceHeader {
    /// Whether both are slices of one picture: what differs between consecutive pictures (H.264 section 7.4.1.2.4).
    public func isOfSamePicture(as other: SliceHeader) -> Bool {
        self.frameNumber == other.frameNumber
            && self.prefix.pictureParameterSetID == other.prefix.pictureParameterSetID
            && self.isField == other.isField && self.isBottomField == other.isBottomField
            && self.isReference == other.isReference && self.isIDR == other.isIDR
            && self.idrPictureID == other.idrPictureID && self.orderLow == other.orderLow
            && self.orderBottom == other.orderBottom && self.orderOff == other.orderOff
    }
}
