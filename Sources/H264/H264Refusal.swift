// SPDX-License-Identifier: Apache-2.0

import Bytes

/// What a hardware decoder takes.
public struct H264Acceptance: Hashable, Sendable {
    /// Values of profile_idc; empty where the driver does not tell.
    public var profiles: [UInt8]
    /// The highest level_idc; 0 where the driver does not tell.
    public var levelMax: UInt8
    /// Coded pictures, in pixels.
    public var widths: ClosedRange<Int>
    public var heights: ClosedRange<Int>
    /// Pictures may be shown in another order than they are decoded in. In a call they never are.
    public var allowsReordering: Bool

    public init(
        profiles: [UInt8] = [], levelMax: UInt8 = 0, widths: ClosedRange<Int> = 16...4096,
        heights: ClosedRange<Int> = 16...4096, allowsReordering: Bool = false
    ) {
        self.profiles = profiles
        self.levelMax = levelMax
        self.widths = widths
        self.heights = heights
        self.allowsReordering = allowsReordering
    }
}

/// Why a picture is not decoded by hardware.
public enum H264Refusal: Error, Hashable, Sendable {
    case interlaced
    /// chroma_format_idc.
    case chroma(UInt8)
    /// The larger one of luma and chroma.
    case bitDepth(UInt8)
    /// Planes each coded as if alone.
    case separatePlanes
    /// profile_idc.
    case profile(UInt8)
    /// level_idc of the stream, and the highest that is taken.
    case level(UInt8, max: UInt8)
    case size(width: Int, height: Int)
    case flexibleOrdering
    case arbitraryOrder
    case redundantSlices
    case dataPartitioning
    case switchingSlices
    case reordering
    case tooManySlices
    /// Another sequence parameter set came into force at a picture that others before it are referred from.
    case sequenceChanged
    case missingParameterSet
    case missingReference
    /// Two pictures in one access unit.
    case severalPictures
    case unreadable

    /// Holds for all of the stream; otherwise the next key frame may be taken.
    public var isLasting: Bool {
        switch self {
        case .sequenceChanged, .missingParameterSet, .missingReference, .severalPictures, .unreadable: return false
        case .interlaced, .chroma, .bitDepth, .separatePlanes, .profile, .level, .size, .flexibleOrdering,
            .arbitraryOrder, .redundantSlices, .dataPartitioning, .switchingSlices, .reordering, .tooManySlices:
            return true
        }
    }

    /// For a log and for `doctor`: what follows "H.264 is not decoded by hardware: ".
    public var text: ByteString {
        switch self {
        case .interlaced: return "it is interlaced"
        case .chroma(let format):
            return format == 0 ? "it has no colours" : format == 2 ? "its colours are 4:2:2" : "its colours are 4:4:4"
        case .bitDepth(let bits): return "its samples have " + ByteString(decimal: bits) + " bits"
        case .separatePlanes: return "its planes are coded apart"
        case .profile(let profile): return "the decoder does not do profile " + ByteString(decimal: profile)
        case .level(let level, let highest):
            return "its level is " + Self.level(level) + ", and the decoder's highest " + Self.level(highest)
        case .size(let width, let height):
            return "the decoder does not do " + ByteString(decimal: width) + " × " + ByteString(decimal: height)
        case .flexibleOrdering: return "it has slice groups"
        case .arbitraryOrder: return "its slices are not in order"
        case .redundantSlices: return "it has redundant slices"
        case .dataPartitioning: return "its slices are in partitions"
        case .switchingSlices: return "it has slices to switch streams"
        case .reordering: return "its pictures are not shown in the order they come in"
        case .tooManySlices: return "a picture has more slices than are taken"
        case .sequenceChanged: return "its parameters changed at a picture that is not a key frame"
        case .missingParameterSet: return "a parameter set is missing"
        case .missingReference: return "a picture that another one refers to is missing"
        case .severalPictures: return "two pictures came as one"
        case .unreadable: return "a picture cannot be read"
        }
    }

    private static func level(_ idc: UInt8) -> ByteString {
        ByteString(decimal: idc / 10) + "." + ByteString(decimal: idc % 10)
    }
}

extension H264Acceptance {
    /// Throws why no stream with these parameters is taken.
    func judge(_ sequence: SequenceParameterSet, _ picture: PictureParameterSet) throws(H264Refusal) {
        guard sequence.isFrameOnly else { throw .interlaced }
        guard !sequence.hasSeparatePlanes else { throw .separatePlanes }
        guard sequence.chromaFormat == 1 else { throw .chroma(sequence.chromaFormat) }
        let bits = max(sequence.bitDepthLuma, sequence.bitDepthChroma)
        guard bits == 8 else { throw .bitDepth(bits) }
        guard self.profiles.isEmpty || self.profiles.contains(sequence.profile) else {
            throw .profile(sequence.profile)
        }
        guard self.levelMax == 0 || sequence.level <= self.levelMax else {
            throw .level(sequence.level, max: self.levelMax)
        }
        guard self.widths.contains(sequence.codedWidth), self.heights.contains(sequence.codedHeight) else {
            throw .size(width: sequence.codedWidth, height: sequence.codedHeight)
        }
        guard picture.sliceGroupCount == 1 else { throw .flexibleOrdering }
        guard self.allowsReordering || sequence.usability?.restriction?.reorderedFrames ?? 0 == 0 else {
            throw .reordering
        }
    }
}
