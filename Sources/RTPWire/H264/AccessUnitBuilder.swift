// SPDX-License-Identifier: Apache-2.0

import H264

/// An access unit while its packets come in.
struct AccessUnitBuilder: Sendable {
    var timestamp: RTPTimestamp
    /// Whether the packet before the first of this unit was seen: if not, its beginning may be missing.
    let isStartKnown: Bool
    /// Nothing is missing since the first packet.
    var isWhole = true
    private(set) var isOversized = false
    private(set) var bytes = 0
    private(set) var hasSlices = false
    /// first_mb_in_slice of the first slice.
    private(set) var startsAtMacroblock: UInt32?

    private var nalUnits: [[UInt8]] = []
    private var hasIDR = false
    private var hasRecoveryPoint = false
    private var isIntra = true
    /// What the first slice refers to.
    private var pictureParameterSetID: UInt32?

    init(timestamp: RTPTimestamp, isStartKnown: Bool) {
        self.timestamp = timestamp
        self.isStartKnown = isStartKnown
    }

    mutating func append(_ nalUnit: [UInt8]) {
        guard let first = nalUnit.first else { return }
        guard self.nalUnits.count < RTPLimits.nalUnitsMax,
            self.bytes + nalUnit.count <= RTPLimits.accessUnitBytesMax
        else { return self.overflow() }
        let type = NALUnitType.of(first)
        switch type {
        case NALUnitType.slice...NALUnitType.idrSlice: self.noteSlice(nalUnit, type: type)
        case NALUnitType.sei:
            if RecoveryPoint.isImmediate(in: nalUnit) { self.hasRecoveryPoint = true }
        case NALUnitType.fillerData: return
        default: break
        }
        self.bytes += nalUnit.count
        self.nalUnits.append(nalUnit)
    }

    private mutating func noteSlice(_ nalUnit: [UInt8], type: UInt8) {
        let header = SlicePrefix.parse(nalUnit)
        if !self.hasSlices {
            self.startsAtMacroblock = header?.firstMacroblock
            self.pictureParameterSetID = header?.pictureParameterSetID
        }
        self.hasSlices = true
        if type == NALUnitType.idrSlice { self.hasIDR = true }
        if header?.isIntra != true { self.isIntra = false }
    }

    /// Gives up what was gathered: the bounds are passed.
    mutating func overflow() {
        self.isOversized = true
        self.isWhole = false
        self.hasSlices = true
        self.nalUnits.removeAll()
        self.bytes = 0
    }

    func accessUnit(followsLoss: Bool, parameterSets: H264ParameterSets) -> AccessUnit {
        let isStartHere = self.isStartKnown || self.startsAtMacroblock == 0
        let isComplete = self.isWhole && self.hasSlices && isStartHere
        let needed = self.pictureParameterSetID.flatMap { parameterSets.needed(byPicture: $0) }
        let isKeyFrame = (self.hasIDR || self.hasRecoveryPoint && self.isIntra) && needed != nil
        var units = self.nalUnits
        if isKeyFrame, let needed { Self.complete(&units, sequence: needed.sequence, picture: needed.picture) }
        return AccessUnit(
            nalUnits: units, timestamp: self.timestamp, isKeyFrame: isKeyFrame, isComplete: isComplete,
            followsLoss: followsLoss)
    }

    /// Puts the parameter sets before the picture (after a delimiter) where the sender left them out.
    private static func complete(_ units: inout [[UInt8]], sequence: [UInt8], picture: [UInt8]) {
        var index = 0
        if let first = units.first?.first, NALUnitType.of(first) == NALUnitType.accessUnitDelimiter { index = 1 }
        if let present = units.firstIndex(of: sequence) {
            index = present
        } else {
            units.insert(sequence, at: index)
        }
        if !units.contains(picture) { units.insert(picture, at: index + 1) }
    }
}
