// SPDX-License-Identifier: Apache-2.0

/// TopFieldOrderCnt and BottomFieldOrderCnt of a frame: when its fields are shown, since the last IDR picture.
public struct PictureOrderCount: Hashable, Sendable {
    public var top: Int32
    public var bottom: Int32

    /// PicOrderCnt of the frame.
    public var frame: Int32 { min(self.top, self.bottom) }

    /// As it counts after a picture that dropped all (H.264 section 8.2.1).
    var restarted: PictureOrderCount {
        PictureOrderCount(top: self.top &- self.frame, bottom: self.bottom &- self.frame)
    }
}

/// Derives the picture order count of frames, one after another (H.264 section 8.2.1). Numbers that no stream should
/// reach wrap.
struct PictureOrderDecoder: Hashable, Sendable {
    /// prevPicOrderCntMsb and prevPicOrderCntLsb, of the reference picture before.
    private var high: Int32 = 0
    private var low: Int32 = 0
    /// prevFrameNumOffset and prevFrameNum, of the picture before.
    private var frameOffset: Int32 = 0
    private var frameNumber: UInt32 = 0

    /// Of the next frame, whose slices have this header.
    mutating func next(_ header: SliceHeader, sequence: SequenceParameterSet) -> PictureOrderCount {
        if header.isIDR { self = PictureOrderDecoder() }
        let count: PictureOrderCount
        switch sequence.order {
        case .sent(let bits): count = self.sent(header, bits: bits)
        case .cycle(let cycle):
            self.advance(header, sequence: sequence)
            count = self.cyclic(header, cycle)
        case .decoding:
            self.advance(header, sequence: sequence)
            let double = (self.frameOffset &+ Int32(bitPattern: header.frameNumber)) &* 2
            let place = header.isReference || header.isIDR ? double : double &- 1
            count = PictureOrderCount(top: place, bottom: place)
        }
        self.frameNumber = header.frameNumber
        if header.marking.dropsAll { self.restart(at: count.restarted) }
        return count
    }

    /// What follows begins anew, at frame 0.
    private mutating func restart(at count: PictureOrderCount) {
        self = PictureOrderDecoder()
        self.low = count.top
    }

    /// Type 0 (section 8.2.1.1).
    private mutating func sent(_ header: SliceHeader, bits: UInt8) -> PictureOrderCount {
        let end = Int32(1) << Int32(bits)
        let low = Int32(bitPattern: header.orderLow)
        var high = self.high
        if low < self.low, self.low &- low >= end / 2 {
            high = high &+ end
        } else if low > self.low, low &- self.low > end / 2 {
            high = high &- end
        }
        if header.isReference {
            self.high = high
            self.low = low
        }
        let top = high &+ low
        return PictureOrderCount(top: top, bottom: top &+ header.orderBottom)
    }

    /// FrameNumOffset of types 1 and 2.
    private mutating func advance(_ header: SliceHeader, sequence: SequenceParameterSet) {
        if !header.isIDR, self.frameNumber > header.frameNumber {
            self.frameOffset = self.frameOffset &+ Int32(bitPattern: sequence.frameNumberEnd)
        }
    }

    /// Type 1 (section 8.2.1.2).
    private func cyclic(_ header: SliceHeader, _ cycle: SequenceParameterSet.Cycle) -> PictureOrderCount {
        let length = Int32(cycle.offsets.count)
        var number = length == 0 ? 0 : self.frameOffset &+ Int32(bitPattern: header.frameNumber)
        if !header.isReference, number > 0 { number = number &- 1 }
        var expected: Int32 = 0
        if number > 0 {
            let whole = cycle.offsets.reduce(Int32(0)) { $0 &+ $1 }
            expected = ((number &- 1) / length) &* whole
            for index in 0...Int((number &- 1) % length) { expected = expected &+ cycle.offsets[index] }
        }
        if !header.isReference { expected = expected &+ cycle.offsetOfUnreferenced }
        let top = expected &+ header.orderOff[0]
        return PictureOrderCount(top: top, bottom: top &+ cycle.offsetOfBottom &+ header.orderOff[1])
    }
}
