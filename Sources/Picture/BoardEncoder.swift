// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// The board's encoder in a call: no more pictures than the plan wants, and watched. Owned by one thread.
///
/// After an error it is of no more use; software goes on with a key frame.
public final class BoardEncoder {
    /// An encoder that owes a picture for longer than this is stuck.
    public static let silenceMsMax = 300
    /// Most give a picture within this time, and so it need not wait for the camera's next one.
    private static let waitMs = 20

    private let encoder: V4L2StatefulEncoder
    private let isShared: Bool
    private var pacer: FramePacer
    private var owesKeyFrame = false
    /// Of what is in work: when it was captured, and when it was put in.
    private var owed: [(captured: Instant, since: Instant)] = []

    /// - Parameter first: the first picture: those after it will lie in memory as it does.
    public init(_ settings: HardwareEncoderSettings, first: VideoFrame) throws(HardwareCodecError) {
        self.encoder = try V4L2StatefulEncoder(settings, camera: first)
        self.isShared = first.memory != nil
        self.pacer = FramePacer(rate: settings.rate)
    }

    public var name: ByteString { self.encoder.name }
    /// Why each picture is copied, in words; nil where the device reads it in the camera's memory.
    public var copyReason: ByteString? {
        if self.encoder.isImporting { return nil }
        return self.isShared
            ? "the encoder does not take pictures as they lie in the camera's memory"
            : "they do not lie in memory that the camera shares"
    }
    /// Pictures that were copied.
    public var copies: UInt64 { self.encoder.copies }

    /// False for a picture that lies in another way than the first one: it wants a new encoder.
    public func takes(_ frame: VideoFrame) -> Bool { self.encoder.lies(frame) }

    /// With the next picture; false where the device knows no rate.
    public func setBitrate(kbps: Int) -> Bool { self.encoder.setBitrate(kbps: kbps) }

    /// Puts one picture in; a key frame that was asked for with a picture that is passed over comes with the next.
    ///
    /// - Parameter clock: the monotonic clock.
    /// - Returns: what is done since the last time, oldest first.
    public func encode(
        _ frame: VideoFrame, forceKeyFrame: Bool, clock: () -> Instant
    ) throws(HardwareCodecError) -> [EncodedPicture] {
        self.owesKeyFrame = self.owesKeyFrame || forceKeyFrame
        var done = try self.taken()
        guard self.pacer.admits(frame.captured) else { return done }
        if try self.encoder.submit(frame, forceKeyFrame: self.owesKeyFrame) {
            self.owesKeyFrame = false
            self.owed.append((frame.captured, clock()))
        }
        _ = self.encoder.wait(limitMs: Self.waitMs)
        done += try self.taken()
        if let oldest = self.owed.first, clock() - oldest.since > .milliseconds(Self.silenceMsMax) {
            throw .stuck(afterMs: Self.silenceMsMax)
        }
        return done
    }

    /// What is done without anything new to be done.
    public func rest() throws(HardwareCodecError) -> [EncodedPicture] {
        _ = self.encoder.wait(limitMs: Self.waitMs)
        return try self.taken()
    }

    private func taken() throws(HardwareCodecError) -> [EncodedPicture] {
        var done: [EncodedPicture] = []
        while let picture = try self.encoder.takePicture() {
            self.owed.removeAll { $0.captured <= picture.captured }
            done.append(picture)
        }
        return done
    }
}
