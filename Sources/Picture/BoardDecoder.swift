// SPDX-License-Identifier: Apache-2.0

import Bytes
import H264
import RTPWire

/// What became of an access unit that was given to the board's decoder.
public enum BoardIntake {
    case taken
    /// Passed over: the decoder waits for a key frame.
    case waiting
    /// Damaged, or after a loss: a key frame is needed.
    case broken
}

/// A decoder of H.264 in hardware, whichever kind it is. Owned by one thread.
protocol HardwareDecoder: AnyObject {
    var name: ByteString { get }
    /// Of the largest pictures that it takes, in samples; 0 where the device does not say.
    var largest: (width: Int, height: Int) { get }
    var descriptor: Int32 { get }
    var isWaiting: Bool { get }
    func wait(limitMs: Int) -> Bool
    func submit(_ unit: UnsafeRawBufferPointer, captured: Instant) throws(HardwareCodecError) -> Bool
    func takePicture() throws(HardwareCodecError) -> HardwarePicture
    func flush() throws(HardwareCodecError)
}

extension V4L2StatefulDecoder: HardwareDecoder {}
extension V4L2StatelessDecoder: HardwareDecoder {}

/// The board's decoder in a call: begins at key frames, gives no picture that is not whole, and is watched. Owned by
/// one thread.
///
/// After an error it is of no more use, and nothing was shown that should not be: software goes on at the next key
/// frame.
public final class BoardDecoder {
    /// A decoder that owes a picture for longer than this is stuck.
    public static let silenceMsMax = 300
    /// One may be the network's fault; of more in a row the decoder itself is.
    private static let damagedMax = 2
    /// Units that wait for a buffer: more than a decoder that keeps up ever leaves.
    private static let heldMax = 8

    private struct Owed {
        var captured: Instant
        var isKeyFrame: Bool
    }

    private let decoder: HardwareDecoder
    /// What is in work, oldest first.
    private var owed: [Owed] = []
    private var held: [(bytes: [UInt8], owed: Owed)] = []
    private var awaitsKeyFrame = true
    private var last = Instant.zero
    private var damagedInARow = 0

    /// - Parameter formats: those that the display shows as they lie, the best first.
    public init(formats: [SharedFormat]) throws(HardwareCodecError) {
        self.decoder = try Self.open(formats)
    }

    /// One that reads the stream by itself, or else one that is told of each picture.
    private static func open(_ formats: [SharedFormat]) throws(HardwareCodecError) -> HardwareDecoder {
        do throws(HardwareCodecError) {
            return try V4L2StatefulDecoder(V4L2StatefulDecoder.Wishes(formats: formats))
        } catch {
            guard error.kind == .missing else { throw error }
        }
        return try V4L2StatelessDecoder(V4L2StatelessDecoder.Wishes(formats: formats))
    }

    public var name: ByteString { self.decoder.name }
    /// Of the largest pictures that it takes, in samples, as the device says; 0 where it says nothing.
    public var largest: (width: Int, height: Int) { self.decoder.largest }
    /// Has news while `isWaiting`: then `next` is due.
    public var descriptor: Int32 { self.decoder.descriptor }
    public var isWaiting: Bool { self.decoder.isWaiting }
    /// When `next` is due, whatever the descriptor says.
    public var deadline: Instant? { self.owed.first.map { $0.captured + .milliseconds(Self.silenceMsMax) } }

    /// Gives it one access unit.
    public func give(_ unit: AccessUnit, now: Instant) throws(HardwareCodecError) -> BoardIntake {
        if self.awaitsKeyFrame && !unit.isKeyFrame { return .waiting }
        guard unit.isComplete, unit.isKeyFrame || !unit.followsLoss else {
            try self.restart()
            return .broken
        }
        let units = unit.nalUnits.filter { NALUnitType.isWorthDecoding($0) }
        guard units.contains(where: { NALUnitType.isSlice($0) }) else { return .taken }
        self.awaitsKeyFrame = false
        // Pictures are told apart by their time, which has to be another each time.
        self.last = max(now, self.last + Duration(nanoseconds: 1000))
        var bytes: [UInt8] = []
        for unit in units { bytes += [0, 0, 0, 1] + Self.prompt(unit) }
        guard self.held.count < Self.heldMax else {
            try self.restart()
            return .broken
        }
        self.held.append((bytes, Owed(captured: self.last, isKeyFrame: unit.isKeyFrame)))
        try self.putIn()
        return .taken
    }

    /// A sequence parameter set that says that nothing is reordered where that is so: a decoder that is not told holds
    /// pictures back.
    private static func prompt(_ unit: [UInt8]) -> [UInt8] {
        guard let first = unit.first, NALUnitType.of(first) == NALUnitType.sequenceParameterSet,
            let set = SequenceParameterSet.parse(unit)?.withoutReordering()
        else { return unit }
        return set.nalUnit()
    }

    /// What has come out, one at a time; throws where it owes something for too long.
    public func next(now: Instant) throws(HardwareCodecError) -> DecodedBoardPicture {
        try self.putIn()
        switch try self.decoder.takePicture() {
        case .picture(let picture):
            self.damagedInARow = 0
            let isKeyFrame = self.owed.contains { $0.captured == picture.captured && $0.isKeyFrame }
            self.owed.removeAll { $0.captured <= picture.captured }
            return .picture(picture, isKeyFrame: isKeyFrame)
        case .damaged:
            self.damagedInARow += 1
            guard self.damagedInARow < Self.damagedMax else {
                throw HardwareCodecError(.failed, "The video codec gives damaged pictures, one after the other.")
            }
            try self.restart()
            return .broken
        case .drained, .nothing:
            if let deadline = self.deadline, now >= deadline { throw .stuck(afterMs: Self.silenceMsMax) }
            return .nothing
        }
    }

    /// Waits until there may be something to take.
    public func wait(limitMs: Int) {
        _ = self.decoder.wait(limitMs: limitMs)
    }

    private func putIn() throws(HardwareCodecError) {
        while let first = self.held.first {
            let result: Result<Bool, HardwareCodecError> = first.bytes.withUnsafeBytes { bytes in
                do throws(HardwareCodecError) {
                    return .success(try self.decoder.submit(bytes, captured: first.owed.captured))
                } catch {
                    return .failure(error)
                }
            }
            guard try result.get() else { return }
            self.owed.append(first.owed)
            self.held.removeFirst()
        }
    }

    /// What is in work refers to what is lost.
    private func restart() throws(HardwareCodecError) {
        self.awaitsKeyFrame = true
        self.owed.removeAll()
        self.held.removeAll()
        try self.decoder.flush()
    }
}

/// What the board's decoder gives.
public enum DecodedBoardPicture {
    case picture(SharedPicture, isKeyFrame: Bool)
    /// Damaged, and not shown: a key frame is needed.
    case broken
    case nothing
}
