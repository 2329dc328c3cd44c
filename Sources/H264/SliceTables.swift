// SPDX-License-Identifier: Apache-2.0

/// A command of ref_pic_list_modification() (H.264 section 7.3.3.1).
public enum ListModification: Hashable, Sendable {
    /// abs_diff_pic_num_minus1 + 1, to be taken off or added.
    case backward(UInt32)
    case forward(UInt32)
    /// LongTermPicNum.
    case longTerm(UInt32)

    /// The commands of one list; nil where its flag says that there are none.
    static func list(_ reader: inout RBSPReader) throws(SyntaxFault) -> [ListModification]? {
        guard try reader.flag() else { return nil }
        var commands: [ListModification] = []
        while true {
            let code = try reader.unsigned(max: 3)
            guard code != 3 else { return commands }
            guard commands.count < H264Limits.modificationsMax else { throw .range }
            // Differences reach the number of fields at most, 2 × MaxFrameNum.
            switch code {
            case 0: commands.append(.backward(try reader.unsigned(max: 131_071) + 1))
            case 1: commands.append(.forward(try reader.unsigned(max: 131_071) + 1))
            default: commands.append(.longTerm(try reader.unsigned(max: 31)))
            }
        }
    }
}

/// pred_weight_table() (H.264 section 7.3.3.2).
public struct PredictionWeights: Hashable, Sendable {
    public struct Factor: Hashable, Sendable {
        public var weight: Int16
        public var offset: Int16
    }

    /// For one reference index. A flag in front tells whether factors were sent; elsewhere they are the neutral ones.
    public struct Entry: Hashable, Sendable {
        public var isLumaSent: Bool
        public var luma: Factor
        public var isChromaSent: Bool
        /// Of Cb and Cr.
        public var chroma: [Factor]
    }

    /// Logarithms to base 2 of the denominators: 0 to 7.
    public var lumaDenominator: UInt8
    public var chromaDenominator: UInt8
    /// One for each active reference index of both lists.
    public var lists: [[Entry]]

    init(_ reader: inout RBSPReader, active: [UInt8], hasChroma: Bool) throws(SyntaxFault) {
        self.lumaDenominator = try reader.small(max: 7)
        self.chromaDenominator = hasChroma ? try reader.small(max: 7) : 0
        let neutral = Factor(weight: 1 << Int16(self.lumaDenominator), offset: 0)
        let neutralChroma = Factor(weight: 1 << Int16(self.chromaDenominator), offset: 0)
        self.lists = [[], []]
        for list in 0..<2 {
            for _ in 0..<active[list] {
                let isLumaSent = try reader.flag()
                let luma = isLumaSent ? try Factor(&reader) : neutral
                let isChromaSent = hasChroma ? try reader.flag() : false
                let chroma =
                    isChromaSent
                    ? [try Factor(&reader), try Factor(&reader)] : [neutralChroma, neutralChroma]
                self.lists[list].append(
                    Entry(isLumaSent: isLumaSent, luma: luma, isChromaSent: isChromaSent, chroma: chroma))
            }
        }
    }
}

extension PredictionWeights.Factor {
    init(_ reader: inout RBSPReader) throws(SyntaxFault) {
        self.weight = Int16(truncatingIfNeeded: try reader.signed(in: -128...127))
        self.offset = Int16(truncatingIfNeeded: try reader.signed(in: -128...127))
    }
}

/// dec_ref_pic_marking() (H.264 section 7.3.3.3).
public enum ReferenceMarking: Hashable, Sendable {
    /// memory_management_control_operation with its operands.
    public enum Command: Hashable, Sendable {
        /// 1: difference_of_pic_nums_minus1 + 1.
        case dropShort(UInt32)
        /// 2: long_term_pic_num.
        case dropLong(UInt32)
        /// 3: difference_of_pic_nums_minus1 + 1, long_term_frame_idx.
        case keepLong(UInt32, index: UInt32)
        /// 4: max_long_term_frame_idx_plus1.
        case boundLong(UInt32)
        /// 5.
        case dropAll
        /// 6: long_term_frame_idx.
        case keepThisLong(index: UInt32)
    }

    /// No picture refers to this one.
    case none
    /// no_output_of_prior_pics_flag, long_term_reference_flag.
    case idr(dropsOutput: Bool, isLongTerm: Bool)
    case slidingWindow
    case adaptive([Command])

    init(_ reader: inout RBSPReader, isIDR: Bool) throws(SyntaxFault) {
        if isIDR {
            self = .idr(dropsOutput: try reader.flag(), isLongTerm: try reader.flag())
        } else if try reader.flag() {
            self = .adaptive(try Self.commands(&reader))
        } else {
            self = .slidingWindow
        }
    }

    private static func commands(_ reader: inout RBSPReader) throws(SyntaxFault) -> [Command] {
        var commands: [Command] = []
        while true {
            let code = try reader.unsigned(max: 6)
            guard code != 0 else { return commands }
            guard commands.count < H264Limits.markingsMax else { throw .range }
            switch code {
            case 1: commands.append(.dropShort(try reader.unsigned(max: 131_071) + 1))
            case 2: commands.append(.dropLong(try reader.unsigned(max: 31)))
            case 3:
                let off = try reader.unsigned(max: 131_071) + 1
                commands.append(.keepLong(off, index: try reader.unsigned(max: 15)))
            case 4: commands.append(.boundLong(try reader.unsigned(max: 16)))
            case 5: commands.append(.dropAll)
            default: commands.append(.keepThisLong(index: try reader.unsigned(max: 15)))
            }
        }
    }

    /// Ends the picture order and the numbering of frames, as an IDR picture does.
    public var dropsAll: Bool {
        guard case .adaptive(let commands) = self else { return false }
        return commands.contains(.dropAll)
    }
}
