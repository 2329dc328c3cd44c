// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPEngine

/// Pictures of another size than before: the camera was turned, or came back as another one.
extension KioskEngine {
    /// In a call they are sent as soon as they come, as far as what was agreed upon lets in; and the far end is offered
    /// the session anew, with their size.
    mutating func camera(gives size: PictureSize, fps: Int, now: Instant) {
        self.world.cameraSize = size
        self.world.cameraFPS = fps
        self.emit("camera", now: now) {
            $0.put("width", size.width)
            $0.put("height", size.height)
            $0.put("fps", fps)
        }
        guard case .connected(let state) = self.machine.state, self.mediaRuns,
            let negotiated = self.session?.negotiated,
            let encoder = EncoderPlan(negotiated, self.world, self.configuration)
        else { return }
        self.session?.pictureSize = encoder.size
        self.updateMedia(negotiated)
        self.changeTakenLate(state.handle, now: now)
    }
}
