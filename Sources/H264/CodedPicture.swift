// SPDX-License-Identifier: Apache-2.0

/// A frame with all that a decoder without a memory of its own has to be told to decode it.
public struct CodedPicture: Sendable {
    public struct Slice: Sendable {
        /// Its place among the NAL units that were given.
        public var unit: Int
        public var header: SliceHeader
        /// For each list its entries, as indices into `references`; as many as are active.
        public var lists: [[UInt8]]
    }

    public var sequence: SequenceParameterSet
    public var parameters: PictureParameterSet
    public var scaling: ScalingMatrix
    public var order: PictureOrderCount
    /// At least one, in order of their macroblocks.
    public var slices: [Slice]
    /// What it may refer to, before its own marking.
    public var references: [ReferenceFrame]
    /// The sequence parameter set is another one than that of the picture before.
    public var beginsSequence: Bool

    /// Of the first slice; what a decoder is told of a picture is the same in all.
    public var header: SliceHeader { self.slices[0].header }
}

/// Follows a stream of frames from its parameter sets on: which frames are there to refer to, and in which order.
///
/// `take` each access unit in order; after it has thrown, begin at a key frame.
public struct PictureSequencer: Sendable {
    private let acceptance: H264Acceptance
    private var sequences: [SequenceParameterSet] = []
    /// Unparsed: how one is read depends on its sequence parameter set, which may come later.
    private var pictures: [(id: UInt32, sequence: UInt32, unit: [UInt8])] = []
    private var active: SequenceParameterSet?
    private var frames = ReferenceFrames()
    private var order = PictureOrderDecoder()
    /// Picture order count of the picture before, where the order of both can be compared.
    private var shown: Int32?

    public init(accepting acceptance: H264Acceptance) {
        self.acceptance = acceptance
    }

    /// What comes next has to be a key frame.
    public mutating func restart() {
        self.active = nil
    }

    /// Reads an access unit; `id` names its picture where later ones refer to it.
    ///
    /// - Returns: nil where there is no slice in it, only parameter sets.
    public mutating func take(_ units: [[UInt8]], id: UInt64) throws(H264Refusal) -> CodedPicture? {
        do {
            return try self.read(units, id: id)
        } catch {
            self.restart()
            throw error
        }
    }

    private mutating func read(_ units: [[UInt8]], id: UInt64) throws(H264Refusal) -> CodedPicture? {
        var headers: [(unit: Int, header: SliceHeader)] = []
        var sets: (picture: PictureParameterSet, sequence: SequenceParameterSet)?
        for (index, unit) in units.enumerated() {
            switch NALUnitType.of(unit.first ?? 0) {
            case NALUnitType.sequenceParameterSet: self.learnSequence(unit)
            case NALUnitType.pictureParameterSet: self.learnPicture(unit)
            case NALUnitType.dataPartitionA...NALUnitType.dataPartitionC: throw .dataPartitioning
            case NALUnitType.slice, NALUnitType.idrSlice:
                guard let prefix = SlicePrefix.parse(unit) else { throw .unreadable }
                let known: (picture: PictureParameterSet, sequence: SequenceParameterSet)
                if let sets { known = sets } else { known = try self.sets(prefix.pictureParameterSetID) }
                sets = known
                try self.acceptance.judge(known.sequence, known.picture)
                guard let header = SliceHeader.parse(unit, sets: { $0 == known.picture.id ? known : nil }) else {
                    throw .unreadable
                }
                try Self.judge(header, after: headers.last?.header)
                headers.append((index, header))
            default: break
            }
        }
        guard let first = headers.first?.header, let sets else { return nil }
        return try self.picture(headers, first: first, sets: sets, id: id)
    }

    /// Throws why a slice does not go with that before it.
    private static func judge(_ header: SliceHeader, after last: SliceHeader?) throws(H264Refusal) {
        guard header.redundantCount == 0 else { throw .redundantSlices }
        guard header.kind.rawValue < SliceKind.sp.rawValue else { throw .switchingSlices }
        guard let last else { return }
        guard header.isOfSamePicture(as: last) else { throw .severalPictures }
        guard header.prefix.firstMacroblock > last.prefix.firstMacroblock else { throw .arbitraryOrder }
    }

    private mutating func picture(
        _ headers: [(unit: Int, header: SliceHeader)], first: SliceHeader,
        sets: (picture: PictureParameterSet, sequence: SequenceParameterSet), id: UInt64
    ) throws(H264Refusal) -> CodedPicture {
        guard headers.count <= H264Limits.slicesMax else { throw .tooManySlices }
        let beginsSequence = self.active != sets.sequence
        try self.begin(headers.map { $0.header }, sequence: sets.sequence)
        let order = self.order.next(first, sequence: sets.sequence)
        try self.judgeOrder(order, of: first)
        var slices: [CodedPicture.Slice] = []
        for (unit, header) in headers {
            let builder = ReferenceListBuilder(
                frames: self.frames.frames, header: header, order: order, end: sets.sequence.frameNumberEnd)
            guard let lists = builder.lists() else { throw .missingReference }
            slices.append(.init(unit: unit, header: header, lists: lists))
        }
        let picture = CodedPicture(
            sequence: sets.sequence, parameters: sets.picture,
            scaling: ScalingMatrix(sequence: sets.sequence.scaling, picture: sets.picture.more?.scaling), order: order,
            slices: slices, references: self.frames.frames, beginsSequence: beginsSequence)
        self.frames.mark(first, id: id, order: order, sequence: sets.sequence)
        return picture
    }

    /// Sees to what is there before a picture: after an IDR picture nothing, after a gap what it left out.
    private mutating func begin(_ headers: [SliceHeader], sequence: SequenceParameterSet) throws(H264Refusal) {
        let first = headers[0]
        if first.isIDR {
            self.frames.begin(at: 0)
            self.shown = nil
        } else if self.active == nil {
            // From here decoding can begin only where nothing is referred to.
            guard headers.allSatisfy({ $0.kind.isIntra }) else { throw .missingReference }
            self.frames.begin(at: first.frameNumber)
            self.order = PictureOrderDecoder()
            self.shown = nil
        } else {
            guard self.active == sequence else { throw .sequenceChanged }
            if self.frames.infer(upTo: first.frameNumber, sequence: sequence), !sequence.hasGaps {
                throw .missingReference
            }
        }
        self.active = sequence
    }

    private mutating func judgeOrder(_ order: PictureOrderCount, of header: SliceHeader) throws(H264Refusal) {
        if let shown = self.shown, !self.acceptance.allowsReordering, order.frame <= shown, !header.marking.dropsAll {
            throw .reordering
        }
        self.shown = header.marking.dropsAll ? order.restarted.frame : order.frame
    }
}

// MARK: - Parameter sets

extension PictureSequencer {
    private mutating func learnSequence(_ unit: [UInt8]) {
        guard let set = SequenceParameterSet.parse(unit) else { return }
        self.sequences.removeAll { $0.id == set.id }
        self.sequences.append(set)
    }

    private mutating func learnPicture(_ unit: [UInt8]) {
        guard unit.count <= H264Limits.parameterSetBytesMax, let ids = PictureParameterSet.ids(unit) else { return }
        self.pictures.removeAll { $0.id == ids.picture }
        if self.pictures.count == H264Limits.pictureParameterSetsMax { self.pictures.removeFirst() }
        self.pictures.append((ids.picture, ids.sequence, unit))
    }

    private func sets(
        _ id: UInt32
    ) throws(H264Refusal) -> (picture: PictureParameterSet, sequence: SequenceParameterSet) {
        guard let unparsed = self.pictures.first(where: { $0.id == id }),
            let sequence = self.sequences.first(where: { $0.id == unparsed.sequence })
        else { throw .missingParameterSet }
        guard let picture = PictureParameterSet.parse(unparsed.unit, sequence: sequence) else { throw .unreadable }
        return (picture, sequence)
    }
}
