// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import CSystem

/// Where pictures of this side come from. Owned by one thread, which is to open it again when it is lost.
public final class Camera {
    private enum Source {
        case device(V4L2Camera)
        case file(Y4MCamera)
        case none
    }

    private let source: Source

    /// Opens what the configuration names.
    ///
    /// - `none`: no camera; `next` waits and gives nothing.
    /// - `file:PATH`: a YUV4MPEG2 file.
    /// - anything else: a camera, as `V4L2Names` says.
    ///
    /// `clock` is the monotonic clock, whose time the frames carry.
    public init(_ name: ByteString, wish: CameraWish, clock: @escaping () -> Instant) throws(CameraError) {
        if name.isEmpty || name == "none" {
            self.source = .none
        } else if name.hasPrefix("file:") {
            self.source = .file(try Y4MCamera(path: name.slice(5..<name.count), clock: clock))
        } else {
            self.source = .device(try V4L2Camera(name, wish: wish, clock: clock))
        }
    }

    /// What the camera was set to; nil without a camera.
    public var mode: CameraMode? {
        switch self.source {
        case .device(let camera): return camera.mode
        case .file(let camera): return camera.mode
        case .none: return nil
        }
    }

    /// Who decodes what it sends, in words, once pictures have come; nil where they are not coded.
    public var decoding: ByteString? {
        if case .device(let camera) = self.source { return camera.decoding }
        return nil
    }

    /// Waits at most the limit for a picture. The newest one is given; any that were missed are gone.
    ///
    /// - Throws: where the camera is lost; let go of this object and of its frames, and open it again later.
    public func next(timeLimitMs: Int) throws(CameraError) -> VideoFrame? {
        switch self.source {
        case .device(let camera): return try camera.next(timeLimitMs: timeLimitMs)
        case .file(let camera): return try camera.next(timeLimitMs: timeLimitMs)
        case .none:
            _ = poll(nil, 0, Int32(clamping: max(timeLimitMs, 0)))
            return nil
        }
    }
}
