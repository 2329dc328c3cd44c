// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV

/// Pictures of a camera that sends JPEG: decoded by the board where its first picture is like the one of software, and
/// by software where not, or once it fails. Owned by one thread.
public final class CameraJPEGDecoder {
    private enum Board {
        case none(reason: ByteString)
        case tried(BoardJPEGDecoder)
        case trusted(BoardJPEGDecoder)
    }

    private let software: MotionJPEGDecoder
    private let converter = PictureConverter()
    private var board: Board
    private let clock: () -> Instant
    private static let decibelsMin = 28

    /// - Parameters width, height: of the camera's pictures, in samples.
    /// - Parameter clock: the monotonic clock.
    public init(width: Int, height: Int, clock: @escaping () -> Instant) throws(CodecError) {
        self.software = try MotionJPEGDecoder()
        self.clock = clock
        do throws(HardwareCodecError) {
            self.board = .tried(try BoardJPEGDecoder(width: width, height: height))
        } catch {
            self.board = .none(reason: error.text)
        }
    }

    /// Who decodes, for `callbox doctor video`.
    public var words: ByteString {
        switch self.board {
        case .none(let reason): return "decoded by software. " + reason
        case .tried(let board): return "tried by " + board.name
        case .trusted(let board): return "decoded by " + board.name + ", the board's own"
        }
    }

    /// nil where the picture is damaged or too large.
    public func decode(_ bytes: UnsafeRawBufferPointer, captured: Instant) -> VideoFrame? {
        switch self.board {
        case .none: return self.bySoftware(bytes, captured)
        case .tried(let board):
            guard let mine = self.bySoftware(bytes, captured) else { return nil }
            let other = self.by(board, bytes, captured)
            guard case .tried = self.board else { return mine }
            if let other, PictureLikeness.isWithin(decibels: Self.decibelsMin, mine, other) {
                self.board = .trusted(board)
            } else {
                self.board = .none(reason: "The video codec decodes a picture to something else.")
            }
            return mine
        case .trusted(let board): return self.by(board, bytes, captured) ?? self.bySoftware(bytes, captured)
        }
    }

    private func by(_ board: BoardJPEGDecoder, _ bytes: UnsafeRawBufferPointer, _ captured: Instant) -> VideoFrame? {
        do throws(HardwareCodecError) {
            return try board.decode(bytes, captured: captured, clock: self.clock)
        } catch {
            self.board = .none(reason: error.text)
            return nil
        }
    }

    private func bySoftware(_ bytes: UnsafeRawBufferPointer, _ captured: Instant) -> VideoFrame? {
        var source = self.software.decode(bytes)
        defer { av_frame_free(&source) }
        guard let picture = source else { return nil }
        let (width, height) = (Int(picture.pointee.width) & ~1, Int(picture.pointee.height) & ~1)
        guard let copy = self.converter.i420(from: picture, width: width, height: height) else { return nil }
        return VideoFrame(taking: copy, captured: captured)
    }
}
