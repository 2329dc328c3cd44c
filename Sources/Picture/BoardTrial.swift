// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// What a trial of the board's decoder came to.
public struct BoardTrial {
    public let name: ByteString
    /// From one picture to the next, with as many in work as it takes.
    public let time: Duration
    public let largest: (width: Int, height: Int)
}

extension TrialClip {
    /// No decoder needs longer for the whole clip, its beginning included.
    private static let limit = Duration.seconds(3)

    /// Has the board decode the clip, and compares each picture with what libavcodec made of it.
    ///
    /// - Throws: why the board's decoder is not to be used.
    public func tryBoard(clock: () -> Instant) throws(HardwareCodecError) -> BoardTrial {
        let board = try BoardDecoder(formats: [])
        let began = clock()
        var arrivals: [Instant] = []
        for unit in self.units {
            guard case .taken = try board.give(unit, now: clock()) else { throw Self.isWrong }
            try self.take(from: board, &arrivals, clock)
        }
        while arrivals.count < self.units.count {
            guard clock() - began < Self.limit else { throw .stuck(afterMs: Int(Self.limit.milliseconds)) }
            board.wait(limitMs: 20)
            try self.take(from: board, &arrivals, clock)
        }
        // The first one stands for finding out what the stream is.
        let span = arrivals[arrivals.count - 1] - arrivals[0]
        return BoardTrial(
            name: board.name, time: Duration(nanoseconds: span.nanoseconds / Int64(arrivals.count - 1)),
            largest: board.largest)
    }

    private func take(
        from board: BoardDecoder, _ arrivals: inout [Instant], _ clock: () -> Instant
    ) throws(HardwareCodecError) {
        while true {
            switch try board.next(now: clock()) {
            case .picture(let picture, _):
                guard arrivals.count < self.checksums.count,
                    PictureChecksum.of(picture) == self.checksums[arrivals.count]
                else { throw Self.isWrong }
                arrivals.append(clock())
            case .broken: throw Self.isWrong
            case .nothing: return
            }
        }
    }

    private static let isWrong = HardwareCodecError(
        .failed, "The video codec decodes the trial clip to other pictures than software does.")
}

extension PictureChecksum {
    /// nil where software cannot read it.
    static func of(_ picture: SharedPicture) -> UInt32? {
        let (width, height) = (picture.visible.width, picture.visible.height)
        let none = VideoPlane(bytes: nil, stride: 0)
        if picture.format.fourCC == V4L2RawFormat.code("NV12") {
            return picture.read { parts in
                guard parts.count >= 2 else { return 0 }
                return self.of((parts[0], parts[1], none), .nv12, width: width, height: height)
            }
        }
        return picture.converted(by: SharedPictureConverter()).map { self.of($0) }
    }
}
