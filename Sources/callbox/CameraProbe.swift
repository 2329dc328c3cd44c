// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import Picture
import SDPWire

/// What the camera gave when it was opened for a moment.
struct CameraProbe {
    var name: ByteString
    var wish: CameraWish
    /// Before pictures are turned. Without a camera, what is wanted of one.
    var mode: CameraMode
    var turner: PictureTurner
    var isMissing = false

    /// Of the pictures as they are sent.
    var size: PictureSize {
        let size = self.turner.size(of: self.mode)
        return PictureSize(width: size.width, height: size.height)
    }

    var fps: Int { self.mode.rate?.framesPerSecond ?? self.wish.rate.framesPerSecond }
}

/// Opens the camera for a moment, to learn what it gives and whether it is there.
func probeCamera(_ settings: CameraSettings, _ faults: inout [DeviceReport]) -> CameraProbe {
    let wish = CameraWish(width: settings.size.width, height: settings.size.height, rate: FrameRate(settings.fps))
    let name: ByteString
    switch settings.device {
    case .automatic: name = "auto"
    case .none: name = "none"
    case .named(let given): name = given
    }
    var probe = CameraProbe(
        name: name, wish: wish,
        mode: CameraMode(format: .nv12, width: wish.width, height: wish.height, rate: wish.rate),
        turner: PictureTurner(degrees: settings.rotationDegrees))
    do throws(CameraError) {
        if let mode = try Camera(name, wish: wish, clock: Clock.now).mode { probe.mode = mode }
    } catch {
        probe.isMissing = true
        faults.append(.failed(.camera, error.text))
    }
    if probe.turner.size(width: probe.mode.width, height: probe.mode.height) == nil {
        Log.write("callbox: pictures of this size are not turned: they would be too high")
        probe.turner = PictureTurner(degrees: 0)
    }
    return probe
}

extension PictureTurner {
    /// The size of the camera's pictures once they are turned; as they come where they cannot be.
    func size(of mode: CameraMode) -> (width: Int, height: Int) {
        self.size(width: mode.width, height: mode.height) ?? (mode.width, mode.height)
    }
}
