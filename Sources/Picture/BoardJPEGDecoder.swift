// SPDX-License-Identifier: Apache-2.0

import Bytes
import CV4L2

/// The board's decoder of JPEG: one picture in, one out. Owned by one thread. After an error it is of no more use.
final class BoardJPEGDecoder {
    /// A camera's picture that takes longer comes too late.
    private static let limitMs = 100

    private let decoder: V4L2StatefulDecoder
    private let converter = SharedPictureConverter()

    /// - Parameters width, height: of the camera's pictures, in samples.
    init(width: Int, height: Int) throws(HardwareCodecError) {
        self.decoder = try Self.open(width, height)
    }

    /// Drivers have two names for the same thing.
    private static func open(_ width: Int, _ height: Int) throws(HardwareCodecError) -> V4L2StatefulDecoder {
        let names = [UInt32(V4L2RawFormat.code("JPEG")), UInt32(V4L2RawFormat.code("MJPG"))]
        do throws(HardwareCodecError) {
            return try V4L2StatefulDecoder(.init(coded: names[0], width: width, height: height))
        } catch {
            guard error.kind == .missing else { throw error }
        }
        return try V4L2StatefulDecoder(.init(coded: names[1], width: width, height: height))
    }

    var name: ByteString { self.decoder.name }

    /// The picture in memory of our own; nil where it is damaged.
    ///
    /// - Parameter clock: the monotonic clock.
    func decode(
        _ bytes: UnsafeRawBufferPointer, captured: Instant, clock: () -> Instant
    ) throws(HardwareCodecError) -> VideoFrame? {
        guard bytes.count <= PictureLimits.compressedBytesMax, try self.decoder.submit(bytes, captured: captured)
        else { return nil }
        let until = clock() + .milliseconds(Self.limitMs)
        while clock() < until {
            switch try self.decoder.takePicture() {
            case .picture(let picture): return picture.converted(by: self.converter)
            case .damaged: return nil
            case .drained, .nothing: _ = self.decoder.wait(limitMs: 20)
            }
        }
        throw .stuck(afterMs: Self.limitMs)
    }
}
