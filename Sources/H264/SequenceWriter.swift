// SPDX-License-Identifier: Apache-2.0

extension SequenceParameterSet {
    /// Nothing in the stream can be shown in another order than it is decoded in: as it says itself, for the order is
    /// that of decoding, or because there are no B slices (Baseline, and Main and High profile with set 5).
    public var cannotReorder: Bool {
        if let restriction = self.usability?.restriction { return restriction.reorderedFrames == 0 }
        let hasNoB = self.profile == 66 || self.constraints & 0x80 != 0
        let isRestricted = (self.profile == 77 || self.profile == 100) && self.constraints & 0x04 != 0
        return hasNoB || isRestricted || self.order == .decoding
    }

    /// The same set with bitstream_restriction, saying that no frame waits for another to be shown, so that a decoder
    /// gives each at once; nil where the stream may reorder, or it says so already.
    public func withoutReordering() -> SequenceParameterSet? {
        guard self.cannotReorder else { return nil }
        var changed = self
        var usability = self.usability ?? VideoUsability()
        // As inferred where absent, but for what is not reordered (H.264 section E.2.1).
        var restriction =
            usability.restriction
            ?? VideoUsability.Restriction(
                vectorsOverBoundaries: true, bytesDenominator: 2, bitsDenominator: 1, vectorBitsHorizontal: 15,
                vectorBitsVertical: 15, reorderedFrames: 0, bufferedFrames: 0)
        restriction.reorderedFrames = 0
        restriction.bufferedFrames = self.referenceFrames
        usability.restriction = restriction
        changed.usability = usability
        return changed == self ? nil : changed
    }

    /// As a NAL unit.
    public func nalUnit() -> [UInt8] {
        var writer = RBSPWriter()
        writer.bits(UInt32(self.profile), 8)
        writer.bits(UInt32(self.constraints), 8)
        writer.bits(UInt32(self.level), 8)
        writer.unsigned(self.id)
        if Self.hasChroma(self.profile) { self.writeSamples(&writer) }
        writer.unsigned(UInt32(self.frameNumberBits) &- 4)
        self.order.write(&writer)
        writer.unsigned(UInt32(self.referenceFrames))
        writer.flag(self.hasGaps)
        writer.unsigned(UInt32(self.columns) &- 1)
        writer.unsigned(UInt32(self.rows) &- 1)
        writer.flag(self.isFrameOnly)
        if !self.isFrameOnly { writer.flag(self.isAdaptive) }
        writer.flag(self.infersDirect8x8)
        writer.flag(self.cropping != nil)
        if let cropping = self.cropping {
            for side in [cropping.left, cropping.right, cropping.top, cropping.bottom] { writer.unsigned(side) }
        }
        writer.flag(self.usability != nil)
        self.usability?.write(&writer)
        return writer.nalUnit(header: 0x67)
    }

    private func writeSamples(_ writer: inout RBSPWriter) {
        writer.unsigned(UInt32(self.chromaFormat))
        if self.chromaFormat == 3 { writer.flag(self.hasSeparatePlanes) }
        writer.unsigned(UInt32(self.bitDepthLuma) &- 8)
        writer.unsigned(UInt32(self.bitDepthChroma) &- 8)
        writer.flag(self.isLosslessAtZero)
        writer.flag(self.scaling != nil)
        self.scaling?.write(&writer)
    }
}

extension SequenceParameterSet.PictureOrder {
    func write(_ writer: inout RBSPWriter) {
        switch self {
        case .sent(let bits):
            writer.unsigned(0)
            writer.unsigned(UInt32(bits) &- 4)
        case .cycle(let cycle):
            writer.unsigned(1)
            writer.flag(cycle.isExact)
            writer.signed(cycle.offsetOfUnreferenced)
            writer.signed(cycle.offsetOfBottom)
            writer.unsigned(UInt32(truncatingIfNeeded: cycle.offsets.count))
            for offset in cycle.offsets { writer.signed(offset) }
        case .decoding: writer.unsigned(2)
        }
    }
}

extension ScalingLists {
    func write(_ writer: inout RBSPWriter) {
        for list in self.lists {
            writer.flag(list != .absent)
            switch list {
            case .absent: break
            case .preset: writer.signed(-8)
            case .sent(let weights):
                var last: UInt8 = 8
                for weight in weights {
                    writer.signed(Int32(Int8(bitPattern: weight &- last)))
                    last = weight
                }
            }
        }
    }
}

extension VideoUsability {
    func write(_ writer: inout RBSPWriter) {
        writer.flag(self.aspect != nil)
        if let aspect = self.aspect { writer.bits(UInt32(aspect), 8) }
        if let sides = self.sampleAspect {
            writer.bits(UInt32(sides.width), 16)
            writer.bits(UInt32(sides.height), 16)
        }
        writer.flag(self.overscan != nil)
        if let overscan = self.overscan { writer.flag(overscan) }
        writer.flag(self.signal != nil)
        self.signal?.write(&writer)
        writer.flag(self.chromaLocation != nil)
        if let location = self.chromaLocation {
            writer.unsigned(UInt32(location.top))
            writer.unsigned(UInt32(location.bottom))
        }
        writer.flag(self.timing != nil)
        if let timing = self.timing {
            writer.bits(timing.unitsInTick, 32)
            writer.bits(timing.timeScale, 32)
            writer.flag(timing.isFixed)
        }
        writer.flag(self.nalReference != nil)
        self.nalReference?.write(&writer)
        writer.flag(self.vclReference != nil)
        self.vclReference?.write(&writer)
        if let isLowDelay = self.isLowDelay { writer.flag(isLowDelay) }
        writer.flag(self.hasPictureStructure)
        writer.flag(self.restriction != nil)
        self.restriction?.write(&writer)
    }
}

extension VideoUsability.Signal {
    func write(_ writer: inout RBSPWriter) {
        writer.bits(UInt32(self.format), 3)
        writer.flag(self.isFullRange)
        writer.flag(self.colours != nil)
        guard let colours = self.colours else { return }
        for value in [colours.primaries, colours.transfer, colours.matrix] { writer.bits(UInt32(value), 8) }
    }
}

extension VideoUsability.Restriction {
    func write(_ writer: inout RBSPWriter) {
        writer.flag(self.vectorsOverBoundaries)
        for value in [
            self.bytesDenominator, self.bitsDenominator, self.vectorBitsHorizontal, self.vectorBitsVertical,
            self.reorderedFrames, self.bufferedFrames,
        ] { writer.unsigned(UInt32(value)) }
    }
}

extension ReferenceDecoder {
    func write(_ writer: inout RBSPWriter) {
        writer.unsigned(UInt32(truncatingIfNeeded: self.schedules.count) &- 1)
        writer.bits(UInt32(self.bitRateScale), 4)
        writer.bits(UInt32(self.bufferSizeScale), 4)
        for schedule in self.schedules {
            writer.unsigned(schedule.bitRate)
            writer.unsigned(schedule.bufferSize)
            writer.flag(schedule.isConstantRate)
        }
        for bits in [self.initialDelayBits, self.removalDelayBits, self.outputDelayBits] {
            writer.bits(UInt32(bits) &- 1, 5)
        }
        writer.bits(UInt32(self.timeOffsetBits), 5)
    }
}
