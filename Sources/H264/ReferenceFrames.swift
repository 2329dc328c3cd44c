// SPDX-License-Identifier: Apache-2.0

/// A frame that others may refer to.
public struct ReferenceFrame: Hashable, Sendable {
    /// Whose picture it is; of a frame that was left out, that of the frame before it.
    public var id: UInt64
    /// frame_num.
    public var frameNumber: UInt32
    public var order: PictureOrderCount
    /// LongTermFrameIdx; nil of a short-term reference.
    public var longTerm: UInt32?
    /// Never sent: inferred from a gap in frame_num (H.264 section 8.2.5.2).
    public var isInferred = false

    /// FrameNumWrap, and with it PicNum, for a picture with this frame_num (H.264 section 8.2.4.1).
    public func number(for current: UInt32, end: UInt32) -> Int32 {
        let number = Int32(bitPattern: self.frameNumber)
        return self.frameNumber > current ? number &- Int32(bitPattern: end) : number
    }
}

/// The frames marked as used for reference, and how pictures change the marks (H.264 section 8.2.5).
public struct ReferenceFrames: Hashable, Sendable {
    /// In the order in which they were decoded; never more than 16.
    public private(set) var frames: [ReferenceFrame] = []
    /// MaxLongTermFrameIdx + 1.
    private var longTermEnd: UInt32 = 0
    /// PrevRefFrameNum, and what frame_num a gap is told by.
    private(set) var lastNumber: UInt32 = 0

    private var shortTerm: [ReferenceFrame] { self.frames.filter { $0.longTerm == nil } }

    /// Forgets all: what comes next begins anew, at a frame with this frame_num.
    mutating func begin(at number: UInt32) {
        self = ReferenceFrames()
        self.lastNumber = number
    }

    /// Frames that a gap in frame_num leaves out, up to before `number`; each slides the window.
    ///
    /// - Returns: whether there is a gap.
    mutating func infer(upTo number: UInt32, sequence: SequenceParameterSet) -> Bool {
        let end = sequence.frameNumberEnd
        guard number != self.lastNumber, number != (self.lastNumber &+ 1) % end else { return false }
        guard sequence.hasGaps else { return true }
        let room = UInt32(Self.room(sequence))
        // Earlier ones would have gone again.
        let missing = min((number &+ end &- self.lastNumber &- 1) % end, room)
        for back in stride(from: missing, to: 0, by: -1) {
            guard let before = self.frames.last else { break }
            let inferred = (number &+ end &- back) % end
            self.slide(current: inferred, sequence: sequence)
            self.frames.append(
                ReferenceFrame(id: before.id, frameNumber: inferred, order: before.order, isInferred: true))
        }
        self.lastNumber = (number &+ end &- 1) % end
        return true
    }

    /// Marks after a picture was decoded, and keeps it where others may refer to it.
    mutating func mark(_ header: SliceHeader, id: UInt64, order: PictureOrderCount, sequence: SequenceParameterSet) {
        guard header.isReference else { return }
        var frame = ReferenceFrame(id: id, frameNumber: header.frameNumber, order: order)
        switch header.marking {
        case .none: return
        case .idr(_, let isLongTerm):
            self.begin(at: 0)
            if isLongTerm {
                frame.longTerm = 0
                self.longTermEnd = 1
            }
        case .slidingWindow: self.slide(current: header.frameNumber, sequence: sequence)
        case .adaptive(let commands):
            for command in commands {
                self.apply(command, to: &frame, end: sequence.frameNumberEnd)
            }
            // More than there is room for is a fault of the sender's.
            self.slide(current: frame.frameNumber, sequence: sequence)
        }
        self.lastNumber = frame.frameNumber
        self.frames.append(frame)
    }

    private static func room(_ sequence: SequenceParameterSet) -> Int {
        max(1, min(Int(sequence.referenceFrames), H264Limits.framesMax))
    }

    /// Makes room for one: the short-term frame that is furthest back goes (H.264 section 8.2.5.3).
    private mutating func slide(current: UInt32, sequence: SequenceParameterSet) {
        let end = sequence.frameNumberEnd
        while self.frames.count >= Self.room(sequence) {
            let oldest = self.shortTerm.min { $0.number(for: current, end: end) < $1.number(for: current, end: end) }
            let index = oldest.flatMap { self.frames.firstIndex(of: $0) } ?? 0
            self.frames.remove(at: index)
        }
    }

    /// One command of memory management (H.264 section 8.2.5.4); what it names and is not there is passed over.
    private mutating func apply(_ command: ReferenceMarking.Command, to frame: inout ReferenceFrame, end: UInt32) {
        let current = frame.frameNumber
        func short(_ off: UInt32) -> Int? {
            let number = Int32(bitPattern: current) &- Int32(bitPattern: off)
            return self.frames.firstIndex { $0.longTerm == nil && $0.number(for: current, end: end) == number }
        }
        switch command {
        case .dropShort(let off):
            if let index = short(off) { self.frames.remove(at: index) }
        case .dropLong(let number): self.frames.removeAll { $0.longTerm == number }
        case .keepLong(let off, let longTerm):
            guard longTerm < self.longTermEnd, let index = short(off) else { return }
            var kept = self.frames[index]
            kept.longTerm = longTerm
            self.frames[index] = kept
            self.frames.removeAll { $0.longTerm == longTerm && $0 != kept }
        case .boundLong(let end):
            self.longTermEnd = end
            self.frames.removeAll { $0.longTerm ?? 0 >= end && $0.longTerm != nil }
        case .dropAll:
            self.frames.removeAll()
            self.longTermEnd = 0
            frame.frameNumber = 0
            frame.order = frame.order.restarted
        case .keepThisLong(let longTerm):
            guard longTerm < self.longTermEnd else { return }
            self.frames.removeAll { $0.longTerm == longTerm }
            frame.longTerm = longTerm
        }
    }
}
