// SPDX-License-Identifier: Apache-2.0

/// What a sequence parameter set says beside decoding: VUI (H.264 section E.1.1).
public struct VideoUsability: Hashable, Sendable {
    /// The sides of a pixel, where they are written out.
    public struct SampleAspect: Hashable, Sendable {
        public var width: UInt16
        public var height: UInt16
    }

    /// video_format and whose colours these are (H.264 tables E-2 to E-5).
    public struct Signal: Hashable, Sendable {
        public struct Colours: Hashable, Sendable {
            public var primaries: UInt8
            public var transfer: UInt8
            public var matrix: UInt8
        }

        public var format: UInt8
        public var isFullRange: Bool
        public var colours: Colours?
    }

    public struct ChromaLocation: Hashable, Sendable {
        public var top: UInt8
        public var bottom: UInt8
    }

    public struct Timing: Hashable, Sendable {
        public var unitsInTick: UInt32
        public var timeScale: UInt32
        public var isFixed: Bool
    }

    /// bitstream_restriction.
    public struct Restriction: Hashable, Sendable {
        public var vectorsOverBoundaries: Bool
        public var bytesDenominator: UInt8
        public var bitsDenominator: UInt8
        public var vectorBitsHorizontal: UInt8
        public var vectorBitsVertical: UInt8
        /// max_num_reorder_frames: how many frames may come before one that is shown ahead of them.
        public var reorderedFrames: UInt8
        /// max_dec_frame_buffering.
        public var bufferedFrames: UInt8
    }

    /// aspect_ratio_idc.
    public var aspect: UInt8?
    /// Where `aspect` is `extendedAspect`.
    public var sampleAspect: SampleAspect?
    /// overscan_appropriate_flag, where it is there.
    public var overscan: Bool?
    public var signal: Signal?
    public var chromaLocation: ChromaLocation?
    public var timing: Timing?
    public var nalReference: ReferenceDecoder?
    public var vclReference: ReferenceDecoder?
    /// Where either reference decoder is described.
    public var isLowDelay: Bool?
    public var hasPictureStructure = false
    public var restriction: Restriction?

    public static let extendedAspect: UInt8 = 255

    public init() {}
}

/// A hypothetical reference decoder (H.264 section E.1.2).
public struct ReferenceDecoder: Hashable, Sendable {
    public struct Schedule: Hashable, Sendable {
        public var bitRate: UInt32
        public var bufferSize: UInt32
        public var isConstantRate: Bool
    }

    public var bitRateScale: UInt8
    public var bufferSizeScale: UInt8
    /// One to 32.
    public var schedules: [Schedule]
    public var initialDelayBits: UInt8
    public var removalDelayBits: UInt8
    public var outputDelayBits: UInt8
    public var timeOffsetBits: UInt8
}

// MARK: - Reading

extension VideoUsability {
    init(_ reader: inout RBSPReader) throws(SyntaxFault) {
        if try reader.flag() {
            self.aspect = try reader.byte()
            if self.aspect == Self.extendedAspect {
                let width = UInt16(truncatingIfNeeded: try reader.bits(16))
                self.sampleAspect = SampleAspect(
                    width: width, height: UInt16(truncatingIfNeeded: try reader.bits(16)))
            }
        }
        if try reader.flag() { self.overscan = try reader.flag() }
        if try reader.flag() { self.signal = try Signal(&reader) }
        if try reader.flag() {
            self.chromaLocation = ChromaLocation(top: try reader.small(max: 5), bottom: try reader.small(max: 5))
        }
        if try reader.flag() {
            self.timing = Timing(
                unitsInTick: try reader.bits(32), timeScale: try reader.bits(32), isFixed: try reader.flag())
        }
        if try reader.flag() { self.nalReference = try ReferenceDecoder(&reader) }
        if try reader.flag() { self.vclReference = try ReferenceDecoder(&reader) }
        if self.nalReference != nil || self.vclReference != nil { self.isLowDelay = try reader.flag() }
        self.hasPictureStructure = try reader.flag()
        if try reader.flag() { self.restriction = try Restriction(&reader) }
    }
}

extension VideoUsability.Signal {
    init(_ reader: inout RBSPReader) throws(SyntaxFault) {
        self.format = try reader.byte(3)
        self.isFullRange = try reader.flag()
        if try reader.flag() {
            self.colours = Colours(
                primaries: try reader.byte(), transfer: try reader.byte(), matrix: try reader.byte())
        }
    }
}

extension VideoUsability.Restriction {
    init(_ reader: inout RBSPReader) throws(SyntaxFault) {
        self.vectorsOverBoundaries = try reader.flag()
        self.bytesDenominator = try reader.small(max: 16)
        self.bitsDenominator = try reader.small(max: 16)
        self.vectorBitsHorizontal = try reader.small(max: 16)
        self.vectorBitsVertical = try reader.small(max: 16)
        self.reorderedFrames = try reader.small(max: 16)
        self.bufferedFrames = try reader.small(max: 16)
    }
}

extension ReferenceDecoder {
    init(_ reader: inout RBSPReader) throws(SyntaxFault) {
        let count = try reader.unsigned(max: 31) + 1
        self.bitRateScale = try reader.byte(4)
        self.bufferSizeScale = try reader.byte(4)
        self.schedules = []
        for _ in 0..<count {
            let schedule = Schedule(
                bitRate: try reader.unsigned(), bufferSize: try reader.unsigned(), isConstantRate: try reader.flag())
            self.schedules.append(schedule)
        }
        self.initialDelayBits = try reader.byte(5) + 1
        self.removalDelayBits = try reader.byte(5) + 1
        self.outputDelayBits = try reader.byte(5) + 1
        self.timeOffsetBits = try reader.byte(5)
    }
}
