// SPDX-License-Identifier: Apache-2.0
import SDPWire

extension EncoderPlan {
    /// Bytes of a NAL unit that fit one packet beside IP, UDP and RTP headers on any usual path.
    private static let packetPayloadMax = 1200
    /// Eighths of the camera's size, best first.
    private static let scales = [8, 6, 5, 4, 3, 2, 1]
    private static let fpsMin = 5
    private static let bitrateKbpsMin = 32

    /// The best picture that the camera gives and the far end's decoder can follow (ITU-T H.264 annex A): size is given
    /// up last, because faces and signs need it; the rate goes down to a half first. Nil where no video is sent.
    init?(_ session: NegotiatedSession, _ world: KioskWorld, _ configuration: Configuration) {
        guard let stream = session.video, stream.direction.sends, case .h264(let parameters) = stream.codec else {
            return nil
        }
        let limits = parameters.receiveLimits
        let (size, fps) = Self.fit(world.cameraSize, fps: world.cameraFPS, limits)
        self.size = size
        self.fps = fps
        // An asked-for bandwidth counts headers too: about a twentieth at these packet sizes.
        let asked = stream.bandwidthKbps.map { $0 - $0 / 20 } ?? Int.max
        let bitrateKbps = min(configuration.video.bitrateKbps, limits.bitrateKbps, asked)
        self.bitrateKbps = max(Self.bitrateKbpsMin, bitrateKbps)
        self.nalSizeMax = parameters.packetizationMode == 0 ? Self.packetPayloadMax : nil
    }

    private static func fit(_ camera: PictureSize, fps: Int, _ limits: H264Limits) -> (PictureSize, Int) {
        var smallest = camera
        for scale in self.scales {
            let size = PictureSize(width: self.even(camera.width, scale), height: self.even(camera.height, scale))
            smallest = size
            for rate in [fps, fps * 2 / 3, fps / 2] where rate >= 1 {
                if limits.allows(width: size.width, height: size.height, fps: rate) { return (size, rate) }
            }
        }
        return (smallest, min(fps, self.fpsMin))
    }

    /// Even, for chroma has half the size, and never nothing.
    private static func even(_ length: Int, _ eighths: Int) -> Int {
        max(2, length / 8 * eighths / 2 * 2 + (eighths == 8 ? length % 8 / 2 * 2 : 0))
    }
}
